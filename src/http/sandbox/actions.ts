/** /sandbox/people/{person}/…: deletes, forwards, receives, reads, reacts, votes, types and presses buttons as a person. */
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import { answers, Done, done, ok } from '../envelope.ts'
import { goneSignal } from '../gone-signal.ts'
import { PollBody } from './content-schemas.ts'
import { reactionOf } from './parse.ts'
import { chatBody, messageBody, pollBody } from './present.ts'
import {
  ChatParams,
  deadline,
  described,
  MessageParams,
  PersonParams,
  type SandboxRoutes,
} from './route.ts'
import { Addressee, Chat, ChatId, Id, Message, ReactionBody } from './schemas.ts'

const strict = { additionalProperties: false }
const Forward = Type.Object(
  { to: Addressee, from: ChatId, message_id: Id, as_copy: Type.Boolean({ default: false }) },
  strict,
)
const Press = Type.Object(
  {
    chat: ChatId,
    message_id: Type.Optional(Id),
    ephemeral_message_id: Type.Optional(Id),
    callback_data: Type.Optional(Type.String({ minLength: 1 })),
    game: Type.Optional(
      Type.Literal(true, { description: 'Presses the button that starts the game' }),
    ),
    wait_seconds: Type.Number({ minimum: 0, maximum: 30, default: 10 }),
  },
  strict,
)
const Typing = Type.Object(
  {
    to: Addressee,
    action: Type.String({ default: 'typing', minLength: 1, maxLength: 40 }),
    message_thread_id: Type.Optional(Id),
  },
  strict,
)

const Reading = Type.Object({ to: Addressee, message_id: Type.Optional(Id) }, strict)

interface PressedPlace {
  readonly chat: number
  readonly message_id?: number
  readonly ephemeral_message_id?: number
}

function pressedIn({ chat, message_id: message, ephemeral_message_id: ephemeral }: PressedPlace) {
  if (message !== undefined && ephemeral === undefined) return { chat, message }
  if (ephemeral !== undefined && message === undefined) {
    return { chat, message: ephemeral, isEphemeral: true }
  }
  throw failed('bad_request', 'name either message_id or ephemeral_message_id')
}

const Stopping = Type.Object({ chat: ChatId, draft_id: Type.Integer() }, strict)

const Reactions = Type.Object({ reactions: Type.Array(ReactionBody, { maxItems: 20 }) }, strict)
const NewText = Type.Object({ text: Type.String({ minLength: 1, maxLength: 100 }) }, strict)
const Vote = Type.Object(
  { option_ids: Type.Array(Type.Integer({ minimum: 0, maximum: 1000 }), { maxItems: 100 }) },
  strict,
)

export const messageRoutes: SandboxRoutes = async (app, { network }) => {
  app.delete(
    '/people/:person/chats/:chat/messages/:message',
    {
      schema: {
        ...described('Delete a message for all'),
        params: MessageParams,
        response: answers(Done),
      },
    },
    async (request) => {
      const { params } = request
      await network(request).actions.delete(params.person, params)
      return done
    },
  )

  app.post(
    '/people/:person/forwards',
    {
      schema: {
        ...described('Forward or copy a message'),
        params: PersonParams,
        body: Forward,
        response: answers(Message),
      },
    },
    async (request) => {
      const { to, from, message_id: message, as_copy: isCopy } = request.body
      const place = { chat: from, message }
      const forwarded = await network(request).actions.forward(
        request.params.person,
        place,
        to,
        isCopy,
      )
      return ok(messageBody(forwarded))
    },
  )
}

const Pressed = Type.Object({
  callback_query_id: Type.String(),
  answered: Type.Boolean(),
  text: Type.Optional(Type.String()),
  show_alert: Type.Optional(Type.Boolean()),
  url: Type.Optional(Type.String()),
})

export const typingAndPressRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/typing',
    {
      schema: {
        ...described('Type: shown to the others for six seconds'),
        params: PersonParams,
        body: Typing,
        response: answers(Done),
      },
    },
    async (request) => {
      const { params, body } = request
      await network(request).actions.type(
        params.person,
        body.to,
        body.action,
        body.message_thread_id,
      )
      return done
    },
  )

  app.post(
    '/people/:person/presses',
    {
      schema: {
        ...described('Press an inline button and wait for the answer'),
        params: PersonParams,
        body: Press,
        response: answers(Pressed),
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const place = pressedIn(body)
      if ((body.callback_data === undefined) === (body.game === undefined)) {
        throw failed('bad_request', 'name either callback_data or game')
      }
      const { callback, answer } = await network(request).actions.press(
        params.person,
        place,
        body.callback_data,
        deadline(body.wait_seconds, goneSignal(reply)),
      )
      const { alert, ...shown } = answer ?? {}
      return ok({
        callback_query_id: String(callback),
        answered: answer !== null,
        ...shown,
        ...(alert !== undefined && { show_alert: alert }),
      })
    },
  )
}

export const draftRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/stopped_drafts',
    {
      schema: {
        ...described('Stop a draft that a bot is writing; the bot is told'),
        params: PersonParams,
        body: Stopping,
        response: answers(Done),
      },
    },
    async (request) => {
      const { chat, draft_id } = request.body
      await network(request).inboxes.stopDraft(request.params.person, chat, draft_id)
      return done
    },
  )
}

export const readingRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/reads',
    {
      schema: {
        ...described('Read a chat up to a message, or all of it; its writers are told'),
        params: PersonParams,
        body: Reading,
        response: answers(Done),
      },
    },
    async (request) => {
      const { to, message_id } = request.body
      await network(request).actions.read(request.params.person, to, message_id)
      return done
    },
  )

  app.post(
    '/people/:person/deliveries',
    {
      schema: {
        ...described(
          'A device gets a private chat up to a message, or all of it; its writer is told',
        ),
        params: PersonParams,
        body: Reading,
        response: answers(Done),
      },
    },
    async (request) => {
      const { to, message_id } = request.body
      await network(request).actions.deliver(request.params.person, to, message_id)
      return done
    },
  )
}

export const reactionRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/chats/:chat/messages/:message/reactions',
    {
      schema: {
        ...described('React to a message; with no reactions, take them back'),
        params: MessageParams,
        body: Reactions,
        response: answers(Done),
      },
    },
    async (request) => {
      const { params, body } = request
      await network(request).actions.react(params.person, params, body.reactions.map(reactionOf))
      return done
    },
  )
}

export const pollRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/chats/:chat/messages/:message/vote',
    {
      schema: {
        ...described('Vote in a poll; with no options, take the vote back'),
        params: MessageParams,
        body: Vote,
        response: answers(PollBody),
      },
    },
    async (request) => {
      const { params, body } = request
      const { actions } = network(request)
      return ok(pollBody(await actions.vote(params.person, params, body.option_ids)))
    },
  )

  app.post(
    '/people/:person/chats/:chat/messages/:message/options',
    {
      schema: {
        ...described('Add an option to a poll that is open to new ones'),
        params: MessageParams,
        body: NewText,
        response: answers(PollBody),
      },
    },
    async (request) => {
      const { params, body } = request
      const { actions } = network(request)
      return ok(pollBody(await actions.addOption(params.person, params, body.text)))
    },
  )

  app.delete(
    '/people/:person/chats/:chat/messages/:message/vote',
    {
      schema: {
        ...described('End the voting of a poll that this person sent'),
        params: MessageParams,
        response: answers(PollBody),
      },
    },
    async (request) => {
      const { params } = request
      return ok(pollBody(await network(request).actions.stopPoll(params.person, params)))
    },
  )
}

const Ids = Type.Array(Id, { maxItems: 30, default: [] })
const Marks = Type.Object({ done: Ids, undone: Ids }, strict)

export const checklistRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/chats/:chat/messages/:message/tasks',
    {
      schema: {
        ...described('Mark tasks of a checklist as done, and others as not done'),
        params: MessageParams,
        body: Marks,
        response: answers(Done),
      },
    },
    async (request) => {
      const { params, body } = request
      await network(request).actions.markTasks(params.person, params, body)
      return done
    },
  )

  app.post(
    '/people/:person/chats/:chat/messages/:message/tasks',
    {
      schema: {
        ...described('Add a task to a checklist'),
        params: MessageParams,
        body: NewText,
        response: answers(Done),
      },
    },
    async (request) => {
      const { params, body } = request
      await network(request).actions.addTask(params.person, params, body.text)
      return done
    },
  )
}

const PostAnswer = Type.Object(
  {
    approve: Type.Boolean(),
    send_date: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
    comment: Type.Optional(Type.String({ maxLength: 128 })),
  },
  strict,
)

export const suggestionRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/chats/:chat/direct_messages',
    {
      schema: {
        ...described('Open the direct messages of a channel: the chat of this person with it'),
        params: ChatParams,
        response: answers(Chat),
      },
    },
    async (request) => {
      const { person, chat } = request.params
      return ok(chatBody(await network(request).actions.openDirectMessages(person, chat)))
    },
  )

  app.post(
    '/people/:person/chats/:chat/messages/:message/suggestion',
    {
      schema: {
        ...described('Approve or decline a post that the other side suggests'),
        params: MessageParams,
        body: PostAnswer,
        response: answers(Done),
      },
    },
    async (request) => {
      const { params, body } = request
      const at = { chat: String(params.chat), message: String(params.message) }
      const { approve, send_date: sendAt, comment } = body
      await network(request).actions.administer(
        params.person,
        approve
          ? { kind: 'approve_post', ...at, ...(sendAt !== undefined && { sendAt }) }
          : { kind: 'decline_post', ...at, ...(comment !== undefined && { comment }) },
      )
      return done
    },
  )
}
