/** /sandbox/people/{person}/shares and …/web_app_data: what a person sends by keys that ask for more than a text. */
import { Type } from 'typebox'
import { answers, ok } from '../envelope.ts'
import { messageBody, present } from './present.ts'
import { described, PersonParams, type SandboxRoutes } from './route.ts'
import { ChatId, Id, Message } from './schemas.ts'

const strict = { additionalProperties: false }
const optional = Type.Optional
const RequestId = Type.Integer({ minimum: -(2 ** 31), maximum: 2 ** 31 - 1 })

const Share = Type.Object(
  {
    to: Id,
    request_id: RequestId,
    user_ids: optional(Type.Array(Id, { minItems: 1, maxItems: 10 })),
    chat_id: optional(ChatId),
    prepared_button_id: optional(Type.String({ minLength: 1, maxLength: 64 })),
  },
  strict,
)

const WebAppData = Type.Object(
  {
    to: Id,
    button_text: Type.String({ minLength: 1, maxLength: 4096 }),
    data: Type.String({ minLength: 1, maxLength: 4096 }),
  },
  strict,
)

export const sharingRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/shares',
    {
      schema: {
        ...described('Share the people or the chat that a key of the keyboard asks for'),
        params: PersonParams,
        body: Share,
        response: answers(Message),
      },
    },
    async (request) => {
      const { to, request_id, user_ids, chat_id, prepared_button_id } = request.body
      const given = { people: user_ids, chat: chat_id, prepared: prepared_button_id }
      const share = { to, request: request_id, ...present(given) }
      return ok(messageBody(await network(request).actions.share(request.params.person, share)))
    },
  )

  app.post(
    '/people/:person/web_app_data',
    {
      schema: {
        ...described('Send what came of a web app that a key of the keyboard has opened'),
        params: PersonParams,
        body: WebAppData,
        response: answers(Message),
      },
    },
    async (request) => {
      const { to, button_text: button, data } = request.body
      const { actions } = network(request)
      const sent = { to, button, data }
      return ok(messageBody(await actions.sendWebAppData(request.params.person, sent)))
    },
  )
}
