/** What webhooks are compared with: the same posts over as many connections, by an HTTP client, with or without a database, or by sockets. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Pool } from 'undici'
import { BareBacklog, type Posting, type Storing } from './bare-backlog.ts'
import { answerParent, processor } from './child.ts'
import { now } from './statistics.ts'

const PATH = '/bare'
const HEAD_END = '\r\n\r\n'

answerParent({
  /** Milliseconds that it took. */
  async post({ origin, headers, body, posts, connections }: Posting) {
    const pool = new Pool(origin, { connections, pipelining: 1 })
    const began = now()
    let left = posts
    const loop = async () => {
      while (left-- > 0) {
        const answer = await pool.request({ path: PATH, method: 'POST', headers, body })
        await answer.body.dump()
      }
    }
    await Promise.all(Array.from({ length: connections }, loop))
    const took = now() - began
    await pool.close()
    return took
  },
  /** A backlog of the database, with its progress. */
  store: (storing: Storing) => deliver(storing, false),
  /** The same, and a row of each post. */
  log: (storing: Storing) => deliver(storing, true),
  /** `post` by a writer that knows what is answered: no client can take less. */
  async pour(posting: Posting) {
    const { hostname, port } = new URL(posting.origin)
    const sockets = Array.from({ length: posting.connections }, () =>
      connect(Number(port), hostname),
    )
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const request = textOf(posting)
    const began = now()
    let left = posting.posts
    await Promise.all(sockets.map((socket) => writeAgain(socket, request, () => left-- > 0)))
    const took = now() - began
    for (const socket of sockets) socket.destroy()
    return took
  },
  processor,
  stop: () => undefined,
})

async function deliver(storing: Storing, logs: boolean): Promise<number> {
  const { origin, connections } = storing
  const pool = new Pool(origin, { connections, pipelining: 1 })
  const began = now()
  await new BareBacklog(storing, pool, logs).deliver()
  const took = now() - began
  await pool.close()
  return took
}

function textOf({ origin, headers, body }: Posting): string {
  const all = { host: new URL(origin).host, connection: 'keep-alive', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  const length = `content-length: ${Buffer.byteLength(body)}`
  return [`POST ${PATH} HTTP/1.1`, ...lines, length].join('\r\n') + HEAD_END + body
}

/** The receiver's answers have no body, and come in one piece. */
async function writeAgain(socket: Socket, request: string, isWanted: () => boolean): Promise<void> {
  while (isWanted()) {
    const answered = Promise.withResolvers<void>()
    socket.once('data', (answer) =>
      answer.toString('latin1').endsWith(HEAD_END)
        ? answered.resolve()
        : answered.reject(new Error('an answer is not what was expected')),
    )
    socket.write(request)
    await answered.promise
  }
}
