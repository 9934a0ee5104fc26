/** Headers of every answer: the request's id, and protection against misuse by browsers; and the version of the service. */
import { randomFillSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { forwardingOf } from '../nodes/peers.ts'

/** Browser features; none is granted to any origin. */
const features = [
  'accelerometer',
  'camera',
  'geolocation',
  'gyroscope',
  'microphone',
  'payment',
  'usb',
]

/** For answers that do not pass through the hook below: hijacked replies and refusals by the router. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': features.map((feature) => `${feature}=()`).join(', '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

const strictTransport = 'max-age=63072000; includeSubDomains'

/** Runs first of all hooks, so that refusals have the headers too. A route may set its own over them. */
export function setSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!forwardingOf(request.raw)?.completesAnswer) reply.headers(securityHeaders)
    reply.header('x-request-id', request.id)
    if (request.protocol === 'https') reply.header('strict-transport-security', strictTransport)
    done()
  })
}

/** For routes authorized only by a key in the path: pages of any site may read their answers. */
export function openToEveryOrigin(app: FastifyInstance): void {
  app.addHook('onRequest', (_, reply, done) => {
    reply.header('access-control-allow-origin', '*')
    // Else no other page could show a picture at such an address.
    reply.header('cross-origin-resource-policy', 'cross-origin')
    done()
  })
}

const ID_BYTES = 16
const pool = Buffer.alloc(ID_BYTES * 256)
let used = pool.length

/** 128 random bits. The generator is asked once for many ids: it costs a system call. */
function newRequestId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += ID_BYTES
  return pool.toString('base64url', used - ID_BYTES, used)
}

/** Options of the server. An id from the client is ignored: it could repeat, or carry anything into the log. */
export const requestIds = { genReqId: newRequestId, requestIdHeader: false } as const

const file = new URL('../../package.json', import.meta.url)

export const VERSION: string = JSON.parse(readFileSync(file, 'utf8')).version

/** Whether a compressed answer may be sent. With a weight of zero it is refused. */
export const takesEncoding = (accepted: string | undefined, name: string): boolean =>
  (accepted ?? '').split(',').some((one) => {
    const [encoding = '', weight = ''] = one.split(';')
    return encoding.trim().toLowerCase() === name && !/^\s*q=0(\.0*)?\s*$/i.test(weight)
  })
