/** /file/bot<key>/<file_path>: the bytes of a file whose path getFile gave out. */
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import type { KeyGate } from '../keys/gate.ts'
import type { Download, Downloads } from '../media/downloads.ts'
import { openToEveryOrigin } from './headers.ts'
import { outgoing } from './outgoing.ts'
import { isUnchanged, rangeApplies, rangeOf, type Span } from './range.ts'
import { ofKey } from './request-log.ts'

export interface FileRoutesOptions {
  readonly gate: KeyGate
  readonly downloads: Pick<Downloads, 'find'>
}

interface Route {
  Params: { token: string; '*': string }
}

/** How long a client may take nothing of what is there for it. */
const STALLED_MS = 60_000

/** The folders and numbers that we give out; whatever else stands there is no path of ours. */
const ours = /^[a-z_]{1,20}\/file_\d{1,10}(\.[a-z\d]{1,8})?$/

export async function fileRoutes(app: FastifyInstance, options: FileRoutesOptions) {
  openToEveryOrigin(app)
  app.route<Route>({
    method: ['GET', 'HEAD'],
    url: '/file/bot:token/*',
    schema: { hide: true },
    handler: (request, reply) => send(request, reply, options),
  })
}

const parameter = (name: string) => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
})
const bytes = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }

/** For the OpenAPI document, which knows no wildcards. */
export const filePaths = {
  '/file/bot{api_key}/{file_path}': {
    get: {
      tags: ['Bot API'],
      summary: 'The bytes of a file whose path getFile gave out',
      description: 'Understands single ranges, If-Range and If-None-Match.',
      parameters: [parameter('api_key'), parameter('file_path')],
      responses: {
        200: { description: 'All of it', content: bytes },
        206: { description: 'The range that was asked for', content: bytes },
        304: { description: 'Unchanged' },
        404: { description: 'No such path, or its time is over' },
        416: { description: 'Nothing of the range is there' },
      },
    },
  },
}

/** Types in which nothing runs, even where a browser shows them. */
const inert =
  /^(image\/(?!svg)[\w.+-]+|(audio|video)\/[\w.+-]+|application\/(pdf|zip|ogg|json|x-tgsticker)|text\/plain)$/

async function send(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  { gate, downloads }: FileRoutesOptions,
) {
  const key = await gate.admit(request.params.token, request.ip, ofKey(request))
  request.audit.method = 'file'
  await key.admit('bot:receive')
  const path = request.params['*']
  const file = ours.test(path) ? await downloads.find(key.facts.credentialId, path) : undefined
  if (!file) throw failed('not_found')

  reply.headers({
    etag: file.etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-type': inert.test(file.mime ?? '') ? file.mime : 'application/octet-stream',
    'content-disposition': disposition(file.name ?? basename(file.path)),
    'content-security-policy': "default-src 'none'; sandbox",
  })
  if (isUnchanged(request.headers['if-none-match'], file.etag)) return reply.code(304).send()
  const { size } = file
  if (size === undefined) {
    if (request.method === 'HEAD') return reply.send()
    return reply.send(await opened(file, reply))
  }
  const mayRange = rangeApplies(request.headers['if-range'], file.etag)
  const span = mayRange ? rangeOf(request.headers.range, size) : undefined
  if (span === 'unsatisfiable') {
    reply.header('content-range', `bytes */${size}`).removeHeader('content-disposition')
    return reply.code(416).type('application/json').send(unsatisfiable)
  }
  if (span) {
    const last = span.offset + span.length - 1
    reply.code(206).header('content-range', `bytes ${span.offset}-${last}/${size}`)
  }
  const { length } = span ?? { length: size }
  reply.header('content-length', length)
  if (request.method === 'HEAD' || length === 0) return reply.send()
  return reply.send(await opened(file, reply, span ?? { offset: 0, length: size }))
}

const unsatisfiable = { ok: false, error_code: 416, description: 'Range Not Satisfiable' } as const

/** Ends with the connection: nobody reads on for a client that has left. */
async function opened(file: Download, { raw }: FastifyReply, span?: Span): Promise<Readable> {
  const gone = new AbortController()
  // Its client may have left while the file was looked up.
  if (raw.destroyed) gone.abort()
  raw.once('close', () => gone.abort())
  raw.setTimeout(STALLED_MS, () => raw.destroy())
  const stream = await file.open(span?.offset ?? 0, span?.length, gone.signal)
  return outgoing(stream, raw)
}

/** Old clients get plain letters, the others the name as it is. */
function disposition(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
