/** /sandbox/people/{person}/…: what a person does at a device of their own. */
import { Type } from 'typebox'
import { answers, ok } from '../envelope.ts'
import { buttonsOf, entityOf, messageBody } from './present.ts'
import { described, PersonParams, type SandboxRoutes, within } from './route.ts'
import { Addressee, ChatId, Entity, Id, Keyboard, Message } from './schemas.ts'

const words = {
  text: Type.String({ minLength: 1, maxLength: 20_000 }),
  entities: Type.Optional(Type.Array(Entity, { maxItems: 1000 })),
  inline_keyboard: Type.Optional(Keyboard),
}
const strict = { additionalProperties: false }
const Write = Type.Object(
  { to: Addressee, ...words, reply_to_message_id: Type.Optional(Id) },
  strict,
)
const Edit = Type.Object(words, strict)
const Forward = Type.Object(
  { to: Addressee, from: ChatId, message_id: Id, as_copy: Type.Boolean({ default: false }) },
  strict,
)
const Press = Type.Object(
  {
    chat: ChatId,
    message_id: Id,
    callback_data: Type.String({ minLength: 1 }),
    wait_seconds: Type.Number({ minimum: 0, maximum: 30, default: 10 }),
  },
  strict,
)
const Typing = Type.Object(
  { to: Addressee, action: Type.String({ default: 'typing', minLength: 1, maxLength: 40 }) },
  strict,
)
const MessageParams = Type.Object({ person: Id, chat: ChatId, message: Id })

interface Words {
  readonly text: string
  readonly entities?: Parameters<typeof entityOf>[0][]
  readonly inline_keyboard?: Parameters<typeof buttonsOf>[0]
}

const writingOf = ({ text, entities, inline_keyboard }: Words) => ({
  text,
  ...(entities && { entities: entities.map(entityOf) }),
  ...(inline_keyboard && { buttons: buttonsOf(inline_keyboard) }),
})

export const handRoutes: SandboxRoutes = async (app, { sandbox: { hands } }) => {
  app.post(
    '/people/:person/messages',
    {
      schema: {
        ...described('Write as this person'),
        params: PersonParams,
        body: Write,
        response: answers(Message),
      },
    },
    async ({ params, body }) => {
      const { to, reply_to_message_id: replyTo } = body
      const writing = { to, ...writingOf(body), ...(replyTo !== undefined && { replyTo }) }
      return ok(messageBody(await hands.write(params.person, writing)))
    },
  )

  app.patch(
    '/people/:person/chats/:chat/messages/:message',
    {
      schema: {
        ...described("Edit one of this person's messages"),
        params: MessageParams,
        body: Edit,
        response: answers(Message),
      },
    },
    async ({ params, body }) =>
      ok(messageBody(await hands.edit(params.person, params, writingOf(body)))),
  )

  app.delete(
    '/people/:person/chats/:chat/messages/:message',
    {
      schema: {
        ...described('Delete a message for all'),
        params: MessageParams,
        response: answers(Type.Literal(true)),
      },
    },
    async ({ params }) => {
      await hands.delete(params.person, params)
      return ok(true as const)
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
    async ({ params, body: { to, from, message_id: message, as_copy: isCopy } }) => {
      const passed = await hands.forward(params.person, { chat: from, message }, to, isCopy)
      return ok(messageBody(passed))
    },
  )

  app.post(
    '/people/:person/typing',
    {
      schema: {
        ...described('Type: shown to the others for six seconds'),
        params: PersonParams,
        body: Typing,
        response: answers(Type.Literal(true)),
      },
    },
    async ({ params, body }) => {
      await hands.type(params.person, body.to, body.action)
      return ok(true as const)
    },
  )

  app.post(
    '/people/:person/presses',
    {
      schema: {
        ...described('Press an inline button and wait for the answer'),
        params: PersonParams,
        body: Press,
        response: answers(
          Type.Object({
            callback_query_id: Type.String(),
            answered: Type.Boolean(),
            text: Type.Optional(Type.String()),
            show_alert: Type.Optional(Type.Boolean()),
            url: Type.Optional(Type.String()),
          }),
        ),
      },
    },
    async ({ params, body, signal }) => {
      const place = { chat: body.chat, message: body.message_id }
      const { callback, answer } = await hands.press(
        params.person,
        place,
        body.callback_data,
        within(body.wait_seconds, signal),
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
