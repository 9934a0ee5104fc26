/** /sandbox/people/{person}/…: writes messages of every kind as a person, and changes them. */
import { type Static, Type } from 'typebox'
import type { Message as MessageRecord } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import { replyKeyboardFrom } from '../../bot-api/markup.ts'
import type { PersonEdit } from '../../sandbox/person-actions.ts'
import { answers, ok } from '../envelope.ts'
import { goneSignal } from '../gone-signal.ts'
import { userOf } from '../management/owner.ts'
import { Keyboard, ReplyKeyboard } from './keyboard-schemas.ts'
import {
  buttonsOf,
  contentsOf,
  type IngestMedia,
  locationOf,
  mediaContent,
  mediaIngester,
  quoteOf,
  textOf,
} from './parse.ts'
import { messageBody, present } from './present.ts'
import { described, MessageParams, PersonParams, type SandboxRoutes } from './route.ts'
import {
  Addressee,
  BODY_LIMIT,
  ChatId,
  Entity,
  GivenMedia,
  givenContent,
  Id,
  LocationBody,
  Message,
  QuoteBody,
  Sent,
} from './schemas.ts'

const strict = { additionalProperties: false }
const Entities = Type.Array(Entity, { maxItems: 1000 })

const SuggestedPost = Type.Object(
  {
    star_count: Type.Optional(Type.Integer({ minimum: 5, maximum: 100_000 })),
    send_date: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })),
  },
  {
    ...strict,
    description: 'Suggests the message as a post to the channel of the direct messages',
  },
)

const postTerms = ({ star_count: amount, send_date: sendAt }: Static<typeof SuggestedPost>) => ({
  ...(amount !== undefined && { price: { currency: 'XTR' as const, amount } }),
  ...(sendAt !== undefined && { sendAt }),
})

const Write = Type.Object(
  {
    to: Addressee,
    ...givenContent,
    reply_to_message_id: Type.Optional(Id),
    reply_to_chat_id: Type.Optional(ChatId),
    quote: Type.Optional(QuoteBody),
    message_thread_id: Type.Optional(Id),
    inline_keyboard: Type.Optional(Keyboard),
    keyboard: Type.Optional(ReplyKeyboard),
    protect_content: Type.Optional(Type.Boolean()),
    message_effect_id: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,18}$' })),
    receiver: Type.Optional(Id),
    suggested_post: Type.Optional(SuggestedPost),
    send_as: Type.Optional(ChatId),
  },
  strict,
)

const Edit = Type.Object(
  {
    text: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000 })),
    entities: Type.Optional(Entities),
    caption: Type.Optional(Type.String({ maxLength: 20_000 })),
    caption_entities: Type.Optional(Entities),
    media: Type.Optional(GivenMedia),
    location: Type.Optional(
      Type.Union([LocationBody, Type.Null()], { description: 'null: it is no longer live' }),
    ),
    inline_keyboard: Type.Optional(Keyboard),
  },
  strict,
)

interface Edited {
  readonly text?: string
  readonly entities?: Parameters<typeof textOf>[1]
  readonly caption?: string
  readonly caption_entities?: Parameters<typeof textOf>[1]
  readonly media?: Parameters<IngestMedia>[0]
  readonly location?: Parameters<typeof locationOf>[0] | null
}

async function changeOf(edited: Edited, ingest: IngestMedia): Promise<PersonEdit> {
  const { text, entities, caption, caption_entities, media, location } = edited
  const named = [text, caption, media, location].filter((change) => change !== undefined)
  if (named.length > 1) throw failed('bad_request', 'one thing is changed at a time')
  if (text !== undefined) {
    return { kind: 'edit', content: { kind: 'text', ...textOf(text, entities) } }
  }
  if (caption !== undefined) {
    return { kind: 'edit_caption', caption: textOf(caption, caption_entities) }
  }
  if (media) return { kind: 'edit', content: await mediaContent(media, ingest) }
  if (location === undefined) return { kind: 'edit_buttons' }
  return { kind: 'edit_location', ...(location && { location: locationOf(location) }) }
}

const sentBody = (messages: readonly MessageRecord[]) => {
  const bodies = messages.map(messageBody)
  return { ...bodies[0]!, ...(bodies.length > 1 && { album: bodies }) }
}

export const writingRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/messages',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        ...described('Write as this person: text, files, an album, a place, a poll …'),
        params: PersonParams,
        body: Write,
        response: answers(Sent),
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const { to, reply_to_message_id: replyTo, inline_keyboard: inline } = body
      const keyboard = body.keyboard && replyKeyboardFrom(body.keyboard)
      const { message_thread_id: topic } = body
      const { files, actions } = network(request)
      const ingest = mediaIngester(files, userOf(request), goneSignal(reply))
      const sent = await actions.send(params.person, {
        to,
        contents: await contentsOf(body, ingest),
        ...(replyTo !== undefined && { replyTo }),
        ...(body.reply_to_chat_id !== undefined && { replyFrom: body.reply_to_chat_id }),
        ...(body.quote && { quote: quoteOf(body.quote) }),
        ...(topic !== undefined && { topic }),
        ...(inline && { buttons: buttonsOf(inline) }),
        ...(keyboard && { keyboard }),
        ...(body.protect_content && { isProtected: true }),
        ...(body.message_effect_id !== undefined && { effect: body.message_effect_id }),
        ...(body.receiver !== undefined && { receiver: body.receiver }),
        ...(body.send_as !== undefined && { sendAs: body.send_as }),
        ...(body.suggested_post && { suggested: postTerms(body.suggested_post) }),
      })
      return ok(sentBody(sent))
    },
  )

  app.patch(
    '/people/:person/chats/:chat/messages/:message',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        ...described("Edit one of this person's messages: its text, caption, file, place, buttons"),
        params: MessageParams,
        body: Edit,
        response: answers(Message),
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const { files, actions } = network(request)
      const change = await changeOf(body, mediaIngester(files, userOf(request), goneSignal(reply)))
      const keyboard = body.inline_keyboard
      const buttons = keyboard && { buttons: buttonsOf(keyboard) }
      return ok(messageBody(await actions.change(params.person, params, { ...change, ...buttons })))
    },
  )
}

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
