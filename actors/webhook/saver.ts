/** Stores the progress of a webhook: one write at a time, always the newest, again after a failure. */
import type { Progress } from '../../machines/webhook/progress.ts'
import { later, pause } from '../host/time.ts'
import type { DeliveryWorld, ReceivingKey } from '../ports/webhooks.ts'

interface SaverOptions {
  readonly key: ReceivingKey
  readonly world: DeliveryWorld
  /** After this many acknowledgements, the progress is stored without waiting for more. */
  readonly enough: number
  progress(): Progress
  /** Everything up to this id is stored. */
  saved(cursor: number): void
}

const AGAIN_MS = 1_000
/** How long an acknowledgement may wait for others, to be stored with them. */
const LINGER_MS = 5
/** A webhook with fewer connections is never rushed. */
const RUSH = 16

export class Saver {
  readonly #options: SaverOptions
  /** Acknowledgements that are not stored: a crash repeats their updates. */
  #unsaved = 0
  #isDirty = false
  #isLast = false
  #writing: Promise<void> | undefined
  /** Cancels the write that waits for more acknowledgements. */
  #cancel: (() => void) | undefined

  constructor(options: SaverOptions) {
    this.#options = options
  }

  get unsaved(): number {
    return this.#unsaved
  }

  acknowledged(): void {
    this.#unsaved++
    this.#isDirty = true
    this.#consider()
  }

  /** The progress has changed without an acknowledgement. */
  touch(): void {
    this.#isDirty = true
    this.#consider()
  }

  /** Makes the last write, which is not tried again. */
  async close(): Promise<void> {
    this.#isLast = true
    if (this.#isDirty) this.#begin()
    await this.#writing
    this.#cancel?.()
  }

  /** Acknowledgements come faster than they can be stored one by one. */
  get #isRushed(): boolean {
    return this.#unsaved >= Math.max(this.#options.enough, RUSH)
  }

  #consider() {
    if (this.#writing) return
    if (this.#isLast || this.#unsaved >= this.#options.enough) this.#begin()
    else this.#cancel ??= later(this.#options.world.clock, () => this.#begin(), LINGER_MS)
  }

  /** New progress is stored at once if it is enough, or if this is the last write. */
  get #mustGoOn(): boolean {
    return this.#isDirty && (this.#isLast || this.#unsaved >= this.#options.enough)
  }

  #begin() {
    this.#cancel?.()
    this.#cancel = undefined
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      if (this.#isDirty && !this.#isLast) this.#consider()
    })
  }

  async #write(): Promise<void> {
    const { key, world, progress, saved } = this.#options
    do {
      let covered = 0
      let cursor = 0
      const newest = () => {
        const current = progress()
        this.#isDirty = false
        covered = this.#unsaved
        cursor = current.cursor
        return current
      }
      try {
        await world.webhooks.saveProgress(key.owned, newest, this.#isRushed)
        this.#unsaved -= covered
        saved(cursor)
      } catch (err) {
        world.logger.error({ apiKeyId: key.owned.apiKeyId, err }, 'a webhook is in trouble')
        if (this.#isLast) return
        this.#isDirty = true
        await pause(world.clock, AGAIN_MS)
      }
    } while (this.#mustGoOn)
  }
}
