/** Keeps the account in its rooms: a room may be unreachable, disappear for a while, or forget its occupants. */

import { setTimeout as delay } from 'node:timers/promises'
import { xml } from '@xmpp/client'
import type { Logger } from '../../../../actors/ports/ports.ts'
import { SparseMap } from '../../kit/recent-map.ts'
import { unreachable } from '../failures.ts'
import { ns } from '../namespaces.ts'
import { RequestRefused, type Requests } from '../requests.ts'
import type { Bookmark } from './bookmarks.ts'
import type { Room } from './room.ts'

/** A room without a stanza for this many rounds is asked whether the account is still in it. */
const QUIET_ROUNDS = 10
/** A room that puts the account out sooner than so many rounds after its return is not entered at once again. */
const LASTING_ROUNDS = 30
/** The longest pause, in rounds, before another attempt at a room that does not admit the account. */
const MOST_ROUNDS = 30
const PING_MS = 15_000

interface Care {
  readonly bookmark: Bookmark
  /** How often it could not be joined. */
  failures: number
  /** How many rounds it is left alone. */
  rest: number
  /** How many rounds ago the account last went back into it. */
  returned: number
}

type Tended = Pick<Room, 'address' | 'self' | 'isJoined' | 'left'>

interface TendingParts {
  readonly requests: Requests
  readonly logger: Logger
  /** Milliseconds from one round to the next. */
  readonly tendMilliseconds: number
  find(room: string): Tended | undefined
  enter(bookmark: Bookmark, signal: AbortSignal): Promise<unknown>
}

export class Tending {
  readonly #parts: TendingParts
  readonly #cares = new SparseMap<string, Care>()
  /** Until which it shall go on once there is a room. */
  #signal: AbortSignal | undefined

  constructor(parts: TendingParts) {
    this.#parts = parts
  }

  /** From now on one of the account's rooms. */
  want(bookmark: Bookmark) {
    this.#cares.set(bookmark.room, { bookmark, failures: 0, rest: 0, returned: Infinity })
    this.#wake()
  }

  forget(room: string) {
    this.#cares.delete(room)
  }

  wants(room: string): boolean {
    return this.#cares.has(room)
  }

  get wanted(): Bookmark[] {
    return [...this.#cares.values()].map(({ bookmark }) => bookmark)
  }

  /** It has said something to the account in it. */
  heard(room: string) {
    const care = this.#cares.get(room)
    if (care) Object.assign(care, { failures: 0, rest: QUIET_ROUNDS })
  }

  /** Round after round until `signal` aborts. */
  run(signal: AbortSignal): void {
    this.#signal = signal
    this.#wake()
  }

  /** Most accounts are in no room, and thousands of them would each have a timer. */
  #wake() {
    const signal = this.#signal
    if (!signal || signal.aborted || this.#cares.size === 0) return
    this.#signal = undefined
    void this.#go(signal)
  }

  async #go(signal: AbortSignal): Promise<void> {
    const { tendMilliseconds } = this.#parts
    while (!signal.aborted) {
      // It rejects with the end of the signal alone.
      await delay(tendMilliseconds, undefined, { signal, ref: false }).catch(() => undefined)
      for (const care of [...this.#cares.values()]) {
        if (!signal.aborted) await this.#tend(care, signal)
      }
    }
  }

  async #tend(care: Care, signal: AbortSignal): Promise<void> {
    const { logger, find, enter } = this.#parts
    const { room: address } = care.bookmark
    const room = find(address)
    care.returned += 1
    // The account is out, and nothing says that it may not come back.
    const isUntold = room?.isJoined === false && care.failures === 0
    // A room whose server cannot reach the account puts it out for each thing that it says, and lets it in between.
    const isLasting = care.returned > LASTING_ROUNDS
    if (!(isUntold && isLasting) && care.rest > 0) {
      care.rest -= 1
      return
    }
    try {
      if (!room?.isJoined || !(await this.#isInside(room, signal))) {
        room?.left()
        await enter(care.bookmark, signal)
        care.returned = 0
        logger.info({ room: address }, 'the account is back in a room')
      }
      this.heard(address)
    } catch (err) {
      care.failures += 1
      care.rest = Math.min(2 ** care.failures, MOST_ROUNDS)
      if (!signal.aborted) logger.info({ err, room: address }, 'a room could not be joined again')
    }
  }

  /** By a ping to oneself through the room (XEP-0410). Rejects when the room cannot be asked. */
  async #isInside({ address, self }: Tended, signal: AbortSignal): Promise<boolean> {
    const options = {
      to: `${address}/${self.firstName}`,
      milliseconds: PING_MS,
      signal,
    }
    try {
      await this.#parts.requests.ask('get', xml('ping', ns.ping), options)
      return true
    } catch (cause) {
      if (!(cause instanceof RequestRefused)) throw cause
      if (unreachable.has(cause.condition)) throw cause
      return answeredByClient.has(cause.condition)
    }
  }
}

/** The ping has come through: what answers is the account itself, or the room that looks for its former nick. */
const answeredByClient: ReadonlySet<string> = new Set([
  'service-unavailable',
  'feature-not-implemented',
  'item-not-found',
])
