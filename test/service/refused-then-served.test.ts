/** Whoever is refused leaves the connection as it was: the next request on it, perhaps of somebody else, is served. */
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { hasNginx, startNginx } from '../support/nginx.ts'
import { scene } from './scene.ts'

const { service, client, key, credentialId } = await scene(t, {
  env: {
    TRUST_PROXY: '127.0.0.1',
    WRONG_KEYS_PER_MINUTE: '1000000',
    WRONG_KEYS_PER_HOUR: '1000000',
  },
})
const servicePort = Number(new URL(service.url).port)

/** Less than the service gives a rest that is not read away, so that each such rest is seen. */
const WITHIN_MS = 8_000
const SHOWN = 20
const LANES = 8
const boundary = 'boundary-of-parts'

const paths = [
  `/bot${key}/sendMessage`,
  `/bot${key}/getUpdates?timeout=0`,
  `/bot${key}/sendDocument`,
  `/bot${key}/noSuchMethod`,
  '/bot123456:wrong/sendMessage',
  `/file/bot${key}/photos/file_99.jpg`,
  '/api_keys',
  `/platforms/credentials/${credentialId}/settings`,
  '/auth/login',
  '/health/live',
  '/nothing/here',
]
const verbs = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const types: readonly string[][] = [
  ['content-type: application/json'],
  ['content-type: application/x-www-form-urlencoded'],
  [`content-type: multipart/form-data; boundary=${boundary}`],
  ['content-type: multipart/form-data'],
  ['content-type: multipart/form-data; boundary='],
  ['content-type: text/plain'],
  ['content-type: \\;;=,'],
  ['content-type: application/json', 'content-encoding: gzip'],
  [`content-type: multipart/form-data; boundary=${boundary}`, 'content-encoding: br'],
  [],
]

const filling = Buffer.alloc(200_000, 'x')
const part = (head: string) => `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`
const bodies: Readonly<Record<string, Buffer>> = {
  small: Buffer.from('{"a":1}'),
  long: filling,
  'longer than is read': Buffer.alloc(1_300_000, 'x'),
  'a file and no end': Buffer.concat([Buffer.from(part('name="document"; filename="a"')), filling]),
  'a field and no end': Buffer.concat([Buffer.from(part('name="text"')), filling]),
  'JSON cut off': Buffer.concat([Buffer.from('{"text":"'), filling]),
}

interface Refused {
  readonly name: string
  readonly bytes: Buffer
  readonly isHead: boolean
}

function* table(): IterableIterator<Refused> {
  for (const path of paths) {
    for (const verb of verbs) {
      for (const type of types) {
        for (const [shape, body] of Object.entries(bodies)) {
          for (const isChunked of [false, true]) {
            const name = [verb, path, type.join('; '), shape, isChunked && 'chunked'].join(' | ')
            yield {
              name,
              bytes: written(verb, path, type, body, isChunked),
              isHead: verb === 'HEAD',
            }
          }
        }
      }
    }
  }
}

function written(
  verb: string,
  path: string,
  type: readonly string[],
  body: Buffer,
  isChunked: boolean,
) {
  const framing = isChunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`
  const lines = [`${verb} ${path} HTTP/1.1`, 'host: chapar.test', ...type, framing]
  const authorization = `authorization: Bearer ${client.token}`
  const head = Buffer.from(`${[...lines, authorization].join('\r\n')}\r\n\r\n`)
  if (!isChunked) return Buffer.concat([head, body])
  const size = Buffer.from(`${body.length.toString(16)}\r\n`)
  return Buffer.concat([head, size, body, Buffer.from('\r\n0\r\n\r\n')])
}

const next = Buffer.from('GET /health/live HTTP/1.1\r\nhost: chapar.test\r\n\r\n')

/** One connection after the other, each for as long as it lasts. */
class Line {
  readonly #port: number
  #socket: Socket | undefined

  constructor(port: number) {
    this.#port = port
  }

  get isOpen(): boolean {
    return this.#socket?.destroyed === false && this.#socket.readable
  }

  /** The status, `closed` or `late`. All of `bytes` is sent, whenever the answer comes. */
  async send(bytes: Buffer, isHead = false): Promise<number | 'closed' | 'late'> {
    const socket = this.isOpen ? this.#socket! : this.#open()
    this.#socket = socket
    const { promise, resolve } = Promise.withResolvers<number | 'closed' | 'late'>()
    const timer = setTimeout(() => resolve('late'), WITHIN_MS)
    const closed = () => resolve('closed')
    let received = Buffer.alloc(0)
    let isSent = false
    const look = (chunk: Buffer = Buffer.alloc(0)) => {
      received = Buffer.concat([received, chunk])
      const status = statusOf(received, isHead)
      if (status !== undefined && isSent) resolve(status)
    }
    socket.on('data', look).once('close', closed)
    socket.write(bytes, () => {
      isSent = true
      look()
    })
    const status = await promise
    clearTimeout(timer)
    socket.off('data', look).off('close', closed)
    // The thousandth answer says that the connection ends, and leaves it to the client to end it.
    if (typeof status !== 'number' || /^connection: close/im.test(`${received}`)) socket.destroy()
    return status
  }

  #open(): Socket {
    const socket = connect(this.#port, '127.0.0.1').setNoDelay()
    return socket.on('error', () => undefined)
  }

  close(): void {
    this.#socket?.destroy()
  }
}

function statusOf(received: Buffer, isHead: boolean): number | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = received.subarray(0, end).toString('latin1')
  const status = Number(head.split(' ')[1])
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
  const isWhole = isHead || status === 204 || received.length >= end + 4 + length
  return isWhole ? status : undefined
}

/** Each pair of the table once; `after` says how the second request goes on its way. */
async function walk(t: Test, port: number, share: number, sameConnection: boolean) {
  const waiting = [...table()].filter((_, n) => n % share === 0)
  const [total, wrong] = [waiting.length, [] as string[]]
  let closed = 0
  const lane = async () => {
    const line = new Line(port)
    // What is wrong everywhere is told at once, and not by the time limit.
    for (let pair = waiting.pop(); pair && wrong.length < SHOWN; pair = waiting.pop()) {
      const first = await line.send(pair.bytes, pair.isHead)
      if (typeof first !== 'number') wrong.push(`${pair.name}: ${first} without an answer`)
      else if (first >= 500) wrong.push(`${pair.name}: ${first}`)
      if (!line.isOpen) closed++
      const other = sameConnection ? line : new Line(port)
      // A connection may end instead, and is opened again.
      let second = await other.send(next)
      if (second === 'closed') second = await other.send(next)
      if (second !== 200) wrong.push(`${pair.name}: ${first}, and then ${second}`)
      if (!sameConnection) other.close()
    }
    line.close()
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  t.strictSame(wrong.slice(0, SHOWN), [], `${total} pairs, ${wrong.length} wrong, ${closed} closed`)
}

const patient = { timeout: 240_000 }
t.setTimeout(500_000)

t.test('bare', patient, (t) => walk(t, servicePort, 1, true))

for (const buffering of ['on', 'off'] as const) {
  t.test(
    `through nginx with request buffering ${buffering}`,
    { ...patient, skip: !hasNginx && 'there is no nginx' },
    async (t) => walk(t, await startNginx(t, servicePort, buffering), 13, false),
  )
}
