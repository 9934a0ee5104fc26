/** A line between a client and a server that tests can cut, block or silence. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Application data of TLS 1.2 and 1.3, of 32 bytes. */
const UNREADABLE = Buffer.from([23, 3, 3, 0, 32, ...Buffer.alloc(32, 7)])

export class Relay {
  readonly port: number
  readonly #server: Server
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #accepts = true
  #fatal: readonly RegExp[] = []
  #overheard: { readonly asked: string[]; readonly answered: string[] } | undefined

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
  }

  /** Listens on `host`, and leads to a port of this machine. */
  static async start(target: () => number, host = '127.0.0.1'): Promise<Relay> {
    const server = createServer().listen(0, host)
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('No free port')
    const relay = new Relay(server, address.port)
    server.on('connection', (near) => relay.#join(near, target()))
    return relay
  }

  /** All that goes through from now on, by who says it. */
  overhear() {
    this.#overheard = { asked: [], answered: [] }
    return this.#overheard
  }

  /** How many connections lead through it. */
  get connections(): number {
    return this.#pairs.size
  }

  /** Breaks all connections at once. */
  cut() {
    // Not by a reset: a process that has used `resetAndDestroy` may spin for ever when it exits (Node 24.21).
    for (const pair of this.#pairs) this.#drop(pair)
  }

  /** The client gets a record of TLS that the server has not made. */
  breakEncryption() {
    for (const [near] of this.#pairs) near.write(UNREADABLE)
  }

  /** Breaks each connection in the midst of what the server says next, after this many bytes of it. */
  cutWithin(bytes: number) {
    for (const [near, far] of this.#pairs) {
      far.removeAllListeners('data')
      far.once('data', (chunk) => near.end(chunk.subarray(0, bytes), () => this.#drop([near, far])))
    }
  }

  /**
   * The server hears requests that look like these, one after the other on one connection. Nobody hears its answer to the
   * last one: the connection breaks there.
   */
  cutAnswerTo(...requests: readonly RegExp[]) {
    this.#fatal = requests
  }

  /** Whether that request has come. */
  get hasCut(): boolean {
    return this.#fatal.length === 0
  }

  /** Of what the server says on the connections there are, whatever looks like this is lost on the way. */
  swallow(pattern: RegExp) {
    for (const [near, far] of this.#pairs) {
      far.removeAllListeners('data')
      far.on('data', (chunk) => near.write(`${chunk}`.replace(pattern, '')))
    }
  }

  /** On the connections there are, what the server says from this on waits until the returned function is called. */
  holdFrom(words: string): () => void {
    const passed: (() => void)[] = []
    for (const [near, far] of this.#pairs) {
      let held: Buffer | undefined
      const hear = (chunk: Buffer) => {
        this.#overheard?.answered.push(`${chunk}`)
        const at = held ? 0 : chunk.indexOf(words)
        near.write(at < 0 ? chunk : chunk.subarray(0, at))
        if (at >= 0) held = Buffer.concat([held ?? Buffer.alloc(0), chunk.subarray(at)])
      }
      far.removeAllListeners('data').on('data', hear)
      passed.push(() => {
        near.write(held ?? '')
        far.off('data', hear).on('data', (chunk) => near.write(chunk))
      })
    }
    return () => {
      for (const pass of passed) pass()
    }
  }

  /**
   * On the connections there are, the server hears neither a request that looks like this nor any after it. Resolves once
   * it has come.
   */
  loseRequest(pattern: RegExp): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const [near, far] of this.#pairs) {
      let isLost = false
      near.removeAllListeners('data')
      near.on('data', (chunk) => {
        isLost ||= pattern.test(`${chunk}`)
        if (isLost) resolve()
        else far.write(chunk)
      })
    }
    return promise
  }

  /** Refuses new connections until `unblock`. */
  block() {
    this.#accepts = false
  }

  unblock() {
    this.#accepts = true
  }

  /** What the server says arrives only after this time. */
  holdAnswers(milliseconds: number) {
    const held = [...this.#pairs]
    for (const [, far] of held) far.pause()
    const release = setTimeout(() => {
      for (const [, far] of held) far.resume()
    }, milliseconds)
    release.unref()
  }

  /** Connections stay, and nothing of this comes through any more, until `unsilence`. */
  silence(what: 'both' | 'requests' | 'answers' = 'both') {
    for (const [near, far] of this.#pairs) {
      if (what !== 'answers') near.pause()
      if (what !== 'requests') far.pause()
    }
  }

  unsilence() {
    for (const pair of this.#pairs) for (const socket of pair) socket.resume()
  }

  async stop(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #drop([near, far]: readonly [Socket, Socket]) {
    near.destroy()
    far.destroy()
  }

  #join(near: Socket, port: number) {
    // A broken pair is what this is for; the sockets' errors say no more than their close.
    near.on('error', () => undefined)
    if (!this.#accepts) return near.destroy()
    const far = connect(port, '127.0.0.1')
    const pair = [near, far] as const
    // A line does not hold back a small piece until the one before is confirmed.
    for (const socket of pair) socket.setNoDelay(true)
    this.#pairs.add(pair)
    far.on('error', () => undefined)
    let wanted = this.#fatal
    let heard = 0
    near.on('data', (chunk) => {
      this.#overheard?.asked.push(`${chunk}`)
      if (wanted !== this.#fatal) [wanted, heard] = [this.#fatal, 0]
      if (this.#fatal[heard]?.test(`${chunk}`)) heard++
      if (heard > 0 && heard === this.#fatal.length) {
        this.#fatal = []
        far.removeAllListeners('data')
        far.once('data', () => this.#drop(pair))
      }
      far.write(chunk)
    })
    near.on('close', () => far.destroy())
    far.on('data', (chunk) => {
      this.#overheard?.answered.push(`${chunk}`)
      near.write(chunk)
    })
    far.on('close', () => near.destroy())
    near.on('close', () => this.#pairs.delete(pair))
  }
}
