/** The panel's pages and their assets, as the build left them: /login, /dashboard, /link and below. */
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { type PanelFile, readPanel } from './panel-files.ts'

/** Nothing but what this service serves itself, and no markup from strings. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "object-src 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const pages = ['/login', '/dashboard', '/dashboard/*', '/link/:token']

/** Names carry the hash of their content. */
const forever = 'public, max-age=31536000, immutable'

export interface PanelOptions {
  /** Where the build lies; without one the pages say so. */
  readonly directory: string
}

export const panelRoutes: FastifyPluginAsync<PanelOptions> = async (app, { directory }) => {
  const files = await readPanel(directory)
  const hidden = { config: { audit: false }, schema: { hide: true } }

  app.get('/', hidden, async (_, reply) => reply.redirect('/dashboard', 302))

  for (const page of pages) {
    app.get(page, hidden, async (request, reply) => {
      const index = files.get('index.html')
      if (!index) {
        throw failed('unavailable', 'the panel is not built; npm start builds it', {
          retryAfterSeconds: 60,
        })
      }
      reply.header('content-security-policy', policy)
      reply.header('cross-origin-opener-policy', 'same-origin')
      return send(reply, index, request.headers['accept-encoding'])
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
    (name) => file[name] !== undefined && new RegExp(`\\b${name}\\b`).test(accepted),
  )
  if (encoding) reply.header('content-encoding', encoding)
  return reply.type(file.type).send(encoding ? file[encoding] : file.plain)
}
