/** Polls a network for events: what a poll brings is stored with its cursor before the next poll, and idle polls are paced. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import { EventLine } from './event-line.ts'
import { type Steadiness, steadily } from './steadily.ts'

interface Polled<Cursor> {
  readonly happenings: readonly Happening[]
  /** Where the next poll begins; absent if this one brought nothing. */
  readonly cursor?: Cursor | undefined
}

interface PollerOptions<Cursor> {
  readonly report: Pick<SessionReport, 'events'>
  /** Undefined at the first start of an account. */
  readonly cursor: Cursor | undefined
  checkpointOf(cursor: Cursor): Json
  /** One request. Undefined if it was given up, so that the next poll follows at once. */
  read(cursor: Cursor | undefined, signal: AbortSignal): Promise<Polled<Cursor> | undefined>
}

/**
 * The shortest time of a poll, for servers that do not hold polls or repeat the same events: a hundredth of the time
 * without anything new. An event waits little beside the silence before it, and a thousand quiet accounts are no flood.
 */
const shortestMs = (quietMs: number) => Math.min(Math.max(20, quietMs / 100), 1_000)

export class Poller<Cursor extends number | string> {
  readonly #options: PollerOptions<Cursor>
  readonly #line: EventLine
  #cursor: Cursor | undefined
  /** When something new came last. */
  #newAt = performance.now()

  constructor(options: PollerOptions<Cursor>) {
    this.#options = options
    this.#line = new EventLine(options.report)
    this.#cursor = options.cursor
  }

  /** Polls until a failure that is neither waited out nor forgiven. */
  async run(steadiness: Steadiness): Promise<never> {
    for (;;) await steadily(() => this.poll(steadiness.signal), steadiness)
  }

  /** One poll. Resolves once its events are stored; rejects with `NotStored` if they cannot be. */
  async poll(signal: AbortSignal): Promise<void> {
    const began = performance.now()
    const before = this.#cursor
    const polled = await this.#options.read(before, signal)
    if (!polled) return
    const { happenings, cursor } = polled
    if (cursor !== undefined) {
      await this.#line.store(happenings, this.#options.checkpointOf(cursor))
      this.#cursor = cursor
    }
    const now = performance.now()
    if (this.#cursor !== before) this.#newAt = now
    else
      await pause(Math.max(0, shortestMs(now - this.#newAt) - (now - began)), undefined, { signal })
  }
}
