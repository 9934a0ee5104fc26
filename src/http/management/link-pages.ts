/** Link pages: a user makes one, and the account's owner, who has no access here, answers one link flow on it. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import {
  failed,
  invalidField,
  missingField,
  RequestFailed,
  readBack,
} from '../../../machines/model/failure.ts'
import type { Accounts } from '../../accounts/accounts.ts'
import { networksOf } from '../../accounts/client.ts'
import type { RelinkPage, RelinkPages } from '../../bulk/relinks.ts'
import { Nullable } from '../../json/schemas.ts'
import type { LinkFlow, LinkFlows, LinkPages } from '../../links/flows.ts'
import { LinkFieldRecord, LinkRecord } from '../../records/link.ts'
import { Gcra } from '../../security/rate-limits.ts'
import { maskAddress, maskPhone } from '../../security/redact.ts'
import { carriedOut, changesNothing } from '../changes.ts'
import { answers, ok } from '../envelope.ts'
import { shown } from '../validation.ts'
import { giveAnswer, linkRecord } from './links.ts'
import { type Authenticated, forUsers, userOf } from './owner.ts'

const PageParams = Type.Object({ token: Type.String({ maxLength: 100 }) })

const AnswerBody = Type.Object(
  {
    otp: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { additionalProperties: false },
)

const StartBody = Nullable(
  Type.Object(
    {
      fields: Type.Optional(
        Type.Record(
          Type.String({ maxLength: 64 }),
          Type.String({ minLength: 1, maxLength: 4_096 }),
          { maxProperties: 10, description: 'Those that the page asks for, by their names' },
        ),
      ),
    },
    { additionalProperties: false },
  ),
)

const PageRecord = Type.Object({
  ...Type.Omit(LinkRecord, ['session_id', 'credential']).properties,
  state: Type.String({ description: 'As of a link; `ready` where `start` begins it' }),
  asked_by: Type.String({ description: 'The phone of the user who asks, by its last digits' }),
  username: Type.Optional(Type.String({ description: 'Of a bot' })),
  fields: Type.Optional(
    Type.Array(LinkFieldRecord, { description: 'What `start` needs, where it needs something' }),
  ),
})
type PageRecord = Static<typeof PageRecord>

/** An open page asks every few seconds, and several people may share an address. */
const perNetwork = { perSecond: 2, burst: 60 }

interface LinkPageAnswersOptions {
  readonly links: LinkFlows
  readonly pages: LinkPages
  readonly relinks: RelinkPages
  readonly accounts: Pick<Accounts, 'user' | 'suspensions'>
  now(): number
}

type Routes = FastifyPluginAsyncTypebox<LinkPageAnswersOptions>

const tags = ['linking']
const BODY_LIMIT = 4_096
const response = answers(PageRecord)

const showingRoute: Routes = async (app, options) => {
  app.get(
    '/link-pages/:token',
    { schema: { tags, summary: 'What a link page shows', params: PageParams, response } },
    async (request) => {
      const opened = await openedBy(options, request, request.params.token)
      return ok(
        'flow' in opened
          ? await recordOf(options, opened.flow)
          : await readyRecord(options, opened),
      )
    },
  )
}

const startingRoute: Routes = async (app, options) => {
  app.post(
    '/link-pages/:token/start',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Begins the link, on a page that links an account again',
        description:
          'Sends the code, or links it at once by the fields that the page asks for. Again after its flow ended without success. A flow that is under way stays.',
        params: PageParams,
        body: StartBody,
        response,
      },
    },
    async (request) => {
      const opened = await openedBy(options, request, request.params.token)
      if ('flow' in opened) {
        changesNothing(request)
        return ok(await recordOf(options, opened.flow))
      }
      const starting = begin(options, opened.page, request.body?.fields ?? {})
      const flow = await carriedOut(request, starting)
      return ok(await readBack(recordOf(options, flow)))
    },
  )
}

const answeringRoutes: Routes = async (app, options) => {
  app.post(
    '/link-pages/:token/answer',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Gives the code or the password on a link page',
        params: PageParams,
        body: AnswerBody,
        response,
      },
    },
    async (request) => {
      const flow = await flowOf(options, request, request.params.token)
      await giveAnswer(request, flow, request.body)
      return ok(await readBack(recordOf(options, flow)))
    },
  )

  app.post(
    '/link-pages/:token/resend',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags,
        summary: 'Sends a new code, asked for on a link page',
        params: PageParams,
        response,
      },
    },
    async (request) => {
      const flow = await flowOf(options, request, request.params.token)
      await carriedOut(request, flow.actor.ask({ type: 'link.resend', now: options.now() }))
      return ok(await readBack(recordOf(options, flow)))
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
  for (const routes of [showingRoute, startingRoute, answeringRoutes]) {
    await routes(app, options)
  }
}

/** A page whose flow waits for its reader to begin it; with the flow that ended without success, if there was one. */
interface Ready {
  readonly page: RelinkPage
  readonly ended: LinkFlow | undefined
}

/** Requests of the page count as requests of the user who started the flow, who sees them in the request log. */
async function openedBy(
  { links, pages, relinks, accounts }: LinkPageAnswersOptions,
  { audit }: FastifyRequest,
  token: string,
): Promise<{ readonly flow: LinkFlow } | Ready> {
  const openedFor = (userId: number) => {
    audit.userId = userId
    // Whoever opens the page is another person, whom the suspension does not concern.
    if (accounts.suspensions.ofUser(userId)) throw failed('not_found')
  }
  const place = await found(pages.find(token))
  if (place) {
    openedFor(place.userId)
    return { flow: await links.find(place.sessionId, place.userId) }
  }
  const page = await relinks.find(token)
  const { sessionId, userId } = page
  openedFor(userId)
  const flow = sessionId === undefined ? undefined : await found(links.find(sessionId, userId))
  if (flow && !hasEnded(flow)) return { flow }
  return { page, ended: flow }
}

/** Undefined where there is no such thing. */
const found = <Result>(finding: Promise<Result>): Promise<Result | undefined> =>
  finding.catch((cause) => {
    if (cause instanceof RequestFailed && cause.failure.code === 'not_found') return undefined
    throw cause
  })

const hasEnded = ({ actor }: LinkFlow) =>
  ['expired', 'cancelled', 'failed'].includes(`${actor.snapshot.value}`)

async function begin(
  { links, relinks }: LinkPageAnswersOptions,
  page: RelinkPage,
  given: Readonly<Record<string, string>>,
): Promise<LinkFlow> {
  const { userId, platform, method, known, asks, credentialId } = page
  const missing = asks.find(({ name, required }) => required && !(name in given))
  if (missing) throw missingField(missing.name)
  const unknown = Object.keys(given).find((name) => !asks.some((field) => field.name === name))
  if (unknown !== undefined) throw invalidField(shown(unknown), 'is unknown')
  await relinks.claim(page)
  const fields = { ...given, ...known }
  const flow = await links
    .start({ userId, platform, method, fields, relinks: credentialId })
    .catch(async (cause) => {
      // A mistyped secret may be tried again; the limits of links count the tries.
      if (asks.length > 0) await relinks.release(page)
      throw cause
    })
  await readBack(relinks.began(page, flow.link.sessionId))
  return flow
}

async function flowOf(
  options: LinkPageAnswersOptions,
  request: FastifyRequest,
  token: string,
): Promise<LinkFlow> {
  const opened = await openedBy(options, request, token)
  if ('flow' in opened) return opened.flow
  throw failed('conflict', 'the link flow is over', { reason: 'link_over' })
}

async function readyRecord(
  options: LinkPageAnswersOptions,
  { page, ended }: Ready,
): Promise<PageRecord> {
  const { known, asks, username } = page
  const reason = ended?.actor.snapshot.context.reason
  return {
    platform: page.platform,
    state: 'ready',
    method: page.method,
    asked_by: await askedBy(options, page.userId),
    step: null,
    expires_in: page.expiresInSeconds,
    code_expires_in: null,
    attempts_left: 0,
    resend_in: null,
    code_length: null,
    password_hint: null,
    ...(known.phone !== undefined && { phone: maskPhone(known.phone) }),
    ...(known.jid !== undefined && { jid: maskAddress(known.jid) }),
    ...(username !== undefined && { username }),
    ...(asks.length > 0 && {
      fields: asks.map(({ secret = false, ...field }) => ({ ...field, secret })),
    }),
    ...(reason !== undefined && { reason }),
  }
}

async function recordOf(options: LinkPageAnswersOptions, flow: LinkFlow): Promise<PageRecord> {
  const { session_id: _, credential: __, ...record } = linkRecord(flow, options.now(), undefined)
  return { ...record, asked_by: await askedBy(options, flow.link.userId) }
}

/** Users have no name but their phone, which is not for everybody who opens the page. */
const askedBy = async ({ accounts }: LinkPageAnswersOptions, userId: number): Promise<string> =>
  maskPhone((await accounts.user(userId)).phone)

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

/** The panel's address for each address of the API, in the same order. */
export interface PanelAddresses {
  readonly addresses: readonly string[]
  readonly panels: readonly string[]
}

interface LinkPageRoutesOptions extends Authenticated, PanelAddresses {
  readonly links: LinkFlows
  readonly pages: LinkPages
  now(): number
}

export const linkPageRoutes: FastifyPluginAsyncTypebox<LinkPageRoutesOptions> = async (
  app,
  { links, pages, addresses, panels, now, authenticate },
) => {
  forUsers(app, authenticate, 'link')

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
      return ok({
        url: pageUrl({ addresses, panels }, request.host, token),
        token,
        expires_at,
        expires_in,
      })
    },
  )
}

/** The page's address for callers that reach the service at this host. */
export function pageUrl(
  { addresses, panels }: PanelAddresses,
  host: string,
  token: string,
): string {
  const isAsked = (url: string) => new URL(url).host === host
  // Programs ask by an address of the API; the panel asks by its own, which may be another one.
  const place = addresses.findIndex(isAsked)
  const panel = panels[place] ?? panels.find(isAsked) ?? panels[0]
  return `${panel}/link/${token}`
}
