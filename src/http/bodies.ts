/** Request bodies: JSON ones are parsed to a bounded depth, and the unread rest of any body is read away. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { isDeeperThan } from '../json/depth.ts'

/** Bounds for reading away the rest of a body after the answer: it stands in front of the connection's next request. */
interface LeftoverLimits {
  readonly leftoverBytes: number
  readonly leftoverTimeout: number
}

const LOOK_MS = 100

/**
 * A proxy sends the requests of many users over one connection. Node reads away only bodies of which no byte was
 * read; one that was given up half-way stays in front of the next request. The connection is closed when the rest is
 * too long: not at once, since a client that is still sending would lose the answer with it.
 */
export function drainLeftovers(app: FastifyInstance, limits: LeftoverLimits): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (mayHaveBody(raw)) reply.raw.once('finish', () => drain(raw, limits))
    done()
  })
  // Fastify says that the connection ends where it could not read a body: with bytes on their way, the end takes the
  // answer along.
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (!raw.complete && reply.hasHeader('connection')) reply.removeHeader('connection')
    done(null, payload)
  })
}

const mayHaveBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'

/** `complete` alone is unknown to requests that come over no connection, as tests inject them. */
const isOver = ({ complete, readableEnded, destroyed }: IncomingMessage): boolean =>
  complete || readableEnded || destroyed

function drain(request: IncomingMessage, limits: LeftoverLimits): void {
  if (isOver(request)) return
  const { socket } = request
  const [bytesBefore, startedAt] = [socket.bytesRead, performance.now()]
  // Node shows no handler the bytes that it reads away, but the connection counts them.
  const look = setInterval(() => {
    const isTooLong = socket.bytesRead - bytesBefore > limits.leftoverBytes
    const isLate = performance.now() - startedAt > limits.leftoverTimeout
    if (isOver(request) || socket.destroyed) clearInterval(look)
    // And the connection with it.
    else if (isTooLong || isLate) request.destroy()
  }, LOOK_MS)
  request.unpipe()
  request.removeAllListeners('data')
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

/** Some clients name a type even for nothing, and a form of no fields at that. */
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
