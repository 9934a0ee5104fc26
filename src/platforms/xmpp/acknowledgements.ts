/** Acknowledgements both ways (XEP-0198): to the server of all stanzas handled, without a gap, and from it of those sent. */
import type { Socket } from 'node:net'
import { type Client, type Element, type StreamManagement, xml } from '@xmpp/client'
import { permitted, type WritePermit } from '../../../actors/ports/platform.ts'
import { BrokenWrite } from './failures.ts'
import { ns } from './namespaces.ts'
import { answerTo, isQuestion } from './requests.ts'

const counted: ReadonlySet<string> = new Set(['iq', 'message', 'presence'])
const spared: ReadonlySet<string> = new Set(['message', 'presence', 'r'])
/** A server gives a stream up whose peer does not answer at all. */
const LATEST_ANSWER_MS = 1_000

/** A server may be far away, and those who send wait. */
const LATEST_QUESTION_MS = 20

/**
 * A server may ask without end, and read or acknowledge nothing. Of what it has not acknowledged at most so many stanzas are
 * kept, and of what it has not read about so many bytes; who sends more has to wait.
 */
const MOST_UNACKNOWLEDGED = 1_000
const MOST_UNREAD_BYTES = 32 * 2 ** 20

/** A login takes three streams at most. With each offer more the library would begin another login beside it. */
const MOST_OFFERS = 5

/** What the library needs for a login. A connection has one, and would hold it for as long as it lives. */
const ofLogin = Object.fromEntries(
  ['reconnect', 'tcp', 'tls', 'websocket', 'resolve', 'middleware', 'streamFeatures', 'starttls']
    .concat(['iqCaller', 'iqCallee', 'resourceBinding', 'bind2', 'sasl', 'sasl2', 'fast'])
    .concat(['saslFactory', 'mechanisms', 'transports', 'jid', 'root'])
    .map((part) => [part, undefined]),
)

/**
 * The library would take each message and each presence through the list of all that it can do, and parse its addresses once more.
 * After the login it does nothing any more.
 */
export function pastLibrary(client: Client): void {
  const { streamManagement } = client
  let offers = 0
  client.prependListener('element', (element: Element) => {
    if (!element.is('features', ns.streams)) return
    offers += 1
    if (offers > MOST_OFFERS) throw new Error('The server begins the login without end')
  })
  const heard = client.listeners('element').map((hear) => {
    const needed = (element: Element) => {
      if (!spared.has(element.name) && !isQuestion(element)) hear.call(client, element)
    }
    client.off('element', hear as () => void).on('element', needed)
    return needed
  })
  const leave = () => {
    client.off('online', leave)
    streamManagement.off('resumed', leave)
    for (const needed of heard.splice(0)) client.off('element', needed)
    client.removeAllListeners('send')
    Object.assign(client, ofLogin)
    client.on('element', (element: Element) => {
      if (element.is('a', ns.streamManagement)) acknowledge(streamManagement, element)
    })
  }
  // A stream that is resumed brings questions before the library tells of it.
  client.on('element', (element: Element) => {
    const answer = answerTo(element)
    // The other side asks again.
    if (answer) client.send(answer).catch(() => undefined)
  })
  client.on('online', leave)
  streamManagement.on('resumed', leave)
}

/** What the server has of the stanzas sent. It cannot have more than were. */
function acknowledge(streamManagement: StreamManagement, { attrs }: Element) {
  const count = Number(attrs.h) - streamManagement.outbound
  for (let place = 0; place < count; place++) {
    const sent = streamManagement.outbound_q.shift()
    if (!sent) return
    streamManagement.outbound += 1
    streamManagement.emit('ack', sent.stanza)
  }
}

/**
 * What is written at the same moment goes to the system at once, which costs it more than the stanzas. The write rejects with
 * `BrokenWrite` unless the system certainly took nothing.
 */
export function writtenTogether(
  write: (text: string) => Promise<void>,
  socketNow: () => Socket | null,
): (text: string) => Promise<void> {
  let moment = { isGiven: true }
  return async (text) => {
    const socket = socketNow()
    if (socket?.writableCorked === 0) {
      const present = { isGiven: false }
      moment = present
      socket.cork()
      process.nextTick(() => {
        socket.uncork()
        // The system refuses a write at once, or it may have taken a part of it.
        present.isGiven = !socket.errored && !socket.destroyed
      })
    }
    const own = moment
    try {
      await write(text)
    } catch (cause) {
      throw own.isGiven ? new BrokenWrite('The connection broke', { cause }) : cause
    }
  }
}

interface Outlet {
  /** Rejects with `BrokenWrite` where it was begun. */
  write(text: string): Promise<void>
  isWritable(): boolean
  /** Bytes that the system has not taken yet. */
  unreadBytes(): number
  readonly permit: WritePermit | undefined
}

/**
 * Sends in place of the library, which counts a stanza once the system has taken it. Many are written together, and where that
 * fails, the server may have some of them; it may also acknowledge the first before the last is taken. So each counts from the
 * moment in which it goes to the socket.
 */
export function countSent(client: Client, outlet: Outlet): void {
  const { write, isWritable, unreadBytes, permit } = outlet
  const { streamManagement } = client
  const count = counter(client)
  const begin = async (stanza: Element, isCounted: boolean) => {
    await write(stanza.toString()).catch((cause) => {
      // The next connection asks the server what it has, and sends the rest again.
      const isResumed = isCounted && Boolean(streamManagement.id) && cause instanceof BrokenWrite
      if (!isResumed) throw cause
    })
  }
  const send = async (stanza: Element) => {
    if (client.status === 'closing' || !isWritable()) throw new Error('The connection is closed')
    const isFull =
      streamManagement.outbound_q.length >= MOST_UNACKNOWLEDGED || unreadBytes() > MOST_UNREAD_BYTES
    // The others ask for acknowledgements and give them: without them it would stay full.
    if (isFull && counted.has(stanza.name)) throw new Error('The server takes nothing')
    const entry = count(stanza)
    try {
      await begin(stanza, entry !== undefined)
    } catch (cause) {
      const { outbound_q: queue } = streamManagement
      const place = entry ? queue.indexOf(entry) : -1
      if (place >= 0 && !(cause instanceof BrokenWrite)) queue.splice(place, 1)
      throw cause
    }
  }
  // They stay in the queue, whatever becomes of this connection.
  const beginAll = async (stanzas: readonly Element[]) => {
    await Promise.allSettled(stanzas.map((stanza) => begin(stanza, true)))
  }
  const pass = permit ? permitted(permit, beginAll) : beginAll
  client.send = permit ? permitted(permit, send) : send
  // A resumed stream sends again what it had in its queue, and has taken out of it before.
  client.sendMany = async (stanzas) => {
    for (const stanza of stanzas) count(stanza)
    await pass(stanzas)
  }
}

/** What the server has of the stanzas sent; whoever still listens answers. A broken stream is asked when it is resumed. */
export function askForAnswer(client: Client): void {
  if (!client.streamManagement.enabled) return
  client.send(xml('r', ns.streamManagement)).catch(() => undefined)
}

type Queued = StreamManagement['outbound_q'][number]

/** For how long the server has owed the acknowledgement of the oldest stanza, in milliseconds, from one look to the next. */
export class Overdue {
  #oldest: Queued | undefined
  #since = 0

  look({ outbound_q: [oldest] }: StreamManagement): number {
    const now = performance.now()
    if (oldest !== this.#oldest) this.#since = now
    this.#oldest = oldest
    return oldest ? now - this.#since : 0
  }
}

/** Queues what the server is to acknowledge, and asks for that. Returns the entry of a stanza that is one of those. */
function counter(client: Client): (stanza: Element) => Queued | undefined {
  const { streamManagement } = client
  const questions = new Questions(client)
  return (stanza) => {
    if (stanza.is('enable', ns.streamManagement)) streamManagement.enableSent = true
    const isCounted = streamManagement.enabled || streamManagement.enableSent
    if (!isCounted || !counted.has(stanza.name)) return undefined
    const entry = { stanza, stamp: `${new Date().toISOString().slice(0, 19)}Z` }
    streamManagement.outbound_q.push(entry)
    questions.sent()
    return entry
  }
}

/**
 * Sends wait for their acknowledgement, so the question leaves in the same write as all that is sent in its moment. What is sent
 * before its answer shares the next one: then it is stored and answered together, too.
 */
class Questions {
  readonly #client: Client
  /** Something was sent since the last one. */
  #isDue = false
  #isOpen = false
  #late: NodeJS.Timeout | undefined

  constructor(client: Client) {
    this.#client = client
    client.on('element', (element: Element) => {
      if (element.is('a', ns.streamManagement)) this.#goOn()
    })
  }

  sent() {
    if (this.#isDue) return
    this.#isDue = true
    if (this.#isOpen) this.#late ??= setTimeout(() => this.#goOn(), LATEST_QUESTION_MS).unref()
    else process.nextTick(() => this.#ask())
  }

  #goOn() {
    clearTimeout(this.#late)
    this.#late = undefined
    this.#isOpen = false
    if (this.#isDue) this.#ask()
  }

  #ask() {
    this.#isDue = false
    this.#isOpen = this.#client.streamManagement.enabled
    askForAnswer(this.#client)
  }
}

export class Acknowledgements {
  readonly #client: Client
  /** Stanzas handled out of order, beyond `#handled`. */
  #ahead: Set<number> | undefined
  #received: number
  #handled: number
  /** How many stanzas had come when the server asked first since the last answer, and when it asked last. */
  #owed: number | undefined
  #asked = 0
  #isAnswering = false
  /** The last answer is not written yet: a server that does not read gets no others, and then the newest. */
  #isWriting = false
  #isOutdated = false
  #late: NodeJS.Timeout | undefined
  #stream = 0

  /** `received`: the number of stanzas received on the stream to resume. */
  constructor(client: Client, received: number) {
    this.#client = client
    this.#received = received
    this.#handled = received
    this.#tell()
    client.prependListener('element', (element: Element) => {
      this.#hear(element)
      this.#tell()
    })
    // The library counts, too, and begins a moment after the server, so it misses stanzas that arrive in one packet with
    // `enabled`. The server ends a stream whose count is wrong.
    client.on('element', () => this.#tell())
  }

  get received(): number {
    return this.#received
  }

  /** How many are handled; undefined while one of them waits and a later one does not. */
  get handled(): number | undefined {
    return this.#ahead?.size ? undefined : this.#handled
  }

  /** Returns a function to call when the newest stanza is handled. */
  expect(): () => void {
    const number = this.#received
    const stream = this.#stream
    return () => stream === this.#stream && this.#done(number)
  }

  #hear(element: Element) {
    if (element.is('enabled', ns.streamManagement)) {
      this.#stream += 1
      this.#received = 0
      this.#handled = 0
      this.#ahead = undefined
      this.#owed = undefined
      this.#asked = 0
    } else if (counted.has(element.name)) {
      this.#received += 1
    } else if (element.is('r', ns.streamManagement)) {
      this.#asked = this.#received
      this.#owed ??= this.#received
      if (this.#handled >= this.#owed) this.#answer()
      else this.#late ??= setTimeout(() => this.#answer(), LATEST_ANSWER_MS).unref()
    }
  }

  #done(number: number) {
    if (number <= this.#handled) return
    if (number > this.#handled + 1) {
      this.#ahead ??= new Set()
      this.#ahead.add(number)
      return
    }
    this.#handled = number
    while (this.#ahead?.delete(this.#handled + 1)) this.#handled += 1
    this.#tell()
    // Not later, when all is handled that has come meanwhile: a flood has no end, and a server keeps only so much.
    if (this.#owed === undefined || this.#handled < this.#owed || this.#isAnswering) return
    this.#isAnswering = true
    // The others of its batch are handled in this moment.
    process.nextTick(() => this.#answer())
  }

  /** The library resumes the stream from this number, and tells it to the server at the end. */
  #tell() {
    this.#client.streamManagement.inbound = this.#handled
  }

  #answer() {
    clearTimeout(this.#late)
    this.#late = undefined
    this.#isAnswering = false
    this.#owed = this.#handled < this.#asked ? this.#asked : undefined
    if (this.#isWriting) {
      this.#isOutdated = true
      return
    }
    this.#isWriting = true
    const written = () => {
      this.#isWriting = false
      if (!this.#isOutdated) return
      this.#isOutdated = false
      this.#answer()
    }
    // Whoever asks has enabled it, also where the library is not done with that yet: ejabberd asks no second time without an
    // answer. A broken stream needs none: the number is part of its resumption.
    this.#client
      .send(xml('a', { xmlns: ns.streamManagement, h: this.#handled }))
      .then(written, written)
  }
}
