/** Fetches from the archive whatever came since the checkpoint, page by page. */
import type { Archive, ArchivedMessage, Page, PageRange } from './archive.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Delivery } from './delivery.ts'
import type { Ledger } from './ledger.ts'
import type { Log } from './log.ts'
import { RequestRefused } from './requests.ts'

/** How much the clocks of the server and of this machine may differ. */
const clockToleranceSeconds = 60
/** Stored at a time; the pages of an archive may be larger. */
const batchSize = 100

export class CatchUp {
  readonly #archive: Archive
  readonly #ledger: Ledger
  readonly #log: Log
  readonly #deliver: (archived: ArchivedMessage) => Delivery

  constructor(
    archive: Archive,
    ledger: Ledger,
    log: Log,
    deliver: (archived: ArchivedMessage) => Delivery,
  ) {
    this.#archive = archive
    this.#deliver = deliver
    this.#ledger = ledger
    this.#log = log
  }

  /** The first start begins now, not with the history. Resolves with whether there is an archive. */
  async begin(signal: AbortSignal): Promise<boolean> {
    try {
      const { messages } = await this.#archive.page({ before: '', max: 1 }, signal)
      const last = messages.at(-1)
      const { address } = this.#archive
      if (!this.#ledger.checkpoint(address)) {
        const now = Math.floor(Date.now() / 1000)
        await this.#ledger.mark(address, { mam: last?.id ?? '', at: last?.at ?? now })
      }
      return true
    } catch (cause) {
      if (!(cause instanceof RequestRefused)) throw cause
      this.#log.warn({ condition: cause.condition }, 'the server keeps no archive: gaps stay gaps')
      return false
    }
  }

  /** Resolves with the archive ids of all that was committed. */
  async run(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const ids = new Set<string>()
    const { address } = this.#archive
    for (let checkpoint = this.#ledger.checkpoint(address); checkpoint; ) {
      const { messages, complete } = await this.#after(checkpoint, signal)
      signal.throwIfAborted()
      for (let start = 0; start < messages.length; start += batchSize) {
        const batch = messages.slice(start, start + batchSize)
        await this.#ledger.commit(batch.map(this.#deliver))
        signal.throwIfAborted()
      }
      for (const { id } of messages) ids.add(id)
      if (complete || messages.length === 0) break
      checkpoint = this.#ledger.checkpoint(address)
    }
    return ids
  }

  async #after(checkpoint: Checkpoint, signal: AbortSignal): Promise<Page> {
    const range: PageRange = checkpoint.mam ? { after: checkpoint.mam } : {}
    try {
      return await this.#archive.page(range, signal)
    } catch (cause) {
      if (!(cause instanceof RequestRefused) || cause.condition !== 'item-not-found') throw cause
      this.#log.warn(
        { checkpoint },
        'the archive no longer knows the checkpoint: going by its time',
      )
      return this.#archive.page({ start: checkpoint.at - clockToleranceSeconds }, signal)
    }
  }
}
