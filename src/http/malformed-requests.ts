/** Refuses requests that Node.js cannot parse, that are ambiguous or too slow, and bodies that are malformed or never end. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ConnectionError, FastifyBaseLogger, FastifyInstance } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { isDeeperThan } from '../json/spans.ts'
import { mayHaveFiles } from './bot/parameters.ts'
import { isReplaced, readEscaped } from './connections.ts'
import { plainFailure, rawAnswer } from './failure.ts'
import { onClosed } from './gone-signal.ts'
import { requestIds, securityHeaders } from './headers.ts'

/** Bounds for reading away the rest of a body after the answer: it stands in front of the connection's next request. */
interface LeftoverLimits {
  readonly leftoverBytes: number
  readonly leftoverTimeout: number
}

export const usualLeftovers: LeftoverLimits = {
  leftoverBytes: 64 * 2 ** 20,
  leftoverTimeout: 10_000,
}

const LOOK_MS = 100

/**
 * A proxy sends the requests of many users over one connection. Node reads away only bodies of which no byte was
 * read; one that was given up half-way stays in front of the next request. The connection is closed when the rest is
 * too long: not at once, since a client that is still sending would lose the answer with it.
 */
export function drainLeftovers(app: FastifyInstance, limits: LeftoverLimits): void {
  // Nearly every body is here before its answer.
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (!raw.complete) {
      if (mayHaveBody(raw)) reply.raw.once('finish', () => drain(raw, limits))
      // Fastify closes the connection where it could not read a body: with bytes in transit, that would lose the answer.
      if (reply.hasHeader('connection')) reply.removeHeader('connection')
    }
    done(null, payload)
  })
}

const mayHaveBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** Requests that tests inject have no connection, so `complete` is not enough. */
const isOver = ({ complete, readableEnded, destroyed }: IncomingMessage): boolean =>
  complete || readableEnded || destroyed

/** Of a request that has its answer. */
export function drain(request: IncomingMessage, limits = usualLeftovers): void {
  if (isOver(request)) return
  const { socket } = request
  const [bytesBefore, startedAt] = [socket.bytesRead, performance.now()]
  // Node shows no handler the bytes that it reads away, but the connection counts them.
  const look = setInterval(() => {
    const isTooLong = socket.bytesRead - bytesBefore > limits.leftoverBytes
    const isLate = performance.now() - startedAt > limits.leftoverTimeout
    if (isOver(request) || socket.destroyed) clearInterval(look)
    // Ends the connection, too.
    else if (isTooLong || isLate) request.destroy()
  }, LOOK_MS)
  discardRest(request)
}

/** Lets the rest of a body come although its reader has given up. */
export function discardRest(request: IncomingMessage): void {
  request.unpipe()
  request.removeAllListeners('data')
  // A reader that asks for each piece keeps the stream from flowing. Without one, this would stop a stream that flows.
  if (request.listenerCount('readable') > 0) request.removeAllListeners('readable')
  request.resume()
}

const DEPTH = 32
const MEMBERS = 1_000
const ITEMS = 10_000

/** Replaces Fastify's parser, and keeps its refusal of members that would reach a prototype. */
export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  const options = { parseAs: 'string' as const }
  app.addContentTypeParser('application/json', options, (request, body: string, done) => {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding.toLowerCase() !== 'identity') {
      done(Object.assign(new Error('the body is compressed'), { statusCode: 415 }))
    } else if (body.trim() === '') done(null, undefined)
    else if (isDeeperThan(body, DEPTH)) done(refusal('the JSON is nested too deeply'))
    else {
      parse(request, body, (error, value) => {
        if (error) done(refusal('it is not valid JSON'))
        else if (isTooWide(value)) done(refusal('the JSON has too many members'))
        else done(null, value)
      })
    }
  })
}

/** Some clients send a content type without a body, or a form without fields. */
export function forgetTypeOfNothing(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw, routeOptions }, _, done) => {
    // Bot calls take forms.
    const isCall = routeOptions.url?.startsWith('/bot') ?? false
    if (raw.headers['content-length'] === '0' && !isCall) delete raw.headers['content-type']
    done()
  })
}

const refusal = (why: string) => failed('bad_request', `can't parse the request body: ${why}`)

function isTooWide(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const members = Object.values(value)
  if (members.length > (Array.isArray(value) ? ITEMS : MEMBERS)) return true
  return members.some(isTooWide)
}

/** Refuses requests that a proxy and this server could read differently (request smuggling). */
export function refuseUnclearLines(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const refusal = refusalOfHead(raw)
    if (refusal && 'statusCode' in refusal) {
      reply.raw.shouldKeepAlive = false
      done(refusal)
    } else if (raw.url?.startsWith('/') !== true) {
      done(failed('not_found', 'absolute URI is specified in the Request-Line'))
    } else done(refusal)
  })
}

/** The versions that the reference takes. Node takes HTTP/0.9 and HTTP/2.0, too. */
const VERSIONS: readonly string[] = ['1.1', '1.0']

/** A host and a port as RFC 3986 writes them; both may be missing. */
const HOST = /^(?:\[[\w:.~!$&'()*+,;=%-]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

/** Node would answer a request without a Host on its own, without a body, and take the first of two, and one that is none. */
export function refusalOfHead({
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>): Error | undefined {
  if (!VERSIONS.includes(httpVersion))
    return Object.assign(new Error('unknown version of HTTP'), { statusCode: 505 })
  let host: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (host !== undefined) return failed('bad_request', 'the header Host is there twice')
    host = rawHeaders[at + 1] ?? ''
  }
  if (host === undefined && httpVersion === '1.1')
    return failed('bad_request', 'the header Host is missing')
  return HOST.test(host ?? '') ? undefined : failed('bad_request', 'the header Host names no host')
}

/** Answers malformed requests, which Node would answer on its own or cut without an answer. */
export function answerForNode({ server }: Pick<FastifyInstance, 'server'>): void {
  server.on('checkExpectation', (_: unknown, answer: ServerResponse) => {
    const body = JSON.stringify(plainFailure(417))
    // Whether a body follows is not known.
    const framing = { 'content-length': Buffer.byteLength(body), connection: 'close' }
    const type = { 'content-type': 'application/json; charset=utf-8' }
    const id = { 'x-request-id': requestIds.genReqId() }
    answer.writeHead(417, { ...securityHeaders, ...id, ...type, ...framing }).end(body)
  })
  server.on('connect', (_: unknown, socket: Duplex) => {
    // The client may leave before it has the answer.
    socket.on('error', () => socket.destroy())
    socket.end(rawAnswer(405, requestIds.genReqId()))
  })
}

/** Uploads may take longer than other requests, as long as they keep coming. */
export const LEAST_BYTES_PER_SECOND = 10_000

/** Only the bot API takes files; every other body is short. */
const isUpload = ({ url = '', headers, complete }: IncomingMessage): boolean =>
  !complete && url.startsWith('/bot') && mayHaveFiles(headers)

/**
 * Whether the request has run out of time. If not, it is checked again after each `windowMs`, and `onSlow` is called
 * once too few bytes have arrived.
 */
function mayGoOn(
  request: IncomingMessage | undefined,
  windowMs: number,
  onSlow: () => void,
): boolean {
  if (!request || !isUpload(request)) return false
  const { socket } = request
  const least = (LEAST_BYTES_PER_SECOND * windowMs) / 1_000
  let seen = socket.bytesRead
  const look = setInterval(() => {
    const came = socket.bytesRead - seen
    seen = socket.bytesRead
    if (!request.complete && came >= least) return
    clearInterval(look)
    if (!request.complete) onSlow()
  }, windowMs)
  socket.once('close', () => clearInterval(look))
  return true
}

/** How long a peer may take to read the answer; a connection that is closed at once often loses it. */
const LINGER_MS = 1_000

function endSoon(socket: Socket): void {
  socket.end()
  const cut = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(cut))
}

const statuses: Readonly<Record<string, number>> = {
  SLOW_REQUEST: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_INVALID_VERSION: 505,
  HPE_PAUSED_H2_UPGRADE: 505,
}

/** The parser has one code for another version, and for a known one after which a line feed alone ends the line. */
function statusOf({ code, rawPacket, bytesParsed }: ConnectionError): number {
  const last = (rawPacket as unknown as Buffer | undefined)?.[bytesParsed - 1]
  if (code === 'HPE_INVALID_VERSION' && last === LINE_FEED) return 400
  return statuses[code] ?? 400
}

const LINE_FEED = 0x0a

const ANSWER = Symbol('answer')

type Answering = Socket & { [ANSWER]?: ServerResponse }

const answerOn = (socket: Answering): ServerResponse | undefined => socket[ANSWER]

/** Remembers the answer in progress on each connection, because nothing may be written into the middle of it, at whatever node. */
export function followAnswers(server: Server): void {
  const follow = ({ socket }: { socket: Answering }, response: ServerResponse) => {
    socket[ANSWER] = response
    if (!response.socket) closeWith(socket, response)
  }
  server.prependListener('request', follow)
}

/** Node.js tells an answer that its connection has closed, but not those that wait behind it for their turn. */
function closeWith(socket: Duplex, response: ServerResponse): void {
  const close = () => {
    if (response.destroyed) return
    // Marked as Node.js marks the others, so that none is told twice.
    Object.assign(response, { destroyed: true, _closed: true })
    response.emit('close')
  }
  // A client may send any number at once.
  socket.setMaxListeners(0).once('close', close)
  onClosed(response, () => socket.off('close', close))
}

/** Time for the rest of a request whose beginning was found late. */
const REST_MS = 1_000

/**
 * A process that stood still looks at its clock before it reads: a request that lies whole in the socket counts as
 * late. Calls back for one of which nothing more is there, or not all of it within a while.
 */
function unlessUnread(socket: Socket, onLate: () => void): void {
  const seen = socket.bytesRead
  const last = answerOn(socket)
  const isWithoutHead = last?.req.complete !== false
  const isWhole = () => {
    const present = answerOn(socket)
    return present?.req.complete === true && !(isWithoutHead && present === last)
  }
  setImmediate(() => {
    if (socket.bytesRead === seen) return onLate()
    const rest = setTimeout(() => !isWhole() && onLate(), REST_MS)
    socket.once('close', () => clearTimeout(rest))
  })
}

/** Connections that end with the answer under way. */
const ending = new WeakSet<Duplex>()

export const answerClientError = (logger: FastifyBaseLogger, requestTimeout: number) =>
  function answerError(
    this: Pick<FastifyInstance, 'server'>,
    error: ConnectionError,
    socket: Socket,
  ): void {
    // More bytes after the ones that were unreadable; the answer is on its way, or about to be.
    if (socket.writableEnded || isReplaced(socket) || ending.has(socket)) return
    const answer = answerOn(socket)
    // Its answer would be taken for that to a request before it, which still waits.
    if (answer?.writableFinished !== false && readEscaped(this.server, error, socket)) return
    // Node reports it once for each request.
    const refuse = () =>
      answerError.call(this, Object.assign(error, { code: 'SLOW_REQUEST' }), socket)
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      unlessUnread(socket, () => {
        if (!mayGoOn(answerOn(socket)?.req, requestTimeout, refuse)) refuse()
      })
      return
    }
    const isUnderWay = answer?.writableFinished === false
    // It waits behind the answers to earlier requests, as which the client would take a refusal.
    if (isUnderWay && !answer.socket && socket.writable && error.code !== 'ECONNRESET') {
      ending.add(socket)
      answer.once('socket', () => {
        ending.delete(socket)
        answerError.call(this, error, socket)
      })
      return
    }
    const isWhole = answer?.writableEnded === true && answer.req.complete
    const isMidway = isUnderWay && answer.headersSent && !isWhole
    // What is late or unreadable belongs to an answered request: a second answer would be taken for that to the next one.
    const isAnswered = answer?.writableFinished === true && !answer.req.complete
    const isLost = error.code === 'ECONNRESET' || !socket.writable
    if (isLost || isMidway || isAnswered) return void socket.destroy()
    if (isUnderWay && answer.req.complete) {
      // The client would take a refusal for the answer to that request, and might make it anew.
      ending.add(socket)
      answer.once('finish', () => endSoon(socket))
      return
    }
    const requestId = requestIds.genReqId()
    // The error itself carries the bytes received, and with them perhaps a key.
    logger.debug({ requestId, code: error.code }, 'unreadable request')
    socket.write(rawAnswer(statusOf(error), requestId))
    endSoon(socket)
  }
