/** The panel: its files, and its session, whose refresh token lies in a cookie that no script can read. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type {
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
} from 'fastify'
import { Type } from 'typebox'
import { failed } from '../../machines/model/failure.ts'
import type { Accounts, SignedIn } from '../accounts/accounts.ts'
import { IDLE_SECONDS } from '../accounts/sessions.ts'
import { Nullable } from '../json/schemas.ts'
import { User } from '../records/account.ts'
import { answers, Done, done, ok } from './envelope.ts'
import { takesEncoding, VERSION } from './headers.ts'
import { LoginBody } from './management/auth.ts'
import { presentUser } from './management/user.ts'

interface PanelFile {
  readonly type: string
  readonly plain: Buffer
  readonly br?: Buffer
  readonly gzip?: Buffer
}

/** The folder in which `npm start` builds the panel. */
export const panelDirectory = join(import.meta.dirname, '..', '..', 'dist', 'panel')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

const suffixes = { '.br': 'br', '.gz': 'gzip' } as const

/** The files by path, with forward slashes; empty without a build. */
export async function readPanel(directory: string): Promise<ReadonlyMap<string, PanelFile>> {
  const files = new Map<string, PanelFile>()
  for (const path of (await pathsIn(directory)).sort()) {
    const content = await readFile(join(directory, path))
    const name = path.split(sep).join('/')
    const ending = extname(name)
    if (ending === '.br' || ending === '.gz') {
      const whole = name.slice(0, -ending.length)
      const file = files.get(whole)
      if (file) files.set(whole, { ...file, [suffixes[ending]]: content })
      continue
    }
    const type = types[ending]
    if (type) files.set(name, { type, plain: content })
  }
  return files
}

async function pathsIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(toNone)
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
}

function toNone(cause: NodeJS.ErrnoException): never[] {
  if (cause.code === 'ENOENT') return []
  throw cause
}

/** Allows only content of this service, no markup from strings, and web apps of bots only in frames. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src blob:',
  "connect-src 'self'",
  "font-src 'self'",
  'frame-src http: https:',
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const pages = ['/login', '/dashboard', '/dashboard/*', '/link/:token']

/** The manifest of the build: the first files, and those that a page or a language needs beside the index. */
interface Preloads {
  readonly first: readonly string[]
  /** By the pattern of the page's address. */
  readonly pages: Readonly<Record<string, readonly string[]>>
  readonly languages: Readonly<Record<string, readonly string[]>>
}

function preloadsIn(files: ReadonlyMap<string, PanelFile>): Preloads {
  const listed = files.get('preloads.json')
  return listed ? JSON.parse(listed.plain.toString()) : { first: [], pages: {}, languages: {} }
}

/** The panel starts in a language that the browser asks for, unless its user has chosen another. */
const languageOf = (accepted = '') => (/(^|,)\s*fa\b/i.test(accepted) ? 'fa' : 'en')

const linkTo = (script: string) => `</${script}>; rel=modulepreload; crossorigin`

/** Names carry the hash of their content. */
const forever = 'public, max-age=31536000, immutable'

interface PanelOptions {
  /** The folder of the build; without a build the pages say so. */
  readonly directory: string
}

export const panelRoutes: FastifyPluginAsync<PanelOptions> = async (app, { directory }) => {
  const files = await readPanel(directory)
  const hidden = { config: { audit: false }, schema: { hide: true } }

  app.get('/', hidden, async (_, reply) => reply.redirect('/dashboard', 302))

  const preloads = preloadsIn(files)
  for (const page of new Set([...pages, ...Object.keys(preloads.pages)])) {
    app.get(page, hidden, async (request, reply) => {
      const index = files.get('index.html')
      if (!index) {
        throw failed('unavailable', 'the panel is not built; npm start builds it', {
          retryAfterSeconds: 60,
        })
      }
      const { 'accept-encoding': encoding, 'accept-language': accepted } = request.headers
      const language = preloads.languages[languageOf(accepted)] ?? []
      const links = [...preloads.first, ...(preloads.pages[page] ?? []), ...language].map(linkTo)
      if (links.length > 0) reply.header('link', links.join(', '))
      reply.header('content-security-policy', policy)
      reply.header('cross-origin-opener-policy', 'same-origin')
      return send(reply, index, encoding)
    })
  }

  app.get<{ Params: { file: string } }>('/assets/:file', hidden, async (request, reply) => {
    const file = files.get(`assets/${request.params.file}`)
    if (!file) throw failed('not_found')
    reply.header('cache-control', forever)
    return send(reply, file, request.headers['accept-encoding'])
  })
}

function send(reply: FastifyReply, file: PanelFile, accepted = '') {
  reply.header('vary', 'accept-encoding')
  const encoding = (['br', 'gzip'] as const).find(
    (name) => file[name] !== undefined && takesEncoding(accepted, name),
  )
  if (encoding) reply.header('content-encoding', encoding)
  return reply.type(file.type).send(encoding ? file[encoding] : file.plain)
}

/** Keeps other sites from using the panel's cookie: the request must come from a page of this one. */
function refuseOtherSites(panelUrls: readonly string[]): onRequestAsyncHookHandler {
  const panels = panelUrls.map((url) => new URL(url))
  const origins = new Set(panels.map(({ origin }) => origin))
  const secureHosts = new Set(
    panels.filter(({ protocol }) => protocol === 'https:').map(({ host }) => host),
  )
  return async (request: FastifyRequest) => {
    const { origin, 'sec-fetch-site': site, 'x-csrf': mark } = request.headers
    // A form or an image of another site cannot set a custom header.
    if (mark !== '1') throw failed('forbidden', 'the header X-CSRF is missing')
    if (site !== undefined && site !== 'same-origin') throw foreign()
    if (origin === undefined || !URL.canParse(origin)) throw foreign()
    if (origins.has(origin)) return
    const { host, protocol } = new URL(origin)
    // A page without TLS may be forged on the way, so it does not count as a page with TLS.
    const isDowngraded = request.protocol === 'https' || secureHosts.has(host)
    if (host !== request.host || (protocol !== 'https:' && isDowngraded)) throw foreign()
  }
}

const foreign = () => failed('forbidden', 'the request comes from another site')

const shared = 'HttpOnly; SameSite=Strict; Path=/'
const cookies = {
  overTls: { name: '__Host-chapar', attributes: `Secure; ${shared}` },
  // WebKit keeps no secure cookie of http://localhost, other browsers do. What it carries stays on this machine.
  onLoopback: { name: 'chapar', attributes: shared },
}

const loopback = /^http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/

/** By the page that asks: `refuseOtherSites` lets none pass without its origin. */
const cookieFor = ({ headers }: FastifyRequest) =>
  loopback.test(headers.origin ?? '') ? cookies.onLoopback : cookies.overTls

const Session = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer(),
  user: User,
  base_url: Type.String({ description: 'Where the bot API is for whoever uses this panel' }),
  version: Type.String(),
})

const NoBody = Type.Object({}, { additionalProperties: false })

interface PanelSessionOptions {
  readonly accounts: Accounts
  /** The addresses of the API, in the order of those of the panel. */
  readonly baseUrls: readonly string[]
  readonly panelUrls: readonly string[]
}

export const panelSessionRoutes: FastifyPluginAsyncTypebox<PanelSessionOptions> = async (
  app,
  { accounts, baseUrls, panelUrls },
) => {
  const addresses = new Map(panelUrls.map((url, place) => [new URL(url).host, baseUrls[place]]))
  // A trial on one machine is often opened by another host name than the configured one.
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
    { bodyLimit, schema: { hide, body: NoBody, response: answers(Nullable(Session)) } },
    async (request, reply) => {
      const token = cookieOf(request)
      // No failure: a page asks each time that it is opened.
      if (!token) return ok(null)
      const signedIn = await accounts.refresh(token, clientOf(request))
      return opened(request, reply, signedIn, baseUrlOf(request))
    },
  )

  app.post(
    '/panel/session/logout',
    { bodyLimit, schema: { hide, body: NoBody, response: answers(Done) } },
    async (request, reply) => {
      const token = cookieOf(request)
      if (token) await accounts.logout(token)
      const { name, attributes } = cookieFor(request)
      reply.header('set-cookie', `${name}=; ${attributes}; Max-Age=0`)
      // Not "storage": it holds the browser's language and colours, and nothing of a user.
      reply.header('clear-site-data', '"cache"')
      return done
    },
  )
}

const clientOf = ({ id, ip, headers }: FastifyRequest) => ({
  ip,
  userAgent: headers['user-agent'],
  requestId: id,
})

function opened(request: FastifyRequest, reply: FastifyReply, signedIn: SignedIn, baseUrl: string) {
  const { user, accessToken, expiresIn, refreshToken } = signedIn
  request.audit.userId = user.id
  const { name, attributes } = cookieFor(request)
  reply.header('set-cookie', `${name}=${refreshToken}; ${attributes}; Max-Age=${IDLE_SECONDS}`)
  return ok({
    access_token: accessToken,
    token_type: 'Bearer' as const,
    expires_in: expiresIn,
    user: presentUser(user),
    base_url: baseUrl,
    version: VERSION,
  })
}

function cookieOf(request: FastifyRequest): string | undefined {
  const { name } = cookieFor(request)
  const pairs = (request.headers.cookie ?? '').split(/; */)
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) || undefined
}
