/** Reads updates ahead of their delivery, listens for new ones, and knows which are acknowledged. */
import {
  type LongLane,
  openRuns,
  type Progress,
  progressWith,
  type Runs,
} from '../../machines/webhook/progress.ts'
import { pause } from '../host/time.ts'
import type { DeliveryWorld, ReceivingKey, WebhookUpdate } from '../ports/webhooks.ts'
import type { Lanes } from './lanes.ts'

/** A lane of which memory holds the beginning alone: the log has the rest. */
interface Long {
  readonly lane: string
  /** No update of the lane from here to `to` is acknowledged. */
  from: number
  /** Where its reading goes on; beyond `to` once all are in memory. */
  next: number
  to: number
  /** So many they are, */
  updates: number
  /** and so many of them are in memory. */
  kept: number
}

type Item = Pick<WebhookUpdate, 'updateId' | 'lane'>

/** Which updates of a webhook were read, and which of them are acknowledged. */
export class Reading {
  /** Ids that wait for their acknowledgement, in order, with their place among all ids that were read. */
  readonly #open = new Map<number, number>()
  readonly #long = new Map<string, Long>()
  readonly #before: Progress | undefined
  readonly #runs: Runs
  #head: number
  #places = 0

  /** `before` is the stored progress: updates that it has as acknowledged are not delivered again. */
  constructor(cursor: number, before: Progress | undefined) {
    this.#head = cursor
    this.#before = before
    this.#runs = before ? openRuns(before) : []
    for (const [lane, from, to, updates] of before?.long ?? []) {
      this.#long.set(lane, { lane, from, next: from, to, updates, kept: 0 })
    }
  }

  /** Passes what is acknowledged: a resend of old updates would otherwise read all that follow them. */
  skip(): void {
    const end = this.#before?.head ?? 0
    if (this.#head >= end) return
    const next = (this.#runs.find(([, to]) => to > this.#head)?.[0] ?? end + 1) - 1
    if (next <= this.#head) return
    this.#head = next
    // The ids on both sides do not form one run.
    this.#places++
  }

  get head(): number {
    return this.#head
  }

  get cursor(): number {
    let cursor = this.#head
    for (const updateId of this.#open.keys()) {
      cursor = updateId - 1
      break
    }
    for (const { from } of this.#long.values()) cursor = Math.min(cursor, from - 1)
    return cursor
  }

  get waiting(): number {
    let waiting = this.#open.size
    for (const { updates } of this.#long.values()) waiting += updates
    return waiting
  }

  /** Those that are in memory. */
  get kept(): number {
    let kept = this.#open.size
    for (const long of this.#long.values()) kept += long.kept
    return kept
  }

  /**
   * Takes a page that was read up to `head`; returns its updates that are still to be delivered. Those of a lane that
   * `isFull` stay in the log until it has room.
   */
  take<Update extends Item>(
    updates: readonly Update[],
    head: number,
    isFull: (lane: string) => boolean = () => false,
  ): Update[] {
    const taken: Update[] = []
    for (const update of updates) {
      this.#places++
      if (this.#staysInLog(update, isFull)) continue
      const long = this.#long.size > 0 ? this.#long.get(update.lane) : undefined
      if (long && update.updateId > long.to) {
        // All before it is in memory. It is counted here alone, also if the lane gets too long again.
        long.to = update.updateId
        long.next = long.to + 1
        long.updates++
        long.kept++
      } else this.#open.set(update.updateId, this.#places)
      taken.push(update)
    }
    this.#head = Math.max(this.#head, head)
    return taken
  }

  /** Whether a part of a lane is in the log alone, or was. */
  get hasLong(): boolean {
    return this.#long.size > 0
  }

  /** The long lane that is read next: one that has room. */
  nextLong(hasRoom: (lane: string) => boolean): Long | undefined {
    for (const long of this.#long.values()) {
      // After a restart, what the lane has before and beside it is taken first.
      if (long.next <= long.to && long.to <= this.#head && hasRoom(long.lane)) return long
    }
    return undefined
  }

  /** Takes at most `room` updates of the lane from a page of it that was read up to `head`. */
  takeLong<Update extends Item>(
    long: Long,
    updates: readonly Update[],
    head: number,
    room: number,
  ): Update[] {
    const own = updates.filter(({ lane, updateId }) => lane === long.lane && updateId <= long.to)
    const taken = own.slice(0, room)
    long.next = own[room]?.updateId ?? head + 1
    long.kept += taken.length
    return taken
  }

  /** All of the lane is in memory again: returns how many of its updates the log has no more. */
  endLong(long: Long): number {
    if (long.next <= long.to) return 0
    const missing = long.updates - long.kept
    long.updates = long.kept
    if (long.kept === 0) this.#long.delete(long.lane)
    return Math.max(0, missing)
  }

  /** Whether it is of a long lane, and not apart from it. */
  isOfLong({ updateId, lane }: Item): boolean {
    const long = this.#long.get(lane)
    return long !== undefined && updateId >= long.from
  }

  /** Whether an earlier delivery had read it. */
  wasRead(updateId: number): boolean {
    return updateId <= (this.#before?.head ?? 0)
  }

  acknowledge({ updateId, lane }: Item): void {
    const wasOpen = this.#open.delete(updateId)
    const long = this.#long.size > 0 && this.#long.get(lane)
    if (!long || updateId < long.from) return
    long.from = updateId + 1
    if (!wasOpen) {
      long.kept--
      long.updates--
    }
    if (long.next > long.to && long.kept === 0) this.#long.delete(lane)
  }

  get progress(): Progress {
    const open: number[] = []
    let last = Number.NaN
    for (const [updateId, place] of this.#open) {
      if (place === last + 1) open[open.length - 1] = updateId
      else open.push(updateId, updateId)
      last = place
    }
    // The part that is not read again yet is still as it was stored.
    const before = this.#before
    const isWhole = !before || before.head <= this.#head
    if (isWhole && this.#long.size === 0) {
      return { cursor: this.cursor, head: this.#head, waiting: this.#open.size, open }
    }
    const runs = [...openRuns({ open })]
    if (!isWhole) {
      const rest = this.#runs.filter(([, to]) => to > this.#head)
      for (const [from, to] of rest) runs.push([Math.max(from, this.#head + 1), to])
    }
    const head = Math.max(before?.head ?? 0, this.#head)
    const waiting = isWhole ? this.waiting : Math.max(before.waiting, this.waiting)
    return progressWith({ head, waiting }, runs, this.#longLanes)
  }

  get #longLanes(): LongLane[] {
    return [...this.#long.values()].map(({ lane, from, to, updates }) => [lane, from, to, updates])
  }

  #staysInLog({ updateId, lane }: Item, isFull: (lane: string) => boolean): boolean {
    const long = this.#long.size > 0 ? this.#long.get(lane) : undefined
    // Also if a resend has opened it: it is counted already.
    if (long && long.from <= updateId && updateId <= long.to) return true
    if (this.#isAcknowledged(updateId)) return true
    if (long && updateId < long.from) return false
    // In order: nothing of the lane gets past what is in the log alone.
    const isBehind = long !== undefined && long.next <= long.to
    if (!isBehind && !isFull(lane)) return false
    if (long) {
      if (!isBehind) long.next = updateId
      long.to = updateId
      long.updates++
    } else {
      const only = { from: updateId, next: updateId, to: updateId, updates: 1, kept: 0 }
      this.#long.set(lane, { lane, ...only })
    }
    return true
  }

  #isAcknowledged(updateId: number): boolean {
    return updateId <= (this.#before?.head ?? 0) && !this.#wasOpen(updateId)
  }

  #wasOpen(updateId: number): boolean {
    return this.#runs.some(([from, to]) => from <= updateId && updateId <= to)
  }
}

interface FeedOptions {
  readonly key: ReceivingKey
  readonly world: DeliveryWorld
  readonly reading: Reading
  readonly lanes: Lanes<WebhookUpdate>
  /** A page was read, or there are new updates. `isMoved`: the progress is another without an acknowledgement. */
  changed(isMoved: boolean): void
}

const PAGE = 200
/** Updates in memory that are not acknowledged. */
const OPEN = 5_000
/** A lane may have this share of the room that is left: one that fails for long, or is slow, must not hold up the others. */
const LANE_SHARE = 0.2
/** Bodies beyond this are dropped, and read again for their attempt. */
const CHARACTERS = 2_000_000
const AGAIN_MS = 1_000

export class Feed {
  readonly #options: FeedOptions
  #characters = 0
  #hasMore = true
  #isReading = false
  #wasLong = false
  #isStopped = false
  #unlisten: (() => void) | undefined

  constructor(options: FeedOptions) {
    this.#options = options
  }

  get isCaughtUp(): boolean {
    return !this.#hasMore && !this.#isReading
  }

  get canRead(): boolean {
    return this.#hasMore && !this.#isReading && this.#options.reading.kept < OPEN
  }

  /** A long lane has room again. */
  get canReadLong(): boolean {
    return !this.#isReading && this.#options.reading.hasLong && this.#nextLong !== undefined
  }

  /** `isMoreWanted`: than what long lanes still have. */
  async read(isMoreWanted: boolean): Promise<void> {
    const { key, world, changed } = this.#options
    this.#isReading = true
    let isMoved = false
    try {
      const long = this.#nextLong
      // By turns: neither the lane nor the others wait for a long way through the log.
      this.#wasLong = long !== undefined && !(this.#wasLong && isMoreWanted)
      isMoved = await (long && this.#wasLong ? this.#readLong(long) : this.#readOn())
    } catch (err) {
      world.logger.error({ apiKeyId: key.owned.apiKeyId, err }, 'a webhook is in trouble')
      await pause(world.clock, AGAIN_MS)
    }
    this.#isReading = false
    // The next delivery may have begun elsewhere in the log: nothing more is stored, nor counted.
    if (!this.#isStopped) changed(isMoved)
  }

  async #readOn(): Promise<boolean> {
    const { reading, lanes } = this.#options
    reading.skip()
    const { updates, head } = await this.#page(reading.head, PAGE)
    if (this.#isStopped) return false
    this.#hasMore = updates.length === PAGE
    const isFull = (lane: string) => lanes.lengthOf(lane) >= this.#most
    for (const update of reading.take(updates, head, isFull)) lanes.add(this.#fitting(update))
    if (!this.#hasMore) this.#listen()
    // An empty page may still have moved the cursor.
    return updates.length === 0
  }

  async #readLong(long: Long): Promise<boolean> {
    const { key, world, reading, lanes } = this.#options
    const { updates, head } = await this.#page(long.next - 1, PAGE)
    if (this.#isStopped) return false
    const room = this.#most - lanes.lengthOf(long.lane)
    const end = updates.length === PAGE ? head : Math.max(head, long.to)
    for (const update of reading.takeLong(long, updates, end, room)) {
      lanes.add(this.#fitting(update))
    }
    // Retention has deleted them meanwhile.
    const missing = reading.endLong(long)
    if (missing > 0) world.webhooks.dropped(key.owned, missing)
    return missing > 0
  }

  /** The most updates that a lane may have in memory now. */
  get #most(): number {
    return Math.max(1, Math.floor(LANE_SHARE * (OPEN - this.#options.reading.kept)))
  }

  /** Read once three quarters of what it may have are delivered, so that not every few updates cost a page. */
  get #nextLong(): Long | undefined {
    const { reading, lanes } = this.#options
    const few = Math.floor(this.#most / 4)
    return reading.nextLong((lane) => lanes.lengthOf(lane) <= few)
  }

  /** The body of an update that was read without it; undefined if retention has deleted the update. */
  async bodyOf({ updateId }: WebhookUpdate): Promise<string | undefined> {
    const { updates } = await this.#page(updateId - 1, 1)
    return updates.find((update) => update.updateId === updateId)?.body
  }

  /** The update is acknowledged: its body makes room for others. */
  release({ body }: WebhookUpdate): void {
    this.#characters -= body?.length ?? 0
  }

  stop(): void {
    this.#isStopped = true
    this.#unlisten?.()
  }

  #page(after: number, limit: number) {
    const { key, world } = this.#options
    return world.webhooks.read(key.owned, { filter: key.filter, after, limit })
  }

  #fitting(update: WebhookUpdate): WebhookUpdate {
    const characters = update.body?.length ?? 0
    if (this.#characters + characters > CHARACTERS) return { ...update, body: undefined }
    this.#characters += characters
    return update
  }

  #listen() {
    this.#unlisten?.()
    const { key, world, reading, changed } = this.#options
    this.#unlisten = world.updates.listen(key.owned.credentialId, reading.head, () => {
      this.#unlisten?.()
      // At once: a key that seems to have read all may be put to sleep before its turn comes.
      this.#hasMore = true
      this.#unlisten = world.turns.soon(() => {
        this.#unlisten = undefined
        changed(false)
      })
    })
  }
}
