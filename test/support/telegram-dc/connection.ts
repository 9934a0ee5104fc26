/** One socket of a client: frames, the key exchange, and encrypted messages both ways. */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { gzipSync, unzipSync } from 'node:zlib'
import { Long } from '@mtcute/core'
import { createAesIgeForMessage } from '@mtcute/node/utils.js'
import { provider, type ServerKey, sha256 } from './crypto.ts'
import { type AuthKey, Handshake } from './handshake.ts'
import { Reader } from './reader.ts'
import type { TlObject } from './schema.ts'
import { type Heard, isForTheTransport, objectionTo, serviceAnswer } from './service-answer.ts'
import { Transport } from './transport.ts'
import { Writer, write } from './writer.ts'

/** A key that was agreed on, and what has become of it. */
export interface Device {
  readonly auth: AuthKey
  readonly sessions: Map<string, ServerSession>
  /** Whether each request was carried out, by the id of its message. */
  readonly outcomes: Map<string, Promise<boolean>>
  userId?: number
  /** The code was right and the password is still to come. */
  pendingUserId?: number
  /** Whose other device has scanned its login token: they live in another data centre. */
  scannedBy?: number
  /** What its client says of itself. */
  introduction?: TlObject
  /** Two clients used the key at once: it is worthless from now on. */
  isDuplicated?: true
}

/** What a busy data centre does and a client must bear. */
export interface Habits {
  /** What is to be said at one time goes into one container, together with acknowledgements. */
  packs: boolean
  /** Larger bodies are compressed. */
  zips: boolean
  /** News are told in their shortest form, without the people in them. */
  shortens: boolean
  /**
   * As many salts are given as are asked for. The library then sets a timer of half an hour, which a test would wait for.
   */
  givesSalts: boolean
  /** What goes out instead of this body; `method`: of the request that it answers. Empty: nothing at all. */
  garbles?: ((body: Buffer, method?: string) => readonly Buffer[]) | undefined
  /** What is wrong with a message, whatever it is. */
  objects?: ((heard: Heard) => TlObject | undefined) | undefined
}

export interface Hall {
  readonly serverKey: ServerKey
  readonly devices: Map<string, Device>
  readonly habits: Habits
  nextMessageId(kind: number): Long
  isCut(device: Device): boolean
  /** The client has said something with the key of this device. */
  heard(connection: Connection, device: Device): void
  request(connection: Connection, device: Device, request: TlObject, id: Long): Promise<unknown>
  defect(cause: unknown): void
}

/** Outlives connections: what a client has not acknowledged is told again on its next one. */
export interface ServerSession {
  readonly id: Long
  readonly device: Device
  readonly received: Set<string>
  readonly unacknowledged: Map<string, Buffer>
  sequence: number
  connection: Connection
}

/** A message of the server before it has a number: what it is in answer to is acknowledged by it. */
interface Spoken {
  readonly id: Long
  readonly sequence: number
  readonly body: Buffer
}

const CONTAINER = 0x73f1f8dc
const ZIPPED = 0x3072cfa1
const RESULT = 0xf35c6d01
/** Answers and what the server says of its own accord differ in their message ids. */
export const ANSWER = 1
const NOTICE = 3
/** From this size on compression pays. */
const WORTH_ZIPPING = 512

export class Connection {
  /** Set once the client has asked something: from then on it is told of updates. */
  wantsUpdates = false
  device: Device | undefined
  /** Seconds after which it is to be closed, unless the client pings again by then: as the client has said. */
  closesAfter: number | undefined
  readonly openedAt = performance.now()
  heardAt = performance.now()
  /** The program at the other end, by its number as an application: each node of a test has its own. */
  client: number | undefined
  readonly #socket: Socket
  readonly #hall: Hall
  readonly #handshake: Handshake
  readonly #transport = new Transport()
  #session: ServerSession | undefined
  #isSilent = false
  #waiting: Spoken[] = []
  #seen: Long[] = []

  constructor(socket: Socket, hall: Hall) {
    this.#socket = socket
    this.#hall = hall
    this.#handshake = new Handshake(hall.serverKey)
    socket.on('data', (data) => this.#take(data))
    // A client that goes away is what many tests are about.
    socket.on('error', () => socket.destroy())
  }

  cut() {
    this.#socket.destroy()
  }

  /** The socket stays, and with it the client, who is told of no news until it says something. */
  forget() {
    if (this.#session) this.device?.sessions.delete(this.#session.id.toString())
    this.#session = undefined
  }

  /** Nothing is heard and nothing is said; the socket stays. */
  set silent(isSilent: boolean) {
    this.#isSilent = isSilent
    if (!isSilent) this.#take(Buffer.alloc(0))
  }

  /** Answers of which the client has not said that they came. */
  get unacknowledged(): number {
    return this.#session?.unacknowledged.size ?? 0
  }

  /** How the client frames what it sends. */
  get form(): string | undefined {
    return this.#transport.form
  }

  notify(update: object) {
    const told = this.#packed(write(update))
    for (const body of this.#hall.habits.garbles?.(told) ?? [told]) this.say(body)
  }

  /** Says this as it is, whatever it is. */
  say(body: Buffer) {
    if (this.#session) this.#send(this.#session, body, NOTICE)
  }

  /** Begins a packet that says that it is so many bytes long. */
  begin(length: number) {
    this.#socket.write(this.#transport.beginning(length))
  }

  #take(data: Buffer) {
    this.#transport.take(data)
    if (this.#isSilent) return
    try {
      for (let frame = this.#transport.next(); frame; frame = this.#transport.next()) {
        this.#frame(frame)
      }
    } catch (cause) {
      this.#hall.defect(cause)
      this.cut()
    }
  }

  #frame(frame: Buffer) {
    if (frame.readBigUInt64LE(0) === 0n) return this.#exchange(new Reader(frame.subarray(20)))
    const device = this.#hall.devices.get(frame.subarray(0, 8).toString('hex'))
    if (!device) {
      const unknownKey = Buffer.alloc(4)
      unknownKey.writeInt32LE(-404)
      return this.#write(unknownKey)
    }
    this.device = device
    if (this.#hall.isCut(device)) return this.cut()
    const messageKey = frame.subarray(8, 24)
    const sealed = frame.subarray(24, 24 + Math.floor((frame.length - 24) / 16) * 16)
    const cipher = createAesIgeForMessage(provider, device.auth.key, messageKey, true)
    const plain = Buffer.from(cipher.decrypt(sealed))
    const proof = sha256(device.auth.key.subarray(88, 120), plain).subarray(8, 24)
    if (!proof.equals(messageKey)) throw new Error('the message key is wrong')
    const head = new Reader(plain)
    const salt = head.long()
    const [name, id, sequence, length] = [head.long(), head.long(), head.uint(), head.uint()]
    const session = this.#sessionOf(name, device, id)
    this.heardAt = performance.now()
    this.#hall.heard(this, device)
    const body = plain.subarray(32, 32 + length)
    const heard = { id, sequence, salt, body }
    const objection = this.#hall.habits.objects?.(heard) ?? objectionTo(heard, device.auth.salt)
    if (objection) this.#send(session, write(objection), ANSWER)
    else this.#message(session, id, body)
  }

  #exchange(reader: Reader) {
    const { answer, made } = this.#handshake.answer(reader.object())
    if (made)
      this.#hall.devices.set(made.id, { auth: made, sessions: new Map(), outcomes: new Map() })
    const body = write(answer)
    const id = this.#hall.nextMessageId(ANSWER)
    this.#write(new Writer().long(0).long(id).uint(body.length).raw(body).out())
  }

  /** `firstMsgId`: the message that a new session begins with. */
  #sessionOf(id: Long, device: Device, firstMsgId: Long): ServerSession {
    if (this.#session?.id.eq(id)) return this.#session
    const known = device.sessions.get(id.toString())
    if (known) {
      this.#session = known
      known.connection = this
      const owed = [...known.unacknowledged.values()]
      known.unacknowledged.clear()
      for (const body of owed) this.#send(known, body, ANSWER)
      return known
    }
    const facts = { id, device, received: new Set<string>(), unacknowledged: new Map() }
    const session = { ...facts, sequence: 0, connection: this }
    this.#session = session
    device.sessions.set(id.toString(), session)
    const created = {
      _: 'mt_new_session_created',
      firstMsgId,
      uniqueId: new Long(randomBytes(4).readInt32LE(), 1),
      serverSalt: device.auth.salt,
    }
    this.#send(session, write(created), NOTICE)
    return session
  }

  #message(session: ServerSession, id: Long, body: Buffer): void {
    const reader = new Reader(body)
    const kind = body.readUInt32LE(0)
    if (kind === CONTAINER) {
      reader.uint()
      for (let left = reader.uint(); left > 0; left--) {
        const inner = reader.long()
        reader.uint()
        this.#message(session, inner, reader.raw(reader.uint()))
      }
      return
    }
    if (kind === ZIPPED) {
      reader.uint()
      this.#message(session, id, unzipSync(reader.bytes()))
      return
    }
    const object = reader.object()
    if (object._ === 'mt_msgs_ack') {
      for (const seen of object.msgIds as Long[]) session.unacknowledged.delete(seen.toString())
      return
    }
    if (object._ === 'mt_ping_delay_disconnect') this.closesAfter = Number(object.disconnectDelay)
    const answer = serviceAnswer(object, id, session, this.#hall.habits.givesSalts)
    if (answer === undefined) this.#rpc(session, id, object)
    else if (answer) this.#send(session, write(answer), ANSWER)
  }

  #rpc(session: ServerSession, id: Long, object: TlObject) {
    if (session.received.has(id.toString())) return
    session.received.add(id.toString())
    this.#seen.push(id)
    this.#hall
      .request(this, session.device, object, id)
      .then((result) => {
        if (result === undefined) return
        const told = this.#packed(write(result))
        const bodies = this.#hall.habits.garbles?.(told, methodOf(object)) ?? [told]
        for (const one of bodies) {
          const body = new Writer().uint(RESULT).long(id).raw(one).out()
          session.connection.#send(session, body, ANSWER)
        }
      })
      .catch((cause) => this.#hall.defect(cause))
  }

  #packed(body: Buffer): Buffer {
    if (!this.#hall.habits.zips || body.length < WORTH_ZIPPING) return body
    return new Writer().uint(ZIPPED).bytes(gzipSync(body)).out()
  }

  #send(session: ServerSession, body: Buffer, kind: number) {
    const id = this.#hall.nextMessageId(kind)
    const isContent = !isForTheTransport(body)
    if (kind === ANSWER && isContent) session.unacknowledged.set(id.toString(), body)
    if (this.#isSilent) return
    const sequence = session.sequence * 2 + (isContent ? 1 : 0)
    if (isContent) session.sequence += 1
    const spoken = { id, sequence, body }
    if (!this.#hall.habits.packs) return this.#seal(session, spoken)
    this.#waiting.push(spoken)
    if (this.#waiting.length === 1) setImmediate(() => this.#pack(session))
  }

  /** One message as it is, several in a container. */
  #pack(session: ServerSession) {
    const waiting = this.#waiting.splice(0)
    const msgIds = this.#seen.splice(0)
    if (msgIds.length > 0) {
      const body = write({ _: 'mt_msgs_ack', msgIds })
      const id = this.#hall.nextMessageId(ANSWER)
      waiting.push({ id, sequence: session.sequence * 2, body })
    }
    const [first] = waiting
    if (!first || this.#isSilent) return
    if (waiting.length === 1) return this.#seal(session, first)
    const container = new Writer().uint(CONTAINER).uint(waiting.length)
    for (const { id, sequence, body } of waiting) {
      container.long(id).uint(sequence).uint(body.length).raw(body)
    }
    const id = this.#hall.nextMessageId(ANSWER)
    this.#seal(session, { id, sequence: session.sequence * 2, body: container.out() })
  }

  #seal({ id: session, device: { auth } }: ServerSession, { id, sequence, body }: Spoken) {
    const head = new Writer().long(auth.salt).long(session).long(id)
    const plain = head.uint(sequence).uint(body.length).raw(body).out()
    const padding = 12 + ((16 - ((plain.length + 12) % 16)) % 16)
    const padded = Buffer.concat([plain, randomBytes(padding)])
    const messageKey = sha256(auth.key.subarray(96, 128), padded).subarray(8, 24)
    const cipher = createAesIgeForMessage(provider, auth.key, messageKey, false)
    this.#write(Buffer.concat([Buffer.from(auth.id, 'hex'), messageKey, cipher.encrypt(padded)]))
  }

  #write(frame: Uint8Array) {
    if (!this.#socket.destroyed) this.#socket.write(this.#transport.frame(frame))
  }
}

function methodOf(request: TlObject): string {
  const { query } = request
  return query === undefined ? request._ : methodOf(query as TlObject)
}
