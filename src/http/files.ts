/** /file/bot<key>/<file_path>: serves the bytes of a file whose path getFile returned, with ranges. */
import type { ServerResponse } from 'node:http'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PassedFile, Session } from '../../actors/ports/platform.ts'
import { failed } from '../../machines/model/failure.ts'
import { FairSemaphore } from '../fair-semaphore.ts'
import type { KeyGate } from '../keys/gate.ts'
import { atMost, type Download, type Downloads } from '../media/downloads.ts'
import { Gathered, giveBackLent } from '../media/give-back.ts'
import { Failed } from './envelope.ts'
import { closeStalled, onClosed } from './gone-signal.ts'
import { openToEveryOrigin } from './headers.ts'
import { ofKey } from './request-log.ts'

const SMALL_BYTES = 1_024

/** Small chunks are joined for a client that is behind: each takes far more memory than its bytes. */
async function* joined(source: AsyncIterable<Buffer>, isBehind: () => boolean) {
  let small = new Gathered()
  let bytes = 0
  for await (const chunk of source) {
    if (bytes === 0 && (chunk.length >= SMALL_BYTES || !isBehind())) {
      yield chunk
      continue
    }
    small.add(chunk)
    bytes += chunk.length
    if (bytes < SMALL_BYTES && isBehind()) continue
    yield Buffer.concat(small.pieces)
    small = new Gathered()
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(small.pieces)
}

/** A file on its way to a client: the memory of each piece is free again as soon as the network has taken it. */
function outgoing(source: Readable, raw: ServerResponse): Readable {
  const waiting: { readonly chunk: Buffer; readonly end: number }[] = []
  let total = 0
  const isBehind = () => stream.readableLength + raw.writableLength > 0
  async function* pieces() {
    for await (const chunk of joined(source, isBehind)) {
      // Bytes that neither this stream nor the response holds were sent.
      const gone = total - stream.readableLength - raw.writableLength
      while (waiting[0] && waiting[0].end <= gone) {
        const piece = waiting.shift()
        if (piece) giveBackLent(piece.chunk)
      }
      total += chunk.length
      waiting.push({ chunk, end: total })
      yield chunk
    }
  }
  const stream: Readable = Readable.from(pieces(), { objectMode: false, highWaterMark: 65_536 })
  return stream.once('close', () => source.destroy())
}

interface Span {
  readonly offset: number
  readonly length: number
}

/**
 * `undefined`: the whole file, also for a malformed header or several ranges; `unsatisfiable`: the range is outside the
 * file.
 */
function rangeOf(header: string | undefined, size: number): Span | undefined | 'unsatisfiable' {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (from === '' && to === '') return undefined
  if (from === '') {
    const length = Math.min(Number(to), size)
    return length === 0 ? 'unsatisfiable' : { offset: size - length, length }
  }
  const offset = Number(from)
  const last = to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== '' && Number(to) < offset) return undefined
  return offset >= size ? 'unsatisfiable' : { offset, length: last - offset + 1 }
}

/** Whether `If-None-Match` names this tag; a weak one counts. */
function isUnchanged(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etag)
}

/** A range is answered only if the client has the beginning of the same bytes. */
const rangeApplies = (ifRange: unknown, etag: string): boolean =>
  ifRange === undefined || ifRange === etag

/**
 * A client may read as slowly as it likes, and holds a connection to the network meanwhile. One user has fewer than go to
 * one host.
 */
const limits = { places: 2_000, placesPerUser: 32, waitingPerUser: 1_000 }

interface FileRoutesOptions {
  readonly gate: KeyGate
  readonly downloads: Pick<Downloads, 'find'>
  readonly passFile: PassFile
  /** The largest file for download. */
  readonly downloadBytes: number
}

interface Route {
  Params: { token: string; '*': string }
}

/** The form of the paths that getFile gives out; other paths do not exist. */
const ISSUED_PATH = /^[a-z_]{1,20}\/file_\d{1,10}(\.[a-z\d]{1,8})?$/

export async function fileRoutes(app: FastifyInstance, options: FileRoutesOptions) {
  const places = new FairSemaphore(limits)
  openToEveryOrigin(app)
  app.route<Route>({
    method: ['GET', 'HEAD'],
    url: '/file/bot:token/*',
    schema: { hide: true },
    handler: (request, reply) => send(request, reply, { ...options, places }),
  })
}

const parameter = (name: string) => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
})
const binary = { schema: { type: 'string', format: 'binary' } }
/** Under the type of the file, where a browser runs nothing of that type. */
const bytes = { 'application/octet-stream': binary, '*/*': binary }
const failure = (description: string) => ({
  description,
  content: { 'application/json': { schema: Failed } },
})

/** For the OpenAPI document, which knows no wildcards. */
export const filePaths = {
  '/file/bot{api_key}/{file_path}': {
    get: {
      operationId: 'downloadFile',
      tags: ['bot api'],
      summary: 'The bytes of a file whose path getFile gave out',
      description: 'Understands single ranges, If-Range and If-None-Match.',
      security: [],
      parameters: [parameter('api_key'), parameter('file_path')],
      responses: {
        200: { description: 'All of it', content: bytes },
        206: { description: 'The range that was asked for', content: bytes },
        304: { description: 'Unchanged' },
        404: failure('No such path, or its time is over'),
        416: failure('Nothing of the range is there'),
        default: failure('It failed'),
      },
    },
  },
}

/** Types that a browser displays without running code. */
const inert =
  /^(image\/(?!svg)[\w.+-]+|(audio|video)\/[\w.+-]+|application\/(pdf|zip|ogg|json|x-tgsticker)|text\/plain)$/

interface Sending extends FileRoutesOptions {
  readonly places: FairSemaphore
}

/** Waits for a place, which is free again once the answer has ended. */
async function takePlace(places: FairSemaphore, userId: number, ended: AbortSignal) {
  if (places.isFull(userId)) throw failed('rate_limited', '', { retryAfterSeconds: 5 })
  const waiting = places.take(userId, ended)
  if (waiting && !(await waiting)) throw failed('unavailable', 'the client has left')
  if (ended.aborted) places.release(userId)
  else ended.addEventListener('abort', () => places.release(userId), { once: true })
}

async function send(
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  { gate, downloads, passFile, downloadBytes, places }: Sending,
) {
  const key = await gate.admit(request.params.token, request.ip, ofKey(request))
  request.audit.method = 'file'
  await key.admit('bot:receive')
  const ended = endOf(reply.raw)
  await takePlace(places, key.facts.userId, ended)
  // From now on the client has to read.
  closeStalled(reply.raw)
  // Some libraries write two slashes before it.
  const path = request.params['*'].replace(/^\/+/, '')
  const passed = await passFile(key.facts.credentialId, path, ...questionOf(request, ended))
  if (passed) return sendPassed(passed, request, reply, downloadBytes)
  const file = ISSUED_PATH.test(path)
    ? await downloads.find(key.facts.credentialId, path)
    : undefined
  if (!file) throw failed('not_found')

  reply.headers({
    etag: file.etag,
    'accept-ranges': 'bytes',
    ...harmless(file.mime, file.name ?? basename(file.path)),
  })
  if (isUnchanged(request.headers['if-none-match'], file.etag)) return reply.code(304).send()
  const { size } = file
  if (size === undefined) {
    if (request.method === 'HEAD') return reply.send()
    return reply.send(await opened(file, reply, ended))
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
  return reply.send(await opened(file, reply, ended, span ?? { offset: 0, length: size }))
}

/** Headers that keep a browser from running anything in a file. */
const harmless = (mime: string | undefined, name: string) => ({
  'cache-control': 'private, no-cache',
  'content-type': inert.test(mime ?? '') ? mime : 'application/octet-stream',
  'content-disposition': disposition(name),
  'content-security-policy': "default-src 'none'; sandbox",
})

const unsatisfiable = { ok: false, error_code: 416, description: 'Range Not Satisfiable' } as const

/** Ends with the connection, so that no file is read for a client that has left. */
async function opened(
  file: Download,
  { raw }: FastifyReply,
  ended: AbortSignal,
  span?: Span,
): Promise<Readable> {
  const stream = await file.open(span?.offset ?? 0, span?.length, ended)
  return outgoing(stream, raw)
}

/** Aborts once the answer has closed. */
function endOf(raw: ServerResponse): AbortSignal {
  const ended = new AbortController()
  onClosed(raw, () => ended.abort())
  return ended.signal
}

/** The file name twice: in ASCII for old clients, and unchanged for others. */
function disposition(name: string): string {
  const plain = name.replace(/[^\w.-]/g, '_')
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}

/** Gets a file from a network that calls are passed on to; undefined on other networks. */
export type PassFile = (
  credentialId: number,
  ...asked: Parameters<NonNullable<Session['passFile']>>
) => Promise<PassedFile | undefined>

/** The question to the network, and the signal that ends it. */
function questionOf({ method, headers }: FastifyRequest, ended: AbortSignal) {
  const names = ['range', 'if-range', 'if-none-match', 'if-modified-since']
  const given = names.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  const request = {
    method: method === 'HEAD' ? ('HEAD' as const) : ('GET' as const),
    headers: Object.fromEntries(given),
  }
  return [request, ended] as const
}

const KEPT = [
  'content-length',
  'content-range',
  // Some servers compress what they were asked to send as it is.
  'content-encoding',
  'accept-ranges',
  'etag',
  'last-modified',
]
const ERROR_BYTES = 65_536

async function sendPassed(
  { status, headers, body }: PassedFile,
  request: FastifyRequest<Route>,
  reply: FastifyReply,
  limit: number,
) {
  if (![200, 206, 304].includes(status)) return sendRefusal({ status, headers, body }, reply)
  if (Number(headers['content-length'] ?? 0) > limit) {
    body.destroy()
    throw failed('bad_request', 'file is too big')
  }
  for (const name of KEPT) if (headers[name] !== undefined) reply.header(name, headers[name])
  const type = headers['content-type']
  const name = basename(request.params['*'])
  reply.code(status).headers(harmless(typeof type === 'string' ? type : undefined, name))
  return reply.send(Readable.from(atMost(limit, body), { objectMode: false }))
}

/** Passes an error of the bot API on unchanged. */
async function sendRefusal({ status, headers, body }: PassedFile, reply: FastifyReply) {
  const pieces: Uint8Array[] = []
  for await (const piece of atMost(ERROR_BYTES, body)) pieces.push(piece)
  const text = Buffer.concat(pieces).toString()
  const refusal = refusalIn(text)
  if (refusal && status < 600) {
    const { retry_after } = refusal.parameters ?? {}
    if (Number.isSafeInteger(retry_after)) reply.header('retry-after', retry_after)
    return reply.code(status).type('application/json').send(text)
  }
  if (status === 404) throw failed('not_found')
  if (status === 416) {
    const size = headers['content-range']
    if (size !== undefined) reply.header('content-range', size)
    return reply.code(416).type('application/json').send(unsatisfiable)
  }
  throw failed('bad_gateway', `the file was answered with ${status}`)
}

interface Refusal {
  readonly parameters?: { readonly retry_after?: number }
}

/** Undefined for what is no envelope of the bot API. */
function refusalIn(text: string): Refusal | undefined {
  try {
    const envelope = JSON.parse(text)
    return envelope.ok === false ? envelope : undefined
  } catch {
    return undefined
  }
}
