/** Time limits, pauses, jitter, timers of one actor or of many, and turns for work that comes all at once. */

import type { AnyActorRef, AnyEventObject } from 'xstate'
import { failed } from '../../machines/model/failure.ts'
import type { Clock } from '../ports/ports.ts'

/** One timer that is moved as often as its time changes. */
export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #at = Number.POSITIVE_INFINITY
  #cancel: (() => void) | undefined

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** `at` in milliseconds since 1970; infinity for never. */
  set(at: number): void {
    if (this.#at === at) return
    this.#cancel?.()
    this.#cancel = undefined
    this.#at = at
    if (at === Number.POSITIVE_INFINITY) return
    const ring = () => {
      this.#at = Number.POSITIVE_INFINITY
      this.#ring()
    }
    this.#cancel = later(this.#clock, ring, Math.max(0, at - this.#clock.now()))
  }
}

/** Timers fire late by less than this. */
const GRAIN_MS = 50
/** Long ones may come later, by less than the first of these whose moment has room. */
const LONG_GRAINS_MS = [1_000, 250]
/** Timers up to this are not long ones: no poll is held longer, and a key must get nothing once it has expired. */
const SHORT_MS = 50_000
/** More long ones in a moment would hold up others for as long as they take together. */
const MOST_LONG = 16

const roundedUp = (at: number, grain: number) => Math.ceil(at / grain) * grain

interface Timer {
  readonly id: string
  /** By the steady time of the clock: the time of day may be set between two timers of one moment. */
  readonly due: number
  readonly source: AnyActorRef
  readonly target: AnyActorRef
  readonly event: AnyEventObject
}

interface Moment {
  readonly handle: unknown
  readonly timers: Set<Timer>
}

/**
 * The delayed events of actors that share one system: one timer of the clock for all that are due at about the same
 * time. XState's own scheduler looks through the timers of all actors whenever one of them stops.
 */
export class Timers {
  readonly #clock: Clock
  readonly #moments = new Map<number, Moment>()
  readonly #bySource = new Map<AnyActorRef, readonly Timer[]>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  schedule(
    source: AnyActorRef,
    target: AnyActorRef,
    event: AnyEventObject,
    delay: number,
    id: string = crypto.randomUUID(),
  ): void {
    const due = this.#dueAfter(delay)
    const timer = { id, due, source, target, event }
    this.#moment(due).timers.add(timer)
    const others = this.#bySource.get(source)
    // Most have only one, in an array of exact size.
    this.#bySource.set(source, others ? [...others, timer] : [timer])
  }

  /** What is done together finds the caches warm: a probe takes a quarter less of the processor than at a time of its own. */
  #dueAfter(delay: number): number {
    const at = this.#clock.steadyNow() + delay
    const grains = delay <= SHORT_MS ? [] : LONG_GRAINS_MS
    const moments = grains.map((grain) => roundedUp(at, grain))
    return moments.find((due) => this.#hasRoom(due)) ?? roundedUp(at, GRAIN_MS)
  }

  #hasRoom(due: number): boolean {
    return (this.#moments.get(due)?.timers.size ?? 0) < MOST_LONG
  }

  cancel(source: AnyActorRef, id: string): void {
    for (const timer of this.#of(source)) if (timer.id === id) this.#drop(timer)
  }

  cancelAll(source: AnyActorRef): void {
    for (const timer of this.#of(source)) this.#drop(timer)
  }

  #of(source: AnyActorRef): readonly Timer[] {
    return this.#bySource.get(source) ?? []
  }

  #moment(due: number): Moment {
    const known = this.#moments.get(due)
    if (known) return known
    const handle = this.#clock.setTimeout(() => this.#reach(due), due - this.#clock.steadyNow())
    const moment = { handle, timers: new Set<Timer>() }
    this.#moments.set(due, moment)
    return moment
  }

  #reach(due: number): void {
    const timers = this.#moments.get(due)?.timers ?? []
    // A set leaves out what an event before has cancelled.
    for (const timer of timers) {
      this.#drop(timer)
      timer.target.send(timer.event)
    }
  }

  #drop(timer: Timer): void {
    const { source } = timer
    const left = this.#of(source).filter((other) => other !== timer)
    if (left.length > 0) this.#bySource.set(source, left)
    else this.#bySource.delete(source)
    const moment = this.#moments.get(timer.due)
    moment?.timers.delete(timer)
    if (moment?.timers.size !== 0) return
    this.#clock.clearTimeout(moment.handle)
    this.#moments.delete(timer.due)
  }
}

/** Spreads a delay by ±20 %, so that what failed together does not come back together. */
export const jittered = (milliseconds: number): number => milliseconds * (0.8 + 0.4 * Math.random())

/** Most that is added to a delay which others have chosen. */
const LONGEST_SPREAD_MS = 10_000

/** The same for a delay that must not be shortened. */
export const notBefore = (milliseconds: number): number =>
  milliseconds + Math.random() * Math.min(0.2 * milliseconds, LONGEST_SPREAD_MS)

/** Runs `work` after so many milliseconds; returns how to cancel it. */
export function later(clock: Clock, work: () => void, milliseconds: number): () => void {
  const timer = clock.setTimeout(work, milliseconds)
  return () => clock.clearTimeout(timer)
}

export const pause = (clock: Clock, milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    clock.setTimeout(resolve, milliseconds)
  })

/**
 * Runs `work` under a time limit. The limit holds even if `work` ignores its signal: it then ends unobserved, and the
 * caller gets a `timeout` failure whose outcome is not certain. Each call of `goesOn` has it begin anew, up to `most`.
 */
export async function within<Result>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal, goesOn: () => void) => Promise<Result>,
  most = milliseconds,
): Promise<Result> {
  outer?.throwIfAborted()
  // Not a race of promises, which would make three more of them for each call.
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const limit = new AbortController()
  const end = (reason: unknown) => {
    limit.abort(reason)
    reject(failed('timeout', 'no answer in time', { reason: 'no_answer', certain: false }))
  }
  const leave = () => end(outer?.reason)
  const began = performance.now()
  let moved = began
  const goesOn = () => {
    moved = performance.now()
  }
  const expire = () => {
    const now = performance.now()
    const left = Math.min(moved + milliseconds, began + most) - now
    if (left > 0 && moved > began) timer = setTimeout(expire, left).unref()
    else end(new DOMException('no answer in time', 'TimeoutError'))
  }
  // Cleared with the work: the timer of AbortSignal.timeout would stay until its time is over.
  let timer = setTimeout(expire, milliseconds).unref()
  outer?.addEventListener('abort', leave, { once: true })
  try {
    work(limit.signal, goesOn).then(resolve, reject)
    return await promise
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', leave)
  }
}

/** Each new one would have a stack of its own. */
const done = new DOMException('the work is done', 'AbortError')

/**
 * Runs `work` with a signal that aborts as soon as one of these does, or after so many milliseconds with a
 * `TimeoutError`. Nothing is left of it once `work` has settled: AbortSignal.any and AbortSignal.timeout cost twenty
 * times as much, and stay until they are collected. For what happens with each message. `abort` is for work that leaves
 * something waiting behind it.
 */
export async function limited<Result>(
  signals: readonly AbortSignal[],
  milliseconds: number,
  work: (limit: AbortSignal, abort: () => void) => Promise<Result>,
): Promise<Result> {
  const limit = new AbortController()
  const leave = ({ target }: Event) => limit.abort((target as AbortSignal).reason)
  const expire = () => limit.abort(new DOMException('no answer in time', 'TimeoutError'))
  const timer = Number.isFinite(milliseconds) ? setTimeout(expire, milliseconds).unref() : undefined
  for (const signal of signals) {
    if (signal.aborted) limit.abort(signal.reason)
    else signal.addEventListener('abort', leave, { once: true })
  }
  try {
    return await work(limit.signal, () => limit.abort(done))
  } finally {
    clearTimeout(timer)
    for (const signal of signals) signal.removeEventListener('abort', leave)
  }
}

/** Events within this time after the first one are handled together with it. */
const GATHERING_MS = 1
/** Then the event loop serves others. */
const TURN_MS = 1

type Work = () => void

/** Runs bursts of work in order, one millisecond at a time, so that other work runs in between. */
export class Turns {
  readonly #clock: Clock
  readonly #failed: (cause: unknown) => void
  readonly #now: () => number
  readonly #due = new Set<Work>()
  readonly #gathered = new Set<Work>()
  #gathering: unknown
  /** Continues with work that was added meanwhile, because a new pass would skip over all finished work. */
  #next: SetIterator<Work> | undefined
  #until = 0

  /** `failed` gets what a work throws; the others go on. `now`: milliseconds, of any origin. */
  constructor(clock: Clock, failed: (cause: unknown) => void, now = () => performance.now()) {
    this.#clock = clock
    this.#failed = failed
    this.#now = now
  }

  /** Does it as soon as it is its turn; returns how to cancel it. */
  soon(work: Work): () => void {
    this.#due.add(work)
    this.#begin()
    return () => this.#due.delete(work)
  }

  /** Waits a moment for what comes right after it, then does it in its turn; returns how to cancel it. */
  gather(work: Work): () => void {
    if (this.#gathered.size === 0) {
      this.#gathering = this.#clock.setTimeout(() => this.#gather(), GATHERING_MS)
    }
    this.#gathered.add(work)
    return () => {
      this.#due.delete(work)
      const isLast = this.#gathered.delete(work) && this.#gathered.size === 0
      if (isLast) this.#clock.clearTimeout(this.#gathering)
    }
  }

  #gather() {
    for (const work of this.#gathered) this.#due.add(work)
    this.#gathered.clear()
    this.#begin()
  }

  #begin() {
    if (this.#next) return
    this.#next = this.#due.values()
    this.#turn()
  }

  #turn() {
    this.#until = this.#now() + TURN_MS
    queueMicrotask(this.#step)
  }

  /** One work, with all the promises that it settles: these take most of its time. */
  readonly #step = () => {
    const { value: work, done } = this.#next?.next() ?? { done: true }
    if (done || !work) {
      this.#next = undefined
      return
    }
    this.#due.delete(work)
    try {
      work()
    } catch (cause) {
      this.#failed(cause)
    }
    // Node runs a tick only when no promise is left to settle.
    queueMicrotask(() => process.nextTick(this.#after))
  }

  readonly #after = () => {
    if (this.#now() < this.#until) this.#step()
    else setImmediate(() => this.#turn())
  }
}
