/** Requests whose first lines leave open whom they are meant for, and those that ask for what nobody can give. */
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { rawAnswer } from './client-error.ts'
import { plainFailure } from './failure.ts'
import { requestIds, securityHeaders } from './headers.ts'

/** Two servers that read such a request differently could be played against each other. */
export function refuseUnclearLines(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _, done) => {
    if (raw.url?.startsWith('/') !== true) {
      done(failed('not_found', 'absolute URI is specified in the Request-Line'))
    } else done(refusalOfHost(raw.rawHeaders, raw.httpVersion))
  })
}

/** Node would refuse a request without a Host with an answer of its own, which has no body, and take the first of two. */
function refusalOfHost(rawHeaders: readonly string[], version: string): Error | undefined {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  if (hosts > 1) return failed('bad_request', 'the header Host is there twice')
  if (hosts === 0 && version === '1.1') return failed('bad_request', 'the header Host is missing')
  return undefined
}

/** What Node answers on its own, or cuts without a word, unless somebody listens. */
export function answerForNode({ server }: FastifyInstance): void {
  server.on('checkExpectation', (_: unknown, answer: ServerResponse) => {
    const body = JSON.stringify(plainFailure(417))
    // The body may be on its way or not: only the client knows.
    const framing = { 'content-length': Buffer.byteLength(body), connection: 'close' }
    const type = { 'content-type': 'application/json; charset=utf-8' }
    const id = { 'x-request-id': requestIds.genReqId() }
    answer.writeHead(417, { ...securityHeaders, ...id, ...type, ...framing }).end(body)
  })
  server.on('connect', (_: unknown, socket: Duplex) => {
    // The peer may be gone before it has the answer.
    socket.on('error', () => socket.destroy())
    socket.end(rawAnswer(405, requestIds.genReqId()))
  })
}
