/** Requests that never become one: what Node cannot read is answered like everything else, and the line is closed. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError, FastifyBaseLogger, FastifyInstance } from 'fastify'
import { plainFailure } from './failure.ts'
import { requestIds, securityHeaders } from './headers.ts'
import { mayGoOn } from './pace.ts'

/** How long a peer may take to read the answer; a line cut at once would often take it along. */
const LINGER_MS = 1_000

const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  SLOW_UPLOAD: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

const answers = new WeakMap<Socket, ServerResponse>()

/** Remembers what each connection is being sent, since nothing may be written into the middle of it. */
export function followAnswers(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    answers.set(request.raw.socket, reply.raw)
    done()
  })
}

export const answerClientError = (log: FastifyBaseLogger, requestTimeout: number) =>
  function answerError(error: ConnectionError, socket: Socket): void {
    // More bytes after the ones that were unreadable; the answer is on its way.
    if (socket.writableEnded) return
    const answer = answers.get(socket)
    // Node tells of it once for each request.
    const again = () => answerError(Object.assign(error, { code: 'SLOW_UPLOAD' }), socket)
    const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    if (isLate && mayGoOn(answer?.req, requestTimeout, again)) return
    const isMidway = answer?.headersSent === true && !answer.writableFinished
    // What is late or unreadable is the rest of a request that has its answer: a second one would be the next one's.
    const isAnswered = answer?.writableFinished === true && !answer.req.complete
    if (error.code === 'ECONNRESET' || !socket.writable || isMidway || isAnswered) {
      socket.destroy()
      return
    }
    const requestId = requestIds.genReqId()
    // The error itself carries the bytes received, and with them perhaps a key.
    log.debug({ requestId, code: error.code }, 'unreadable request')
    socket.end(rawAnswer(statuses[error.code] ?? 400, requestId))
    const cut = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(cut))
  }

/** An answer for a connection that has no request to reply to. */
export function rawAnswer(status: number, requestId: string): string {
  const body = JSON.stringify(plainFailure(status))
  const headers = {
    ...securityHeaders,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`
}
