/** One login: connected, resumed after short interruptions, given up after long ones. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Element } from '@xmpp/client'
import { limited } from '../../../actors/host/time.ts'
import { SparseMap } from '../kit/recent-map.ts'
import { unlessAborted } from '../kit/session-life.ts'
import { Passage } from '../kit/steadily.ts'
import { askForAnswer, Overdue } from './acknowledgements.ts'
import { parseServer } from './address.ts'
import { endingOf, isDecided, isReplacement } from './endings.ts'
import { BrokenWrite, TakenOver } from './failures.ts'
import {
  createTransport,
  type Login,
  Oversized,
  type Resumption,
  type Transport,
  weightOf,
} from './transport.ts'

interface StreamEvents {
  /** A new stream is bound: the outcome of requests on the stream before has to be found out. */
  bound(): void
  /** The earlier stream resumes: the server sends again all that was not acknowledged. */
  resumed(): void
  /** The server may forget the stanza once this has returned, or what it returns has resolved. */
  stanza(stanza: Element): Promise<void> | boolean | undefined
  /** Resolves once all stanzas that are being stored are stored, or when that has failed. */
  settled?(): Promise<void>
  /** The server has the message. */
  acknowledged(id: string): void
  /** The connection is gone for good, `cause` tells why. */
  ended(cause: unknown): void
}

interface StreamOptions {
  readonly login: Login
  /** How long a broken connection is resumed before the stream is given up; 0: not at all. */
  readonly resumeMilliseconds: number
  /** Shared by all streams to the server. */
  readonly passage?: Passage
  /** The stream of another process to go on with. Resolves with undefined where it must not be used. */
  inherited?(): Promise<Resumption | undefined>
}

/** There is no connection now, and nothing of the stanza was written. */
class StreamDown extends Error {
  override readonly name = 'StreamDown'
}

const attemptMilliseconds = 20_000

/** How much may come before the login is through, see `weightOf`: what a server repeats on a resumed stream. */
const HEAVIEST_EARLY = 32 * 2 ** 20
/** An account is probed once a minute, which a server answers: only where nobody probes it is one asked in between. */
const quietMilliseconds = 63_000
const silenceMilliseconds = 80_000
/** Sends wait for up to 20 s: a connection that died in silence is left while they may still arrive over the next one. */
const owedMilliseconds = 10_000
const lookMilliseconds = 5_000
const closeMilliseconds = 1_500
const noticeMilliseconds = 50
const firstPause = 100
const longestPause = 2_000
/** Servers keep a broken stream for some minutes. */
const queueMilliseconds = 120_000
/** A connection that breaks sooner did not hold: the next one waits for longer. */
const holdMilliseconds = 10_000

export class Stream {
  readonly #login: Login
  readonly #resumeMilliseconds: number
  readonly #passage: Passage
  readonly #inherited: StreamOptions['inherited']
  readonly #events: StreamEvents
  /** Being written. */
  readonly #sending = new SparseMap<Promise<void>, true>()
  readonly #overdue = new Overdue()
  readonly #ending = new AbortController()
  #state: 'connecting' | 'up' | 'ended' = 'connecting'
  #up = Promise.withResolvers<void>()
  #transport: Transport
  #pause = firstPause
  #risenAt = 0
  /** Came in before the library was done with the login; the server sends none of it again. */
  #early: (() => void)[] = []
  #earlyWeight = 0

  constructor(options: StreamOptions, events: StreamEvents) {
    const { login, resumeMilliseconds, passage = new Passage(), inherited } = options
    this.#login = login
    this.#passage = passage
    this.#resumeMilliseconds = resumeMilliseconds
    this.#inherited = inherited
    this.#events = events
    this.#transport = this.#listen(createTransport(login))
    this.#up.promise.catch(() => undefined)
    watch.add(this)
    this.#begin().catch((cause) => this.#end(cause))
  }

  /** Resolves once stanzas can be sent, rejects when that will not be. */
  async up(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#state !== 'up') await unlessAborted(this.#up.promise, signal)
  }

  /** Whether the server acknowledges stanzas, now or after a resumption. */
  get acknowledges(): boolean {
    const { enabled, id } = this.#transport.client.streamManagement
    return enabled || Boolean(id)
  }

  /**
   * Rejects with `StreamDown`, or with `BrokenWrite` where nothing will tell whether it has arrived. On a stream that can be resumed
   * it is sent once it was begun: what the server has not got is sent again.
   */
  async send(stanza: Element): Promise<void> {
    // Before the login is through, a stanza would end the stream.
    if (this.#state !== 'up' || !this.#transport.isWritable()) throw new StreamDown()
    const sending = this.#transport.client.send(stanza)
    this.#sending.set(sending, true)
    try {
      await sending
    } catch (cause) {
      if (cause instanceof BrokenWrite) throw cause
      throw new StreamDown('The connection broke', { cause })
    } finally {
      this.#sending.delete(sending)
    }
  }

  /** Sends it as soon as there is a connection. Rejects when none comes up in time, with nothing sent, or with `BrokenWrite`. */
  async sendWhenUp(stanza: Element, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.up(signal)
      try {
        return await this.send(stanza)
      } catch (cause) {
        if (!(cause instanceof StreamDown) || signal.aborted) throw cause
      }
      // The library notices a broken connection within a moment.
      await delay(noticeMilliseconds)
    }
  }

  /**
   * Leaves the connection without a word: the server keeps the stream for the next process. Resolves with whether that one
   * may go on with it.
   */
  async leave(): Promise<boolean> {
    const { enabled, id } = this.#transport.client.streamManagement
    if (this.#state !== 'up' || !enabled || !id) return false
    this.#stop(new Error('The session is left to another process'))
    // Nobody could say whether the server has got what was being written.
    const written = Promise.all(this.#sending.keys()).then(
      () => true,
      () => false,
    )
    const isWritten = await Promise.race([written, delay(closeMilliseconds, false, { ref: false })])
    this.#transport.cut()
    return isWritten
  }

  /** What the next process needs after `leave`; undefined where a stanza waits that came before one that is handled. */
  get inheritance(): Resumption | undefined {
    return this.#transport.inheritance()
  }

  /** Ends the stream politely if the server still listens; later events are not reported. */
  async close(): Promise<void> {
    const wasUp = this.#state === 'up'
    this.#stop(new Error('The session is closed'))
    const { client } = this.#transport
    // The goodbye may fail: the connection is cut either way.
    const goodbye = wasUp && client.stop().catch(() => undefined)
    await Promise.race([goodbye, delay(closeMilliseconds, undefined, { ref: false })])
    this.#transport.cut()
  }

  #listen(transport: Transport): Transport {
    // The server sends again what came in on a connection that broke before the library told of it.
    this.#early = []
    this.#earlyWeight = 0
    const { client } = transport
    const { streamManagement } = client
    // A connection that was given up may still emit events.
    const isOld = () => transport !== this.#transport
    client.on('stanza', (stanza: Element) => {
      if (isOld()) return
      if (this.#isTakenOver(stanza)) this.#end(new TakenOver())
      else this.#hear(stanza, transport.expect())
    })
    client.on('error', (cause: Error) => {
      // There is nothing to resume after it, and the library may take its time to close.
      const isFinal = cause.name === 'StreamError' || cause instanceof Oversized
      if (isOld() || !isFinal || this.#state !== 'up') return
      this.#end(isReplacement(cause) ? new TakenOver(cause.message, { cause }) : cause)
    })
    client.on('disconnect', () => {
      if (!isOld() && this.#state === 'up') void this.#recover()
    })
    streamManagement.on('ack', (stanza: Element) => {
      const { id } = stanza.attrs
      if (!isOld() && stanza.is('message') && id) this.#events.acknowledged(id)
    })
    client.on('online', () => isOld() || this.#rise('bound'))
    // The library tells it late, and by then the connection may have broken again.
    streamManagement.on('resumed', () => isOld() || !client.socket || this.#rise('resumed'))
    return transport
  }

  /** A server may cut a replaced session without a message; the new session appears afterwards. */
  #isTakenOver(stanza: Element): boolean {
    const { attrs } = stanza
    const { local, domain, resource } = this.#login
    const isOther = this.#transport.isRenamed() && attrs.from === `${local}@${domain}/${resource}`
    return stanza.is('presence') && attrs.type === undefined && isOther
  }

  #hear(stanza: Element, acknowledge: () => void) {
    if (this.#state === 'connecting') {
      this.#earlyWeight += weightOf(stanza)
      if (this.#earlyWeight > HEAVIEST_EARLY) throw new Oversized('Too much comes before the login')
      this.#early.push(() => this.#hear(stanza, acknowledge))
    }
    if (this.#state !== 'up') return
    const stored = this.#events.stanza(stanza)
    if (stored instanceof Promise) void stored.then(acknowledge)
    else acknowledge()
  }

  /** The library tells late that the stream was resumed: what the server repeats may be in by then. */
  #rise(how: 'bound' | 'resumed') {
    if (this.#state !== 'connecting') return
    this.#state = 'up'
    this.#risenAt = performance.now()
    this.#up.resolve()
    this.#events[how]()
    const early = this.#early
    this.#early = []
    for (const hear of early) hear()
  }

  async #recover(): Promise<void> {
    this.#state = 'connecting'
    this.#up = Promise.withResolvers()
    this.#up.promise.catch(() => undefined)
    const isResumable = this.#transport.client.streamManagement.id !== ''
    const canResume = isResumable && this.#resumeMilliseconds > 0
    if (!canResume) return this.#end(new Error('The connection closed'))
    const deadline = performance.now() + this.#resumeMilliseconds
    if (performance.now() - this.#risenAt > holdMilliseconds) this.#pause = firstPause
    for (;;) {
      try {
        await delay(this.#pause, undefined, { signal: this.#ending.signal })
        this.#pause = Math.min(this.#pause * 2, longestPause)
        // Resuming acknowledges all that came: what is not stored would be lost with this process.
        await this.#events.settled?.()
        this.#ending.signal.throwIfAborted()
        return await this.#resume(deadline - performance.now())
      } catch (cause) {
        const isOver = isDecided(endingOf(cause)) || performance.now() > deadline
        if (isOver || this.#ending.signal.aborted) return this.#end(cause)
      }
    }
  }

  /** The passage is waited for so long; longer where its server answers, and only others stand before it. */
  async #resume(milliseconds: number): Promise<void> {
    const most = this.#passage.answers ? queueMilliseconds : Math.max(0, milliseconds)
    const leave = await limited([this.#ending.signal], most, (limit) => this.#passage.enter(limit))
    let hasAnswered: boolean | undefined = true
    try {
      // A fresh one: the library goes on waiting for answers of a login that was cut, and takes those of the next.
      this.#transport = this.#listen(createTransport(this.#login, this.#transport.resumption()))
      await this.#attempt(this.#transport)
    } catch (cause) {
      const { kind, reason } = { reason: '', ...endingOf(cause) }
      hasAnswered = this.#ending.signal.aborted
        ? undefined
        : kind !== 'lost' || reason !== 'network'
      throw cause
    } finally {
      leave(hasAnswered)
    }
  }

  async #begin(): Promise<void> {
    const inherited = await this.#inherited?.()
    if (inherited && (await this.#resumeNearby(inherited))) return
    const { signal } = this.#ending
    signal.throwIfAborted()
    if (inherited) this.#transport = this.#listen(createTransport(this.#login, inherited))
    try {
      return await this.#attempt(this.#transport)
    } catch (cause) {
      // The server cannot say whether the password is wrong or only the key that was stored for it.
      const isWrong = !signal.aborted && (await this.#login.key.isWrong())
      if (!isWrong || signal.aborted) throw cause
    }
    this.#transport = this.#listen(createTransport(this.#login, inherited))
    await this.#attempt(this.#transport)
  }

  /** Where the server says that it has the stream: of several hosts, the others may not. Resolves with whether there is a connection. */
  async #resumeNearby(inherited: Resumption): Promise<boolean> {
    const server = parseServer(`xmpp://${inherited.location}`)
    if (inherited.location === undefined || !server) return false
    // A host that was not chosen by anybody does not get a password in plain text.
    const login = { ...this.#login, service: server.service, plaintextAllowed: false }
    this.#transport = this.#listen(createTransport(login, inherited))
    return this.#attempt(this.#transport, server.service).then(
      () => true,
      () => false,
    )
  }

  async #attempt(transport: Transport, service = this.#login.service): Promise<void> {
    this.#ending.signal.throwIfAborted()
    await limited([this.#ending.signal], attemptMilliseconds, (limit) =>
      this.#connect(transport, service, limit),
    )
  }

  async #connect({ client, cut }: Transport, service: string, limit: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let isOver = false
    const giveUp = () => reject(limit.reason)
    const closed = () => reject(new Error('The connection closed'))
    limit.addEventListener('abort', giveUp, { once: true })
    client.on('online', resolve).on('error', reject).on('disconnect', closed)
    client.streamManagement.on('resumed', resolve)
    try {
      client
        .connect(service)
        // The library's search for a server has no time limit: it may end after this attempt did.
        .then<unknown>(() => (isOver ? cut() : client.open({ domain: this.#login.domain })))
        .catch(reject)
      await promise
    } catch (cause) {
      isOver = true
      cut()
      throw cause
    } finally {
      limit.removeEventListener('abort', giveUp)
      client.off('online', resolve).off('error', reject).off('disconnect', closed)
      client.streamManagement.off('resumed', resolve)
    }
  }

  /** A living peer answers what it is asked, so it is never silent for long. */
  look() {
    if (this.#state !== 'up' || !this.acknowledges) return
    const { client, silence, cut } = this.#transport
    const silent = silence()
    const owed = this.#overdue.look(client.streamManagement)
    if (silent > silenceMilliseconds || Math.min(silent, owed) > owedMilliseconds) cut()
    else if (silent > quietMilliseconds) askForAnswer(client)
  }

  #end(cause: unknown) {
    if (this.#state === 'ended') return
    this.#stop(cause)
    this.#transport.cut()
    this.#events.ended(cause)
  }

  #stop(cause: unknown) {
    this.#state = 'ended'
    this.#transport.client.timeout = closeMilliseconds
    watch.delete(this)
    this.#up.reject(cause instanceof Error ? cause : new Error('The connection closed'))
    this.#ending.abort()
  }
}

/** Asks quiet connections and cuts silent ones. One timer for all streams: a service has thousands. */
class Watch {
  readonly #streams = new Set<Stream>()
  #timer: NodeJS.Timeout | undefined

  add(stream: Stream) {
    this.#streams.add(stream)
    this.#timer ??= setInterval(() => this.#look(), lookMilliseconds).unref()
  }

  delete(stream: Stream) {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look() {
    for (const stream of this.#streams) stream.look()
  }
}

const watch = new Watch()
