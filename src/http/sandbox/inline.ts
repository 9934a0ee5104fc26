/** /sandbox/people/{person}/inline_…: writes to bots in inline mode as a person, and sends what they offer. */

import { createHmac } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { invalidField } from '../../../machines/model/failure.ts'
import type { InlineButton, InlineResult } from '../../../machines/model/operation-inline.ts'
import type { OpenedWebApp } from '../../sandbox/inline/prepared.ts'
import { answers, ok } from '../envelope.ts'
import { goneSignal } from '../gone-signal.ts'
import { Answer, OpenWebApp, type Result } from './offer-schemas.ts'
import { locationOf } from './parse.ts'
import { contentBody, keyboardBody, messageBody, nameBody, present } from './present.ts'
import { deadline, described, PersonParams, type SandboxRoutes } from './route.ts'
import { Addressee, Id, LocationBody, Message } from './schemas.ts'

const strict = { additionalProperties: false }
const optional = Type.Optional
const WaitSeconds = Type.Number({ minimum: 0, maximum: 30, default: 10 })
const QueryId = Type.String({ pattern: '^\\d{1,15}$' })

const Query = Type.Object(
  {
    bot: Addressee,
    chat: Addressee,
    query: Type.String({ maxLength: 256 }),
    offset: Type.String({ maxLength: 64, default: '' }),
    location: optional(LocationBody),
    wait_seconds: WaitSeconds,
  },
  strict,
)

const Choice = Type.Object(
  {
    inline_query_id: QueryId,
    result_id: Type.String({ minLength: 1, maxLength: 64 }),
    reply_to_message_id: optional(Id),
    message_thread_id: optional(Id),
  },
  strict,
)

const Prepared = Type.Object(
  { id: Type.String({ minLength: 1, maxLength: 64 }), to: Addressee },
  strict,
)

const WebApp = Type.Object(
  {
    bot: Addressee,
    chat: optional(Addressee),
    url: Type.String({ pattern: '^https?://', maxLength: 2048 }),
    bot_token: optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          'The key that the bot calls with: init_data is signed for it, and it is not kept',
      }),
    ),
  },
  strict,
)

/** The reference's signature of a web app's data: an HMAC with a key derived from the bot's token. */
function signature(terms: Readonly<Record<string, string>>, token: string): string {
  const lines = Object.entries(terms).map(([name, value]) => `${name}=${value}`)
  const key = createHmac('sha256', 'WebAppData').update(token).digest()
  return createHmac('sha256', key).update(lines.sort().join('\n')).digest('hex')
}

/** The address of a web app as clients open it, and what the app reads there. */
function opened({ id, person, at, chat }: OpenedWebApp, address: string, token?: string) {
  const user = JSON.stringify(nameBody(person))
  const terms = { query_id: id, user, chat_type: chat.place, auth_date: `${at}` }
  const hash = token === undefined ? undefined : signature(terms, token)
  const init_data = new URLSearchParams({ ...terms, ...(hash && { hash }) }).toString()
  const url = new URL(address)
  const fragment = new URLSearchParams({ tgWebAppData: init_data, tgWebAppVersion: '10.3' })
  url.hash = fragment.toString()
  return { query_id: id, url: url.href, init_data }
}

function resultBody(result: InlineResult): Static<typeof Result> {
  const { id, type, title, description, url, thumbnailUrl, content, buttons } = result
  return {
    id,
    type,
    ...present({
      title,
      description,
      url,
      thumbnail_url: thumbnailUrl,
      inline_keyboard: buttons && keyboardBody(buttons),
    }),
    ...(content.kind === 'web_media'
      ? { media_url: content.url, ...(content.caption.text && { caption: content.caption.text }) }
      : contentBody(content)),
  }
}

const buttonBody = (button: InlineButton) =>
  'start' in button
    ? { text: button.text, start_parameter: button.start }
    : { text: button.text, web_app: { url: button.webApp } }

export const inlineRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/inline_queries',
    {
      schema: {
        ...described('Write to a bot in inline mode and wait for the results it offers'),
        params: PersonParams,
        body: Query,
        response: answers(Answer),
      },
    },
    async (request, reply) => {
      const { bot, chat, query: text, offset, location, wait_seconds } = request.body
      const { query, answer } = await network(request).inline.ask(
        request.params.person,
        { bot, chat, text, offset, ...(location && { location: locationOf(location) }) },
        deadline(wait_seconds, goneSignal(reply)),
      )
      return ok({
        inline_query_id: `${query}`,
        answered: answer !== null,
        results: (answer?.results ?? []).map(resultBody),
        next_offset: answer?.nextOffset ?? '',
        ...(answer?.button && { button: buttonBody(answer.button) }),
      })
    },
  )
}

export const inlineChoiceRoutes: SandboxRoutes = async (app, { network }) => {
  app.post(
    '/people/:person/inline_choices',
    {
      schema: {
        ...described('Send one of the results that a bot offered'),
        params: PersonParams,
        body: Choice,
        response: answers(Message),
      },
    },
    async (request, reply) => {
      const { params, body } = request
      const terms = { replyTo: body.reply_to_message_id, topic: body.message_thread_id }
      const message = await network(request).inline.pick(
        params.person,
        { query: Number(body.inline_query_id), result: body.result_id, ...present(terms) },
        goneSignal(reply),
      )
      return ok(messageBody(message))
    },
  )

  app.post(
    '/people/:person/prepared_messages',
    {
      schema: {
        ...described('Send a message that a bot has prepared for this person'),
        params: PersonParams,
        body: Prepared,
        response: answers(Message),
      },
    },
    async (request, reply) => {
      const { id, to } = request.body
      const { inline } = network(request)
      const signal = goneSignal(reply)
      return ok(messageBody(await inline.sendPrepared(request.params.person, id, to, signal)))
    },
  )

  app.post(
    '/people/:person/web_apps',
    {
      schema: {
        ...described('Open a web app of a bot, in a chat or in the private chat with the bot'),
        params: PersonParams,
        body: WebApp,
        response: answers(OpenWebApp),
      },
    },
    async (request) => {
      const { bot, chat = bot, url, bot_token: token } = request.body
      if (!URL.canParse(url)) throw invalidField('url', 'is not an address')
      const app = await network(request).inline.openWebApp(request.params.person, { bot, chat })
      return ok(opened(app, url, token))
    },
  )
}
