/** The writer: numbered events for several accounts, handed over again until they are acknowledged. */
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import {
  byLine,
  type FromPlatform,
  type FromSpool,
  type SpoolEvent,
  textOf,
} from './spool-protocol.ts'

/** Events on their way at most, for each account. */
const WINDOW = 200
/** Acknowledged ones that a new connection is handed all the same: networks do that. */
const REPEATED = 10
const TICK_MS = 5

export interface Account {
  readonly name: string
  readonly events: SpoolEvent[]
  acknowledged: number
  /** The newest event of each chat. */
  readonly chats: Map<string, number>
  connection: { readonly socket: Socket; sent: number; readonly since: number } | undefined
  /** Of the newest owner that connected, and since when. */
  owner: { readonly epoch: number; readonly at: number }
}

/** A send that an owner made after the next one had connected. */
export interface LateSend {
  readonly name: string
  readonly text: string
  readonly afterMs: number
}

export class Spool extends EventEmitter<{ acknowledged: [] }> {
  readonly accounts: readonly Account[]
  /** What the platform said that cannot be true. */
  readonly violations: string[] = []
  readonly lateSends: LateSend[] = []
  sends = 0
  readonly #server: Server
  readonly #isShared: boolean
  readonly #sockets = new Set<Socket>()
  readonly #chats: readonly string[]
  readonly #perTick: number
  #timer: NodeJS.Timeout | undefined

  private constructor(
    accounts: readonly string[],
    chats: readonly string[],
    perSecond: number,
    isShared: boolean,
  ) {
    super()
    this.#isShared = isShared
    this.#chats = chats
    this.#perTick = Math.max(1, Math.round((perSecond * TICK_MS) / 1000))
    this.accounts = accounts.map((name) => ({
      name,
      events: [],
      acknowledged: 0,
      chats: new Map(),
      connection: undefined,
      owner: { epoch: 0, at: 0 },
    }))
    this.#server = createServer((socket) => this.#serve(socket))
  }

  static async open(
    accounts: readonly string[],
    options: {
      readonly chats: readonly string[]
      readonly perSecond: number
      /** An account may be connected twice; the newest connection is told what happens. */
      readonly isShared?: boolean
    },
  ): Promise<Spool> {
    const spool = new Spool(accounts, options.chats, options.perSecond, options.isShared ?? false)
    spool.#server.listen(0, '127.0.0.1')
    await once(spool.#server, 'listening')
    return spool
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get written(): number {
    return this.accounts.reduce((sum, { events }) => sum + events.length, 0)
  }

  get acknowledged(): number {
    return this.accounts.reduce((sum, account) => sum + account.acknowledged, 0)
  }

  /** Whether every account is connected and has had so many events acknowledged since. */
  hasFlowed(events: number): boolean {
    return this.accounts.every(
      ({ acknowledged, connection }) => connection && acknowledged >= connection.since + events,
    )
  }

  /** Events that the other side has answered for. */
  acknowledgedTexts({ events, acknowledged }: Account): string[] {
    return events.slice(0, acknowledged).map(textOf)
  }

  write(): void {
    this.#timer = setInterval(() => {
      for (const account of this.accounts) this.#writeTo(account)
    }, TICK_MS)
  }

  stopWriting(): void {
    clearInterval(this.#timer)
  }

  async close(): Promise<void> {
    this.stopWriting()
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #writeTo(account: Account) {
    for (let count = 0; count < this.#perTick; count++) {
      if (account.events.length - account.acknowledged >= WINDOW) return
      const chat = this.#chats[Math.floor(Math.random() * this.#chats.length)] ?? ''
      const place = (account.chats.get(chat) ?? 0) + 1
      account.chats.set(chat, place)
      account.events.push({ number: account.events.length + 1, chat, place })
      this.#handOver(account)
    }
  }

  #handOver({ events, connection }: Account) {
    if (!connection) return
    const lines = events.slice(connection.sent).map((event) => lineOf({ event }))
    connection.sent = events.length
    if (lines.length > 0) connection.socket.write(lines.join(''))
  }

  #serve(socket: Socket) {
    this.#sockets.add(socket)
    socket.setEncoding('utf8').setNoDelay()
    let account: Account | undefined
    let epoch = 0
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      this.#sockets.delete(socket)
      if (account?.connection?.socket === socket) account.connection = undefined
    })
    socket.on(
      'data',
      byLine((line) => {
        const told = JSON.parse(line) as FromPlatform
        if ('hello' in told) {
          epoch = told.epoch
          account = this.#welcome(socket, told)
        } else if ('send' in told) {
          if (account) this.#note(account, epoch, told.text)
          socket.write(lineOf({ sent: told.send }))
        } else if ('ping' in told) socket.write(lineOf({ pong: told.ping }))
        else if (account) this.#acknowledge(account, told.acknowledged)
      }),
    )
  }

  #welcome(socket: Socket, { hello, stored, epoch }: Extract<FromPlatform, { hello: string }>) {
    const account = this.accounts.find(({ name }) => name === hello)
    if (!account) throw new Error(`nobody is called ${hello}`)
    if (stored < account.acknowledged) {
      const facts = `checkpoint ${stored}, acknowledged ${account.acknowledged}`
      this.violations.push(`${hello} came back behind what it acknowledged: ${facts}`)
    }
    if (epoch > account.owner.epoch) account.owner = { epoch, at: performance.now() }
    if (!this.#isShared) account.connection?.socket.end(lineOf({ replaced: true }))
    const since = account.acknowledged
    account.connection = { socket, since, sent: Math.max(0, since - REPEATED) }
    this.#handOver(account)
    return account
  }

  #note({ name, owner }: Account, epoch: number, text: string) {
    this.sends++
    if (epoch >= owner.epoch) return
    this.lateSends.push({ name, text, afterMs: performance.now() - owner.at })
  }

  #acknowledge(account: Account, number: number) {
    if (number <= account.acknowledged) return
    account.acknowledged = number
    this.emit('acknowledged')
  }
}

const lineOf = (told: FromSpool) => `${JSON.stringify(told)}\n`
