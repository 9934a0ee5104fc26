/** Link pages: a user makes one, and the account's owner, who has no access here, answers one link flow on it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { failed, missingField } from '../../../machines/model/failure.ts'
import { networksOf } from '../../accounts/client.ts'
import type { LinkFlow, LinkFlows, LinkPages } from '../../links/flows.ts'
import { LinkRecord } from '../../records/link.ts'
import { Gcra } from '../../security/rate-limits.ts'
import { answers, ok } from '../envelope.ts'
import { linkRecord } from './links.ts'
import { type Authenticated, forUsers, userOf } from './owner.ts'

const PageParams = Type.Object({ token: Type.String({ maxLength: 100 }) })

const AnswerBody = Type.Object(
  {
    otp: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { additionalProperties: false },
)

const PageRecord = Type.Omit(LinkRecord, ['session_id', 'credential'])

/** An open page asks every few seconds, and several people may share an address. */
const perNetwork = { perSecond: 2, burst: 60 }

interface LinkPageAnswersOptions {
  readonly links: LinkFlows
  readonly pages: LinkPages
  now(): number
}

type Routes = FastifyPluginAsyncTypebox<LinkPageAnswersOptions>

const tags = ['linking']
const bodyLimit = 4_096
const response = answers(PageRecord)

const showingRoute: Routes = async (app, options) => {
  app.get(
    '/link-pages/:token',
    { schema: { tags, summary: 'What a link page shows', params: PageParams, response } },
    async (request) => ok(recordOf(options, await flowOf(options, request, request.params.token))),
  )
}

const answeringRoutes: Routes = async (app, options) => {
  app.post(
    '/link-pages/:token/answer',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Gives the code or the password on a link page',
        params: PageParams,
        body: AnswerBody,
        response,
      },
    },
    async (request) => {
      const { otp, password } = request.body
      const flow = await flowOf(options, request, request.params.token)
      if (otp === undefined && password === undefined) throw missingField('otp')
      await flow.actor.ask({
        type: 'link.verify',
        ...(otp !== undefined ? { code: otp } : { password: password ?? '' }),
      })
      return ok(recordOf(options, flow))
    },
  )

  app.post(
    '/link-pages/:token/resend',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Sends a new code, asked for on a link page',
        params: PageParams,
        response,
      },
    },
    async (request) => {
      const flow = await flowOf(options, request, request.params.token)
      await flow.actor.ask({ type: 'link.resend', now: options.now() })
      return ok(recordOf(options, flow))
    },
  )
}

export const linkPageAnswerRoutes: FastifyPluginAsyncTypebox<LinkPageAnswersOptions> = async (
  app,
  options,
) => {
  const uses = new Gcra<string>(perNetwork)
  app.addHook('onRequest', async ({ ip }) => {
    const retryAfterSeconds = uses.take(networksOf(ip).narrow)
    if (retryAfterSeconds > 0) throw failed('rate_limited', '', { retryAfterSeconds })
  })
  for (const routes of [showingRoute, answeringRoutes]) {
    await app.register(routes, options)
  }
}

/** Requests of the page count as requests of the user who started the flow, who sees them in the request log. */
async function flowOf(
  { links, pages }: LinkPageAnswersOptions,
  { audit }: FastifyRequest,
  token: string,
): Promise<LinkFlow> {
  const { sessionId, userId } = await pages.find(token)
  audit.userId = userId
  return links.find(sessionId, userId)
}

function recordOf({ now }: LinkPageAnswersOptions, flow: LinkFlow) {
  const { session_id: _, credential: __, ...shown } = linkRecord(flow, now(), undefined)
  return shown
}

const Params = Type.Object({
  platform: Type.String({ maxLength: 64 }),
  session_id: Type.String({ maxLength: 64 }),
})

const NewPage = Type.Object({
  url: Type.String({ description: 'To be sent to the owner of the account' }),
  token: Type.String({ description: 'Shown only here; an earlier one opens nothing any more' }),
  expires_at: Type.String({ format: 'date-time' }),
  expires_in: Type.Integer(),
})

interface LinkPageRoutesOptions extends Authenticated {
  readonly links: LinkFlows
  readonly pages: LinkPages
  /** The panel's address for each address of the API, in the same order. */
  readonly addresses: readonly string[]
  readonly panels: readonly string[]
  now(): number
}

export const linkPageRoutes: FastifyPluginAsyncTypebox<LinkPageRoutesOptions> = async (
  app,
  { links, pages, addresses, panels, now, authenticate },
) => {
  forUsers(app, authenticate)

  app.post(
    '/platforms/:platform/link/:session_id/page',
    {
      schema: {
        tags: ['linking'],
        summary: 'Makes a page on which the owner of the account enters the code',
        params: Params,
        response: answers(NewPage),
      },
    },
    async (request) => {
      const { platform, session_id } = request.params
      if (!/^[\w-]{22}$/.test(session_id)) throw failed('not_found')
      const { link, actor } = await links.find(session_id, userOf(request))
      if (link.platform !== platform) throw failed('not_found')
      if (typeof actor.snapshot.value === 'string')
        throw failed('conflict', 'the link flow is over')
      const token = await pages.create(session_id)
      const expires_at = new Date(link.expiresAt).toISOString()
      const expires_in = Math.max(0, Math.ceil((link.expiresAt - now()) / 1000))
      return ok({ url: `${panelFor(request.host)}/link/${token}`, token, expires_at, expires_in })
    },
  )

  const panelFor = (host: string) =>
    panels[addresses.findIndex((address) => new URL(address).host === host)] ?? panels[0]
}
