/** Stores how far a webhook is: one write at a time, each with the newest, again where one failed. */
import type { Progress } from '../../machines/webhook/progress.ts'

export interface SaverWorld {
  /** Rushed: they come faster than they can be stored one by one. */
  save(progress: () => Progress, isRushed: boolean): Promise<void>
  /** This is stored now. */
  saved(cursor: number): void
  defect(cause: unknown): void
  later(work: () => void, milliseconds: number): () => void
}

const AGAIN_MS = 1_000
/** How long an acknowledgement may wait for others to be stored with. */
const LINGER_MS = 5
/** A webhook of a few connections is never in such a hurry. */
const RUSH = 16

export class Saver {
  readonly #world: SaverWorld
  readonly #progress: () => Progress
  readonly #enough: number
  /** Acknowledgements that a crash would forget. */
  #unsaved = 0
  #isDirty = false
  #isLast = false
  #writing: Promise<void> | undefined
  /** Of the write that is put off. */
  #cancel: (() => void) | undefined

  /** `enough` acknowledgements are stored without waiting for more. */
  constructor(world: SaverWorld, progress: () => Progress, enough: number) {
    this.#world = world
    this.#progress = progress
    this.#enough = enough
  }

  get unsaved(): number {
    return this.#unsaved
  }

  acknowledged(): void {
    this.#unsaved++
    this.#isDirty = true
    this.#consider()
  }

  /** Nothing was acknowledged, and still there is something new. */
  touch(): void {
    this.#isDirty = true
    this.#consider()
  }

  /** The last write; it is not tried again. */
  async close(): Promise<void> {
    this.#isLast = true
    if (this.#isDirty) this.#begin()
    await this.#writing
    this.#cancel?.()
  }

  /** So many came that none had to linger for others. */
  get #isRushed(): boolean {
    return this.#unsaved >= Math.max(this.#enough, RUSH)
  }

  #consider() {
    if (this.#writing) return
    if (this.#isLast || this.#unsaved >= this.#enough) this.#begin()
    else this.#cancel ??= this.#world.later(() => this.#begin(), LINGER_MS)
  }

  /** What came meanwhile is stored at once where it is enough, or nothing will come after it. */
  get #mustGoOn(): boolean {
    return this.#isDirty && (this.#isLast || this.#unsaved >= this.#enough)
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
    do {
      let covered = 0
      let cursor = 0
      try {
        const newest = () => {
          const progress = this.#progress()
          this.#isDirty = false
          covered = this.#unsaved
          cursor = progress.cursor
          return progress
        }
        await this.#world.save(newest, this.#isRushed)
        this.#unsaved -= covered
        this.#world.saved(cursor)
      } catch (cause) {
        this.#world.defect(cause)
        if (this.#isLast) return
        this.#isDirty = true
        await new Promise<void>((resolve) => this.#world.later(resolve, AGAIN_MS))
      }
    } while (this.#mustGoOn)
  }
}
