/** Serves the panel's pages and assets from memory, as the build left them. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { failed } from '../../machines/model/failure.ts'

interface PanelFile {
  readonly type: string
  readonly plain: Buffer
  readonly br?: Buffer
  readonly gzip?: Buffer
}

/** Where `npm start` builds it. */
export const panelDirectory = join(import.meta.dirname, '..', '..', 'dist', 'panel')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

const suffixes = { '.br': 'br', '.gz': 'gzip' } as const

/** By path with forward slashes; empty when there is no build. */
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

/** Nothing but what this service serves itself, and no markup from strings; web apps of bots only in frames. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
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

/** Names carry the hash of their content. */
const forever = 'public, max-age=31536000, immutable'

interface PanelOptions {
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
