/** A line to a server far away: what is said on it arrives after a time, in each direction, as does the request for a connection. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export class DistantLine {
  readonly port: number
  readonly #server: Server
  readonly #ends = new Set<Socket>()

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
  }

  static async start(target: number, eachWayMs: number): Promise<DistantLine> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('No free port')
    const line = new DistantLine(server, address.port)
    server.on('connection', (near) => line.#join(near, target, eachWayMs))
    return line
  }

  /** Ends all connections, so that the next visit begins with none. */
  hangUp(): void {
    for (const end of this.#ends) end.destroy()
  }

  async stop(): Promise<void> {
    this.hangUp()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(near: Socket, target: number, eachWayMs: number): void {
    const far = connect({ port: target, host: '127.0.0.1', noDelay: true })
    // The kernel has accepted the connection at once; its two messages to and fro are counted with the first bytes.
    const opensAt = performance.now() + 2 * eachWayMs
    carry(near, far, () => Math.max(opensAt, performance.now()) + eachWayMs)
    carry(far, near, () => performance.now() + eachWayMs)
    for (const end of [near, far]) {
      this.#ends.add(end)
      end.on('close', () => this.#ends.delete(end))
    }
  }
}

/** Each piece arrives at its time and after the one before it; so does the end. */
function carry(from: Socket, to: Socket, arrival: () => number): void {
  const later = (work: () => void) => setTimeout(work, arrival() - performance.now())
  from.on('data', (piece) => later(() => to.writable && to.write(piece)))
  from.on('close', () => later(() => to.destroy()))
  // The close that follows says all there is to know.
  from.on('error', () => undefined)
}
