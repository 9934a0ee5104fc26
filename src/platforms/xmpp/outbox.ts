/** Messages on their way out: each is waited for until the server has it, or has refused it. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Element, xml } from '@xmpp/client'
import { failed } from '../../../actors/errors.ts'
import { bounced } from './failures.ts'
import { ns } from './namespaces.ts'
import type { Requests } from './requests.ts'
import { type Stream, StreamDown } from './stream.ts'

const sendMilliseconds = 20_000
/** A connection that just broke is noticed within a moment. */
const retryMilliseconds = 50

interface Waiting {
  written: boolean
  readonly resolve: () => void
  readonly reject: (cause: unknown) => void
}

export class Outbox {
  readonly #stream: Stream
  readonly #requests: Requests
  readonly #domain: string
  readonly #waiting = new Map<string, Waiting>()

  constructor(stream: Stream, requests: Requests, domain: string) {
    this.#stream = stream
    this.#requests = requests
    this.#domain = domain
  }

  /** Resolves once the server has the message. A cut in between is waited out. */
  async post(message: Element, signal: AbortSignal): Promise<void> {
    const id = message.attrs.id ?? ''
    const limit = AbortSignal.any([signal, AbortSignal.timeout(sendMilliseconds)])
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => reject(unknownOutcome('timeout', limit.reason))
    promise.catch(() => undefined)
    try {
      const waiting = { written: false, resolve, reject }
      this.#waiting.set(id, waiting)
      await this.#write(message, waiting, limit)
      limit.addEventListener('abort', giveUp, { once: true })
      if (limit.aborted) giveUp()
      if (!this.#stream.acknowledges) this.#askInstead(limit).then(resolve, reject)
      await promise
    } finally {
      limit.removeEventListener('abort', giveUp)
      this.#waiting.delete(id)
    }
  }

  acknowledged(id: string) {
    this.#waiting.get(id)?.resolve()
  }

  /** The message came back; says whether anybody still waited for it. */
  bounced(id: string, condition: string): boolean {
    const waiting = this.#waiting.get(id)
    waiting?.reject(bounced(condition))
    return waiting !== undefined
  }

  /** Those that were written and not acknowledged. */
  get open(): readonly string[] {
    return [...this.#waiting].flatMap(([id, { written }]) => (written ? [id] : []))
  }

  /** What was written to a stream that is gone, and was not found in the archive since, stays unknown. */
  abandon(ids: readonly string[], cause?: unknown) {
    for (const id of ids) this.#waiting.get(id)?.reject(unknownOutcome('unavailable', cause))
  }

  async #write(message: Element, waiting: Waiting, limit: AbortSignal): Promise<void> {
    for (;;) {
      await this.#stream.up(limit).catch((cause) => {
        throw unsent(cause)
      })
      try {
        waiting.written = true
        return await this.#stream.send(message)
      } catch (cause) {
        if (!(cause instanceof StreamDown)) throw unknownOutcome('unavailable', cause)
        waiting.written = false
        if (limit.aborted) throw unsent(cause)
      }
      await delay(retryMilliseconds)
    }
  }

  /** A server handles stanzas in order: with the answer to a later question it has the message before. */
  async #askInstead(signal: AbortSignal): Promise<void> {
    await this.#requests.ask('get', xml('ping', ns.ping), { to: this.#domain, signal })
  }
}

function unsent(cause: unknown) {
  return failed('unavailable', 'the account is reconnecting', { retryAfterSeconds: 5 }, { cause })
}

function unknownOutcome(code: 'timeout' | 'unavailable', cause: unknown) {
  const description = 'the server did not confirm the message; the message may have been sent'
  return failed(code, description, { certain: false }, { cause })
}
