/** Reads updates ahead of their delivery, listens for new ones, and knows which are acknowledged. */
import { openRuns, type Progress, type Runs } from '../../machines/webhook/progress.ts'
import { pause } from '../host/time.ts'
import type { DeliveryWorld, ReceivingKey, WebhookUpdate } from '../ports/webhooks.ts'
import type { Lanes } from './lanes.ts'

/** Which updates of a webhook were read, and which of them are acknowledged. */
export class Reading {
  /** Ids that wait for their acknowledgement, in order, with their place among all ids that were read. */
  readonly #open = new Map<number, number>()
  readonly #before: Progress | undefined
  readonly #runs: Runs
  #head: number
  #places = 0

  /** `before` is the stored progress: updates that it has as acknowledged are not delivered again. */
  constructor(cursor: number, before: Progress | undefined) {
    this.#head = cursor
    this.#before = before
    this.#runs = before ? openRuns(before) : []
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
    for (const updateId of this.#open.keys()) return updateId - 1
    return this.#head
  }

  get waiting(): number {
    return this.#open.size
  }

  /** Takes a page that was read up to `head`; returns its updates that are still to be delivered. */
  take<Update extends { readonly updateId: number }>(
    updates: readonly Update[],
    head: number,
  ): Update[] {
    const missing = updates.filter(({ updateId }) => !this.#isAcknowledged(updateId))
    for (const { updateId } of updates) {
      this.#places++
      if (!this.#isAcknowledged(updateId)) this.#open.set(updateId, this.#places)
    }
    this.#head = Math.max(this.#head, head)
    return missing
  }

  /** Whether an earlier delivery had read it. */
  wasRead(updateId: number): boolean {
    return updateId <= (this.#before?.head ?? 0)
  }

  acknowledge(updateId: number): void {
    this.#open.delete(updateId)
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
    if (!before || before.head <= this.#head) {
      return { cursor: this.cursor, head: this.#head, waiting: this.#open.size, open }
    }
    const rest = this.#runs.filter(([, to]) => to > this.#head)
    for (const [from, to] of rest) open.push(Math.max(from, this.#head + 1), to)
    const cursor = (open[0] ?? before.head + 1) - 1
    return { cursor, head: before.head, waiting: Math.max(before.waiting, this.#open.size), open }
  }

  #isAcknowledged(updateId: number): boolean {
    const before = this.#before
    if (!before || updateId > before.head) return false
    return !this.#runs.some(([from, to]) => from <= updateId && updateId <= to)
  }
}

interface FeedOptions {
  readonly key: ReceivingKey
  readonly world: DeliveryWorld
  readonly reading: Reading
  readonly lanes: Lanes<WebhookUpdate>
  /** A page was read, or there are new updates. */
  changed(isEmpty: boolean): void
}

const PAGE = 200
/** Updates that are read and not acknowledged: a chat that fails for long must not fill the memory. */
const OPEN = 5_000
/** Bodies beyond this are dropped, and read again for their attempt. */
const CHARACTERS = 2_000_000
const AGAIN_MS = 1_000

export class Feed {
  readonly #options: FeedOptions
  #characters = 0
  #hasMore = true
  #isReading = false
  #isStopped = false
  #unlisten: (() => void) | undefined

  constructor(options: FeedOptions) {
    this.#options = options
  }

  get isCaughtUp(): boolean {
    return !this.#hasMore && !this.#isReading
  }

  get canRead(): boolean {
    return this.#hasMore && !this.#isReading && this.#options.reading.waiting < OPEN
  }

  async read(): Promise<void> {
    const { key, world, reading, lanes, changed } = this.#options
    this.#isReading = true
    let isEmpty = false
    try {
      reading.skip()
      const { updates, head } = await this.#page(reading.head, PAGE)
      this.#hasMore = updates.length === PAGE
      isEmpty = updates.length === 0
      for (const update of reading.take(updates, head)) lanes.add(this.#fitting(update))
      if (!this.#hasMore) this.#listen()
    } catch (err) {
      world.logger.error({ apiKeyId: key.owned.apiKeyId, err }, 'a webhook is in trouble')
      await pause(world.clock, AGAIN_MS)
    }
    this.#isReading = false
    changed(isEmpty)
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
    if (this.#isStopped) return
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
