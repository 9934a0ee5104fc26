/** /sandbox/people/{person}/…: what a person does with bots that have a task, and the channel in their profile. */
import { Type } from 'typebox'
import type { PassportError } from '../../../machines/model/operation-bots.ts'
import { Nullable } from '../../json/schemas.ts'
import { answers, Done, done, ok } from '../envelope.ts'
import { nameBody, present } from './present.ts'
import { JoinRequest, ManagedBot, OpenRequest } from './profile-schemas.ts'
import { ChatParams, described, PersonParams, type SandboxRoutes } from './route.ts'
import { ChatId, Id, PersonName, Username } from './schemas.ts'

const strict = { additionalProperties: false }

export const joinQueryRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/chats/:chat/join_bot',
    {
      schema: {
        ...described('Let a bot answer those who ask to join a chat; null: the administrators'),
        params: ChatParams,
        body: Type.Object({ bot: Nullable(Id) }, strict),
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, chat } = request.params
      await network(request).bots.assignJoinBot(person, chat, request.body.bot)
      return done
    },
  )

  app.get(
    '/people/:person/join_requests',
    {
      schema: {
        ...described('The chats that a person has asked to join'),
        params: PersonParams,
        response: answers(Type.Array(JoinRequest)),
      },
    },
    async (request) => {
      const requests = await network(request).bots.joinRequests(request.params.person)
      return ok(
        requests.map(({ chat, at, app, bot }) => ({
          chat: { id: Number(chat.native), title: chat.title ?? '' },
          date: at,
          ...present({ bot, web_app_url: app }),
        })),
      )
    },
  )

  app.put(
    '/people/:person/personal_chat',
    {
      schema: {
        ...described('Show a public channel of a person in their profile; null: none'),
        params: PersonParams,
        body: Type.Object({ chat: Nullable(ChatId) }, strict),
        response: answers(Done),
      },
    },
    async (request) => {
      await network(request).bots.setPersonalChat(request.params.person, request.body.chat)
      return done
    },
  )
}

export const joinAnswerRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/people/:person/chats/:chat/join_requests',
    {
      schema: {
        ...described('The people who ask to join a chat that this person runs'),
        params: ChatParams,
        response: answers(Type.Array(OpenRequest)),
      },
    },
    async (request) => {
      const { person, chat } = request.params
      const asking = await network(request).bots.openRequests(person, chat)
      return ok(
        asking.map(({ person, at, bio }) => ({
          person: nameBody(person),
          date: at,
          ...present({ bio }),
        })),
      )
    },
  )

  app.post(
    '/people/:person/chats/:chat/join_requests/:asker',
    {
      schema: {
        ...described('Let somebody in who asks to join, or turn them away'),
        params: Type.Object({ person: Id, chat: ChatId, asker: Id }),
        body: Type.Object({ approve: Type.Boolean() }, strict),
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, chat, asker } = request.params
      await network(request).actions.administer(person, {
        kind: 'answer_join',
        chat: String(chat),
        person: String(asker),
        approves: request.body.approve,
      })
      return done
    },
  )
}

const NewBot = Type.Object(
  {
    manager: Id,
    first_name: Type.String({ minLength: 1, maxLength: 64 }),
    username: Username,
    request_id: Type.Optional(
      Type.Integer({ description: 'Of a key that asks for a bot', minimum: -(2 ** 31) }),
    ),
    prepared_button_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  },
  strict,
)

const BotParams = Type.Object({ person: Id, bot: Id })

export const managedBotRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/managed_bots',
    {
      schema: {
        ...described('Make a bot for an account that manages it'),
        params: PersonParams,
        body: NewBot,
        response: answers(PersonName),
      },
    },
    async (request) => {
      const { manager, first_name: firstName, username, request_id, ...more } = request.body
      const prepared = present({ prepared: more.prepared_button_id })
      const key = request_id === undefined ? undefined : { request: request_id, ...prepared }
      const { bots } = network(request)
      const bot = { manager, firstName, username }
      return ok(nameBody(await bots.createBot(request.params.person, bot, key)))
    },
  )

  app.get(
    '/people/:person/managed_bots',
    {
      schema: {
        ...described('The bots that this person has made, with the tokens that link them'),
        params: PersonParams,
        response: answers(Type.Array(ManagedBot)),
      },
    },
    async (request) => {
      const made = await network(request).bots.ownBots(request.params.person)
      return ok(
        made.map(({ bot, manager, token }) => ({
          bot: nameBody(bot),
          manager: nameBody(manager),
          token,
        })),
      )
    },
  )

  app.post(
    '/people/:person/managed_bots/:bot/token',
    {
      schema: {
        ...described('Replace the token of a bot that the person has made; its manager is told'),
        params: BotParams,
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, bot } = request.params
      await network(request).bots.replaceToken(person, bot)
      return done
    },
  )
}

const PassportErrors = Type.Object({
  bot: Type.Integer(),
  errors: Type.Array(Type.Unsafe<PassportError>(Type.Object({}, { additionalProperties: true }))),
})

export const passportRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/people/:person/passport_errors',
    {
      schema: {
        ...described("The mistakes that bots have found in a person's passport"),
        params: PersonParams,
        response: answers(Type.Array(PassportErrors)),
      },
    },
    async (request) => {
      const found = await network(request).bots.passportErrors(request.params.person)
      return ok(found.map(({ bot, errors }) => ({ bot, errors: [...errors] })))
    },
  )

  app.delete(
    '/people/:person/passport_errors/:bot',
    {
      schema: {
        ...described('Correct what a bot has found in the passport'),
        params: BotParams,
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, bot } = request.params
      await network(request).bots.correctPassport(person, bot)
      return done
    },
  )
}
