/** A data centre on loopback: listens, agrees on keys, and hands requests to those who answer them. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { Long, type tl } from '@mtcute/core'
import { clock } from './clock.ts'
import { Connection, type Device, type Habits, type Hall } from './connection.ts'
import { type ServerKey, serverKey } from './crypto.ts'
import type { TlObject } from './schema.ts'

export class RpcRefusal extends Error {
  readonly code: number

  constructor(code: number, text: string) {
    super(text)
    this.code = code
  }
}

/** Where a request came from. */
export interface Origin {
  readonly centre: DataCentre
  readonly device: Device
  readonly connection: Connection
}

type Requests = { readonly [Name in tl.RpcMethod['_']]: Extract<tl.RpcMethod, { _: Name }> }
type Awaitable<Value> = Value | Promise<Value>

/** `undefined` as an answer is none at all: it got lost on the way. */
export type Handlers = {
  readonly [Name in tl.RpcMethod['_']]?: (
    request: Requests[Name],
    origin: Origin,
  ) => Awaitable<tl.RpcCallReturn[Name] | undefined>
}

export interface World {
  readonly handlers: Handlers
  /** Stands between a request and those who answer it. */
  between?(name: string, carryOut: () => Promise<unknown>): Promise<unknown>
  readonly habits: Habits
  isCut(userId: number): boolean
  defect(cause: unknown): void
}

type AnyHandler = (request: TlObject, origin: Origin) => Awaitable<unknown>

const WRAPPERS = [
  'invokeWithLayer',
  'initConnection',
  'invokeWithoutUpdates',
  'invokeAfterMsg',
  'invokeAfterMsgs',
]

/** Connections that wait to be accepted: more than a thousand clients may come at once. */
const BACKLOG = 4_096
/** Ids of messages have the seconds in their upper half. */
const SET_BACK = 60n << 32n
/** A connection that was heard so lately is in use. */
const AT_ONCE_MS = 5_000

/** Resolves once the request with this id is carried out; rejects if it is not, or never came. */
async function after({ outcomes }: Device, id: Long): Promise<void> {
  const isDone = outcomes.get(id.toString())
  if (!isDone) throw new RpcRefusal(400, 'MSG_WAIT_TIMEOUT')
  if (!(await isDone)) throw new RpcRefusal(400, 'MSG_WAIT_FAILED')
}

export class DataCentre implements Hall {
  readonly id: number
  readonly serverKey: ServerKey
  readonly devices = new Map<string, Device>()
  readonly connections = new Set<Connection>()
  /** Those that have ended, too. */
  readonly everyConnection: Connection[] = []
  /** The names of all requests, as they came. */
  readonly requests: string[] = []
  readonly #world: World
  /** On which connections somebody has spoken with a device's key. */
  readonly #speaking = new Map<Device, Set<Connection>>()
  #server: Server | undefined
  #port = 0
  #lastMessageId = 0n

  private constructor(id: number, key: ServerKey, world: World) {
    this.id = id
    this.serverKey = key
    this.#world = world
  }

  static async start(id: number, world: World) {
    const centre = new DataCentre(id, await serverKey(), world)
    await centre.listen()
    return centre
  }

  get port(): number {
    return this.#port
  }

  get habits(): Habits {
    return this.#world.habits
  }

  /** Also after a `stop`: on the same port, with the same keys. */
  async listen(): Promise<void> {
    this.#server = createServer({ noDelay: true }, (socket) => {
      const connection = new Connection(socket, this)
      this.connections.add(connection)
      this.everyConnection.push(connection)
      socket.on('close', () => {
        this.connections.delete(connection)
        if (connection.device) this.#speaking.get(connection.device)?.delete(connection)
      })
    })
    this.#server.listen({ port: this.#port, host: '127.0.0.1', backlog: BACKLOG })
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve))
    for (const connection of this.connections) connection.cut()
    await closed
  }

  connectionsOf(userId: number): Connection[] {
    return [...this.connections].filter(({ device }) => device?.userId === userId)
  }

  nextMessageId(kind: number): Long {
    const now = (BigInt(clock.now()) * 4_294_967_296n) / 1000n
    const last = this.#lastMessageId
    const from = now - (now % 4n)
    // A test has set the clock back: the ids say what time it is.
    const isSetBack = last - from > SET_BACK
    const id = (from > last || isSetBack ? from : last - (last % 4n) + 4n) + BigInt(kind)
    this.#lastMessageId = id
    return Long.fromString(id.toString())
  }

  isCut(device: Device): boolean {
    return device.userId !== undefined && this.#world.isCut(device.userId)
  }

  request(connection: Connection, device: Device, wrapped: TlObject, id: Long): Promise<unknown> {
    const result = this.#carryOut(connection, device, wrapped)
    const isDone = result.then((told) => (told as TlObject | undefined)?._ !== 'mt_rpc_error')
    device.outcomes.set(id.toString(), isDone)
    return result
  }

  async #carryOut(connection: Connection, device: Device, wrapped: TlObject): Promise<unknown> {
    let request = wrapped
    let isQuiet = false
    const earlier: Long[] = []
    while (WRAPPERS.includes(request._)) {
      if (request._ === 'invokeAfterMsg') earlier.push(request.msgId as Long)
      if (request._ === 'invokeAfterMsgs') earlier.push(...(request.msgIds as Long[]))
      if (request._ === 'invokeWithoutUpdates') isQuiet = true
      if (request._ === 'initConnection') this.#introduce(connection, device, request)
      request = request.query as TlObject
    }
    this.requests.push(request._)
    // Whoever asks anything else hears what happens.
    if (device.userId && !isQuiet && !request._.startsWith('upload.'))
      connection.wantsUpdates = true
    try {
      if (device.isDuplicated) throw new RpcRefusal(406, 'AUTH_KEY_DUPLICATED')
      const handler = this.#world.handlers[request._ as keyof Handlers] as AnyHandler | undefined
      if (!handler) throw new RpcRefusal(400, `METHOD_UNKNOWN_${request._}`)
      for (const id of earlier) await after(device, id)
      const carryOut = async () => handler(request, { centre: this, device, connection })
      return await (this.#world.between?.(request._, carryOut) ?? carryOut())
    } catch (cause) {
      if (!(cause instanceof RpcRefusal)) this.defect(cause)
      const [errorCode, errorMessage] =
        cause instanceof RpcRefusal ? [cause.code, cause.message] : [500, 'INTERNAL']
      return { _: 'mt_rpc_error', errorCode, errorMessage }
    }
  }

  #introduce(connection: Connection, device: Device, introduction: TlObject) {
    connection.client = Number(introduction.apiId)
    device.introduction = introduction
    this.heard(connection, device)
  }

  /** As the real network does: a key that two clients use at once ends for both. */
  heard(connection: Connection, device: Device) {
    const { client } = connection
    if (client === undefined || device.userId === undefined) return
    const now = performance.now()
    const speaking = this.#speaking.get(device) ?? new Set()
    this.#speaking.set(device, speaking.add(connection))
    const isRival = (other: Connection) => {
      if (other.client === undefined || other.client === client) return false
      // Either it still speaks, or it is the next owner's and this one has come back.
      return now - other.heardAt < AT_ONCE_MS || other.openedAt > connection.openedAt
    }
    if ([...speaking].some(isRival)) device.isDuplicated = true
  }

  defect(cause: unknown) {
    this.#world.defect(cause)
  }
}
