/** The panel signs in here: a cookie that no script can read holds the refresh token; other sites cannot use it. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { Type } from 'typebox'
import { failed } from '../../machines/model/failure.ts'
import type { Accounts, SignedIn } from '../accounts/accounts.ts'
import { IDLE_SECONDS } from '../accounts/sessions.ts'
import { User } from '../records/account.ts'
import { answers, ok } from './envelope.ts'
import { LoginBody } from './management/auth.ts'
import { presentUser } from './management/user.ts'

/** Keeps other sites from using the panel's cookie: the request must come from a page of this one. */
function refuseOtherSites(panelUrls: readonly string[]): onRequestAsyncHookHandler {
  const panels = panelUrls.map((url) => new URL(url))
  const origins = new Set(panels.map(({ origin }) => origin))
  const secureHosts = new Set(
    panels.filter(({ protocol }) => protocol === 'https:').map(({ host }) => host),
  )
  return async (request: FastifyRequest) => {
    const { origin, 'sec-fetch-site': site, 'x-csrf': mark } = request.headers
    // A form or an image of another site cannot set a header of its own.
    if (mark !== '1') throw failed('forbidden', 'the header X-CSRF is missing')
    if (site !== undefined && site !== 'same-origin') throw foreign()
    if (origin === undefined || !URL.canParse(origin)) throw foreign()
    if (origins.has(origin)) return
    const { host, protocol } = new URL(origin)
    // A page without TLS may be anybody's on the way: it does not stand for one with TLS.
    const isDowngraded = request.protocol === 'https' || secureHosts.has(host)
    if (host !== request.host || (protocol !== 'https:' && isDowngraded)) throw foreign()
  }
}

const foreign = () => failed('forbidden', 'the request comes from another site')

const COOKIE = '__Host-chapar'
const attributes = 'Secure; HttpOnly; SameSite=Strict; Path=/'

const Session = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  user: User,
  base_url: Type.String({ description: 'Where the bot API is for whoever uses this panel' }),
})

const NoBody = Type.Object({}, { additionalProperties: false })

interface PanelSessionOptions {
  readonly accounts: Accounts
  /** At home and abroad, as those of the panel. */
  readonly baseUrls: readonly string[]
  readonly panelUrls: readonly string[]
}

export const panelSessionRoutes: FastifyPluginAsyncTypebox<PanelSessionOptions> = async (
  app,
  { accounts, baseUrls, panelUrls },
) => {
  const addresses = new Map(panelUrls.map((url, place) => [new URL(url).host, baseUrls[place]]))
  // A trial is often looked at by another name than the one it knows of itself.
  const baseUrlOf = ({ host, protocol }: FastifyRequest) =>
    addresses.get(host) ?? `${protocol}://${host}`

  app.addHook('onRequest', refuseOtherSites(panelUrls))
  const hide = true
  const bodyLimit = 4_096

  app.post(
    '/panel/session/login',
    { bodyLimit, schema: { hide, body: LoginBody, response: answers(Session) } },
    async (request, reply) => {
      const { phone, otp, challenge_id } = request.body
      const signedIn = await accounts.login(phone, otp, clientOf(request), challenge_id)
      return opened(request, reply, signedIn, baseUrlOf(request))
    },
  )

  app.post(
    '/panel/session/refresh',
    { bodyLimit, schema: { hide, body: NoBody, response: answers(Session) } },
    async (request, reply) => {
      const token = cookieOf(request)
      if (!token) throw failed('unauthorized', 'nobody is signed in')
      const signedIn = await accounts.refresh(token, clientOf(request))
      return opened(request, reply, signedIn, baseUrlOf(request))
    },
  )

  app.post(
    '/panel/session/logout',
    { bodyLimit, schema: { hide, body: NoBody, response: answers(Type.Literal(true)) } },
    async (request, reply) => {
      const token = cookieOf(request)
      if (token) await accounts.logout(token)
      reply.header('set-cookie', `${COOKIE}=; ${attributes}; Max-Age=0`)
      // Not "storage": it holds the browser's language and colours, and nothing of a user.
      reply.header('clear-site-data', '"cache"')
      return ok(true as const)
    },
  )
}

const clientOf = ({ ip, headers }: FastifyRequest) => ({ ip, userAgent: headers['user-agent'] })

function opened(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn, baseUrl: string) {
  const { user, accessToken, expiresIn, refreshToken } = signedIn
  request.audit.userId = user.id
  reply.header('set-cookie', `${COOKIE}=${refreshToken}; ${attributes}; Max-Age=${IDLE_SECONDS}`)
  return ok({
    access_token: accessToken,
    token_type: 'Bearer' as const,
    expires_in: expiresIn,
    user: presentUser(user),
    base_url: baseUrl,
  })
}

function cookieOf({ headers }: FastifyRequest): string | undefined {
  const pairs = (headers.cookie ?? '').split(/; */)
  return pairs.find((pair) => pair.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) || undefined
}
