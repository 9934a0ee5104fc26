/** Asks the network again after a passing failure: waits until a restriction ends, forgives single failures, and lets few come back at once. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionReport } from '../../../actors/ports/platform.ts'
import { RecentMap } from './recent-map.ts'
import type { Ending } from './session-life.ts'

/** The network accepts nothing for so many seconds; the session goes on afterwards. */
export interface Restriction {
  readonly kind: 'limited'
  readonly seconds: number
}

export interface Steadiness {
  /** Called for each restriction of the whole account. */
  readonly report?: Pick<SessionReport, 'limited'>
  /** Aborts when the session is over. */
  readonly signal: AbortSignal
  /** The meaning of the failure for the session; undefined: none, and asking again does not help. */
  endingOf(cause: unknown): Ending | Restriction | undefined
  /** How many failures are forgiven before the request fails. */
  readonly forgives?: number
  /** Whether asking again may help. */
  isForgivable?(cause: unknown): boolean
}

const AGAIN_MS = 300

/** Resolves with the first answer; rejects with the first failure that is neither waited out nor forgiven. */
export async function steadily<Result>(
  ask: () => Promise<Result>,
  { report, signal, endingOf, forgives = 0, isForgivable = () => true }: Steadiness,
): Promise<Result> {
  for (let failures = 0; ; ) {
    try {
      return await ask()
    } catch (cause) {
      const ending = endingOf(cause)
      if (ending?.kind === 'limited') {
        if (report) reportRestriction(report, ending.seconds)
        await pause(ending.seconds * 1000, undefined, { signal })
      } else if (ending?.kind === 'lost' && failures < forgives && isForgivable(cause)) {
        failures += 1
        await pause(AGAIN_MS, undefined, { signal })
      } else throw cause
    }
  }
}

/**
 * Reports a restriction of the account. Some networks refuse a chat that was written to too fast in the same words, but
 * only for a short time: waits of at most `chatWaitSeconds` are of that kind.
 */
export function reportRestriction(
  report: Pick<SessionReport, 'limited'>,
  seconds: number,
  chatWaitSeconds = 0,
): void {
  if (seconds > chatWaitSeconds) report.limited('flood_wait', seconds)
}

/** The ending of a session that cannot wait until the restriction ends. */
export function lostBy(ending: Ending | Restriction): Ending {
  if (ending.kind !== 'limited') return ending
  return { kind: 'lost', reason: 'flood_wait', retryAfterSeconds: ending.seconds }
}

/** So often in a row the same is asked in vain; after a rest from it, again. */
const MOST_IN_VAIN = 6
const REST_MS = 60_000

/** What is asked again because the answer says that there is more, and nothing comes of it: ever later, and then not at all. */
export class InVain {
  #count = 0
  #last = 0

  /** Resolves when one may ask: with false where it is of no use for a while. */
  async turn(signal: AbortSignal): Promise<boolean> {
    if (performance.now() - this.#last > REST_MS) this.#count = 0
    if (this.#count >= MOST_IN_VAIN) return false
    // Once is usual: a gap may be too long to tell, and what comes after it is listed.
    const ms = FIRST_PAUSE_MS * 2 ** (this.#count - 2)
    if (this.#count > 1) await pause(ms, undefined, { signal })
    return true
  }

  /** The answer was of no use. `counts`: one may not ask so without end, however late. */
  note(counts: boolean): void {
    this.#last = performance.now()
    if (counts || this.#count < MOST_IN_VAIN - 1) this.#count += 1
  }
}

/** How many may try at once where the server answers. */
const WIDEST = 20
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * The way back to a server, for all sessions that have lost it: thousands lose it at the same moment. While it does not answer,
 * one of them tries, and ever later; with each answer twice as many may try.
 */
export class Passage {
  #width = WIDEST
  #pause = FIRST_PAUSE_MS
  #opensAt = 0
  #trying = 0
  #timer: NodeJS.Timeout | undefined
  readonly #waiting = new Set<() => void>()

  /** The server answered the last who tried, or nobody has tried yet. */
  get answers(): boolean {
    return this.#opensAt === 0
  }

  /**
   * Resolves as soon as one may try, with what to call once it is known whether the server answered; undefined where the
   * try was cut short, which says nothing of the server.
   */
  async enter(signal: AbortSignal): Promise<(hasAnswered: boolean | undefined) => void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      this.#waiting.delete(resolve)
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.add(resolve)
    this.#advance()
    await promise.finally(() => signal.removeEventListener('abort', leave))
    return (hasAnswered) => this.#left(hasAnswered)
  }

  #left(hasAnswered: boolean | undefined) {
    this.#trying -= 1
    if (hasAnswered === undefined) return this.#advance()
    if (hasAnswered) {
      this.#width = Math.min(this.#width * 2, WIDEST)
      this.#pause = FIRST_PAUSE_MS
      this.#opensAt = 0
    } else {
      this.#width = 1
      this.#opensAt = performance.now() + this.#pause
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS)
    }
    this.#advance()
  }

  #advance() {
    clearTimeout(this.#timer)
    if (this.#waiting.size === 0) return
    const left = this.#opensAt - performance.now()
    if (left > 0) {
      this.#timer = setTimeout(() => this.#advance(), left).unref()
      return
    }
    for (const go of this.#waiting) {
      if (this.#trying >= this.#width) return
      this.#waiting.delete(go)
      this.#trying += 1
      go()
    }
  }
}

/** The least recently used are forgotten, with at most a hurried try for each. */
const MOST_SERVERS = 10_000

/** The passages to servers, by their addresses. */
export class Passages {
  readonly #known = new RecentMap<string, Passage>(MOST_SERVERS)

  to(address: string): Passage {
    const passage = this.#known.get(address) ?? new Passage()
    this.#known.set(address, passage)
    return passage
  }
}
