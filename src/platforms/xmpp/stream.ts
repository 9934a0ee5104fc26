/** The life of one login: connected, resumed after short cuts, given up after long ones. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Element } from '@xmpp/client'
import { endingOf } from './failures.ts'
import { createTransport, type Login, type Transport } from './transport.ts'

export interface StreamEvents {
  /** A new stream is bound; what was under way on one before it has to be found out. */
  bound(): void
  /** The stream of before goes on: the server sends again whatever was not acknowledged. */
  resumed(): void
  stanza(stanza: Element): void
  /** The server has the message. */
  acknowledged(id: string): void
  /** The connection is gone for good, `cause` tells why. */
  ended(cause: unknown): void
}

export interface StreamOptions {
  readonly login: Login
  /** For how long a cut connection is taken up again before the stream is given up; 0: not at all. */
  readonly resumeMilliseconds: number
}

/** There is no connection now; the server does not have the stanza, or not whole, and so not at all. */
export class StreamDown extends Error {
  override readonly name = 'StreamDown'
}

const attemptMilliseconds = 20_000
const silenceMilliseconds = 75_000
const closeMilliseconds = 1_500
const noticeMilliseconds = 50

export class Stream {
  readonly #login: Login
  readonly #resumeMilliseconds: number
  readonly #events: StreamEvents
  readonly #transport: Transport
  readonly #ending = new AbortController()
  readonly #watch: NodeJS.Timeout
  #state: 'connecting' | 'up' | 'ended' = 'connecting'
  #up = Promise.withResolvers<void>()
  #streamError: unknown

  constructor({ login, resumeMilliseconds }: StreamOptions, events: StreamEvents) {
    this.#login = login
    this.#resumeMilliseconds = resumeMilliseconds
    this.#events = events
    this.#transport = createTransport(login)
    this.#up.promise.catch(() => undefined)
    this.#listen()
    this.#watch = setInterval(() => this.#cutSilent(), silenceMilliseconds / 3)
    this.#watch.unref()
    this.#attempt().catch((cause) => this.#end(cause))
  }

  /** Resolves once stanzas can be sent, rejects when that will not be. */
  async up(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, reject } = Promise.withResolvers<never>()
    const giveUp = () => reject(signal.reason)
    signal.addEventListener('abort', giveUp, { once: true })
    await Promise.race([this.#up.promise, promise]).finally(() =>
      signal.removeEventListener('abort', giveUp),
    )
  }

  /** Whether the server acknowledges what it gets, be it after a cut. */
  get acknowledges(): boolean {
    const { enabled, id } = this.#transport.client.streamManagement
    return enabled || id !== ''
  }

  /** Rejects with nothing but `StreamDown`. */
  async send(stanza: Element): Promise<void> {
    // Before the login is through, a stanza would end the stream.
    if (this.#state !== 'up' || !this.#transport.isWritable()) throw new StreamDown()
    try {
      await this.#transport.client.send(stanza)
    } catch (cause) {
      throw new StreamDown('The connection broke', { cause })
    }
  }

  /** Sends it as soon as there is a connection. Rejects, when none comes up in time, with nothing sent. */
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

  /** Says goodbye, if the server still listens; what happens later is not told any more. */
  async close(): Promise<void> {
    const wasUp = this.#state === 'up'
    this.#stop(new Error('The session is closed'))
    const { client } = this.#transport
    // Whether the goodbye arrives does not matter: the connection is cut either way.
    const goodbye = wasUp && client.stop().catch(() => undefined)
    await Promise.race([goodbye, delay(closeMilliseconds, undefined, { ref: false })])
    this.#transport.cut()
  }

  #listen() {
    const { client } = this.#transport
    client.on('stanza', (stanza: Element) => {
      if (this.#state === 'up') this.#events.stanza(stanza)
    })
    client.on('error', (cause: Error) => {
      if (cause.name !== 'StreamError') return
      this.#streamError = cause
      // There is nothing to resume after it, and the library may take its time to close.
      if (this.#state === 'up') this.#end(cause)
    })
    client.on('disconnect', () => {
      if (this.#state === 'up') void this.#recover()
    })
    client.streamManagement.on('ack', (stanza: Element) => {
      if (stanza.is('message') && stanza.attrs.id) this.#events.acknowledged(stanza.attrs.id)
    })
    client.on('online', () => this.#rise('bound'))
    client.streamManagement.on('resumed', () => this.#rise('resumed'))
  }

  /** In the very turn of the library's event: a stanza may follow in the same chunk. */
  #rise(how: 'bound' | 'resumed') {
    if (this.#state !== 'connecting') return
    this.#state = 'up'
    this.#up.resolve()
    this.#events[how]()
  }

  async #recover(): Promise<void> {
    this.#state = 'connecting'
    this.#up = Promise.withResolvers()
    this.#up.promise.catch(() => undefined)
    const isResumable = this.#transport.client.streamManagement.id !== ''
    const canResume = isResumable && this.#resumeMilliseconds > 0
    if (!canResume) return this.#end(new Error('The connection closed'))
    const deadline = Date.now() + this.#resumeMilliseconds
    for (let pause = 100; ; pause = Math.min(pause * 2, 2_000)) {
      try {
        await delay(pause, undefined, { signal: this.#ending.signal })
        return await this.#attempt()
      } catch (cause) {
        const hopeless = endingOf(cause).kind !== 'lost' || Date.now() > deadline
        if (hopeless || this.#ending.signal.aborted) return this.#end(cause)
      }
    }
  }

  async #attempt(): Promise<void> {
    const { client, cut } = this.#transport
    const limit = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(attemptMilliseconds)])
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let isOver = false
    const giveUp = () => reject(limit.reason)
    const closed = () => reject(this.#streamError ?? new Error('The connection closed'))
    limit.addEventListener('abort', giveUp, { once: true })
    client.on('online', resolve).on('error', reject).on('disconnect', closed)
    client.streamManagement.on('resumed', resolve)
    try {
      client
        .connect(this.#login.service)
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

  /** The library asks for acknowledgements every 30 seconds, so a living peer is never silent for long. */
  #cutSilent() {
    const dead = this.#transport.silence() > silenceMilliseconds
    if (this.#state === 'up' && this.acknowledges && dead) this.#transport.cut()
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
    clearInterval(this.#watch)
    this.#up.reject(cause instanceof Error ? cause : new Error('The connection closed'))
    this.#ending.abort()
  }
}
