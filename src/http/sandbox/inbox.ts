/** GET /sandbox/people/{person}/inbox: what a person sees, the one-time codes included. */
import { Type } from 'typebox'
import { personOf } from '../../platforms/sandbox/neutral.ts'
import { answers, ok } from '../envelope.ts'
import { chatBody, messageBody, nameBody } from './present.ts'
import { described, PersonParams, type SandboxRoutes, within } from './route.ts'
import { Chat, ChatId, Message, PersonName, Time } from './schemas.ts'

const Inbox = Type.Object({
  messages: Type.Array(Message),
  typing: Type.Array(Type.Object({ chat: Chat, person: PersonName, action: Type.String() })),
  codes: Type.Array(Type.Object({ code: Type.String(), sent_at: Time, expires_at: Time })),
})

export const inboxRoutes: SandboxRoutes = async (app, { sandbox: { inboxes, people } }) => {
  app.get(
    '/people/:person/inbox',
    {
      schema: {
        ...described('Messages, newest first, in one chat or all; can wait for one'),
        params: PersonParams,
        querystring: Type.Object({
          chat: Type.Optional(ChatId),
          after: Type.Integer({
            minimum: 0,
            default: 0,
            description: 'With `chat`: only messages with a greater id',
          }),
          limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
          wait_seconds: Type.Number({ minimum: 0, maximum: 50, default: 0 }),
        }),
        response: answers(Inbox),
      },
    },
    async ({ params: { person }, query, signal }) => {
      await people.get(person)
      const { chat, after, limit, wait_seconds } = query
      const wanted = { limit, ...(chat !== undefined && { chat, after }) }
      const messages = await inboxes.awaitMessages(person, wanted, within(wait_seconds, signal))
      const [typing, codes] = await Promise.all([inboxes.typing(person), inboxes.codes(person)])
      return ok({
        messages: messages.map(messageBody),
        typing: typing.map((shown) => ({
          chat: chatBody(shown.chat),
          person: nameBody(personOf(shown.person)),
          action: shown.action,
        })),
        codes: codes.map(({ code, sent_at, expires_at }) => ({
          code,
          sent_at: sent_at.toISOString(),
          expires_at: expires_at.toISOString(),
        })),
      })
    },
  )
}
