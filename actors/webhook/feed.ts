/** Reads the log ahead of what is delivered, and waits for what comes next. */
import type { Reading } from '../../machines/webhook/progress.ts'
import type { WebhookUpdate } from '../ports/webhooks.ts'

export interface FeedWorld {
  read(after: number, limit: number): Promise<{ updates: readonly WebhookUpdate[]; head: number }>
  listen(after: number, notify: () => void): () => void
  defect(cause: unknown): void
  later(work: () => void, milliseconds: number): () => void
}

interface FeedOptions {
  readonly world: FeedWorld
  readonly reading: Reading
  add(update: WebhookUpdate): void
  /** Something was read, or something came. */
  changed(isEmpty: boolean): void
}

const PAGE = 200
/** Updates that were read and are not acknowledged: a chat that fails for long must not fill the memory. */
const OPEN = 5_000
/** Bodies beyond that are read again when their turn comes. */
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
    const { world, reading, changed, add } = this.#options
    this.#isReading = true
    let isEmpty = false
    try {
      const { updates, head } = await world.read(reading.head, PAGE)
      this.#hasMore = updates.length === PAGE
      isEmpty = updates.length === 0
      for (const update of reading.take(updates, head)) add(this.#fitting(update))
      if (!this.#hasMore) this.#listen()
    } catch (cause) {
      world.defect(cause)
      await new Promise<void>((resolve) => world.later(resolve, AGAIN_MS))
    }
    this.#isReading = false
    changed(isEmpty)
  }

  /** Of an update that was read without; undefined where retention took it meanwhile. */
  async bodyOf({ updateId }: WebhookUpdate): Promise<string | undefined> {
    const { updates } = await this.#options.world.read(updateId - 1, 1)
    return updates.find((update) => update.updateId === updateId)?.body
  }

  /** It is acknowledged: its body makes room for others. */
  release({ body }: WebhookUpdate): void {
    this.#characters -= body?.length ?? 0
  }

  stop(): void {
    this.#isStopped = true
    this.#unlisten?.()
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
    const { world, reading, changed } = this.#options
    this.#unlisten = world.listen(reading.head, () => {
      this.#unlisten?.()
      this.#unlisten = undefined
      this.#hasMore = true
      changed(false)
    })
  }
}
