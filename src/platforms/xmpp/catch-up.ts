/** Fetches all messages since the checkpoint from the archive, page by page. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../../actors/ports/ports.ts'
import { NotStored } from '../kit/event-line.ts'
import { readPages } from '../kit/pages.ts'
import {
  type Archive,
  type ArchivedMessage,
  type ArchivePage,
  nowSeconds,
  type PageRange,
} from './archive.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { IncomingMessage } from './delivery.ts'
import type { Ledger } from './ledger.ts'
import { RequestRefused } from './requests.ts'

/** How much the clocks of the server and of this machine may differ. */
export const CLOCK_TOLERANCE_SECONDS = 60
/** Stored at a time; the pages of an archive may be larger. */
const BATCH_SIZE = 100
/** Pauses before an archive that existed counts as missing: the parts of a stopping server disappear one by one. */
const askAgainMilliseconds = [1_000, 3_000]
/** How many messages are read again for the ids that others name them by. */
const mostRecalled = 100
const LONGEST_PAUSE_MS = 60_000

/** The conditions by which servers refuse if they have no archive, or none for this account. */
const missing: ReadonlySet<string> = new Set([
  'feature-not-implemented',
  'forbidden',
  'item-not-found',
  'not-allowed',
  'service-unavailable',
])

export class CatchUp {
  readonly #archive: Archive
  readonly #ledger: Ledger
  readonly #logger: Logger
  readonly #deliver: (archived: ArchivedMessage) => IncomingMessage
  #readUntil = 0
  #isBehind = true

  constructor(
    archive: Archive,
    ledger: Ledger,
    logger: Logger,
    deliver: (archived: ArchivedMessage) => IncomingMessage,
  ) {
    this.#archive = archive
    this.#deliver = deliver
    this.#ledger = ledger
    this.#logger = logger
  }

  /** The time of the newest message at the beginning, by the clock of the server. */
  get readUntil(): number {
    return this.#readUntil
  }

  /** Whether the archive had more than what is stored, at the beginning. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  /** On the first start, stores the current end of the archive as the checkpoint. Resolves with whether there is an archive. */
  async begin(signal: AbortSignal): Promise<boolean> {
    const newest = await this.#newest(signal)
    if (!newest) return false
    const last = newest.messages.at(-1)
    this.#readUntil = last?.at ?? 0
    const { address } = this.#archive
    if (!this.#ledger.checkpoint(address)) {
      await this.#ledger.mark(address, { mam: last?.id ?? '', at: last?.at ?? nowSeconds() })
    }
    this.#isBehind = this.#ledger.checkpoint(address)?.mam !== (last?.id ?? '')
    return true
  }

  /** `undefined`: there is no archive. */
  async #newest(signal: AbortSignal): Promise<ArchivePage | undefined> {
    const wasThere = this.#ledger.checkpoint(this.#archive.address)?.mam
    const pauses = wasThere ? [...askAgainMilliseconds] : []
    for (;;) {
      try {
        return await this.#archive.page({ before: '', max: 1 }, signal)
      } catch (cause) {
        if (!(cause instanceof RequestRefused) || !missing.has(cause.condition)) throw cause
        const pause = pauses.shift()
        if (pause !== undefined) await delay(pause, undefined, { signal })
        else return this.#without(cause)
      }
    }
  }

  #without({ condition }: RequestRefused): undefined {
    this.#logger.warn({ condition }, 'the server keeps no archive: gaps stay gaps')
  }

  /**
   * Reads the archive after `checkpoint` once more after each of these times. ejabberd may deliver a message that arrives
   * together with the presence to no client, and archive it later with a time before the checkpoint. Known messages are
   * not stored again. Rejects if something could not be stored.
   */
  async settle(
    checkpoint: Checkpoint,
    milliseconds: readonly number[],
    signal: AbortSignal,
  ): Promise<void> {
    const pauses = [...milliseconds]
    for (let pause = pauses.shift(); pause !== undefined; pause = pauses.shift()) {
      await delay(pause, undefined, { signal, ref: false })
      try {
        await this.run(signal, true, checkpoint)
      } catch (err) {
        if (signal.aborted || err instanceof NotStored) throw err
        this.#logger.warn({ err }, 'the archive could not be read once more, and is asked again')
        pauses.push(Math.min(2 * pause, LONGEST_PAUSE_MS))
      }
    }
  }

  /** Resolves with the keys of all that was read. `recovered`: there was a gap. */
  async run(
    signal: AbortSignal,
    recovered = true,
    checkpoint = this.#ledger.checkpoint(this.#archive.address),
  ): Promise<ReadonlySet<string>> {
    const first = checkpoint?.from ?? checkpoint?.mam
    if (!checkpoint || first === undefined) return new Set()
    let again = checkpoint.from !== undefined
    const { keys } = await readPages(first, async (after) => {
      const { messages, complete } = await this.#after(after, checkpoint, signal)
      signal.throwIfAborted()
      const deliveries: IncomingMessage[] = []
      for (const [index, archived] of messages.entries()) {
        if (again && archived.id !== checkpoint.mam)
          again = messages[index - 1]?.id !== checkpoint.mam
        deliveries.push({ ...this.#deliver(archived), recovered, ...(again && { again }) })
      }
      for (let start = 0; start < deliveries.length; start += BATCH_SIZE) {
        await this.#ledger.commit(deliveries.slice(start, start + BATCH_SIZE))
        signal.throwIfAborted()
      }
      return {
        keys: deliveries.map(({ key }) => key),
        isLast: complete,
        next: (hasNews) => (hasNews ? beforeLast(messages, after) : messages.at(-1)?.id),
      }
    })
    return keys
  }

  /** The newest messages, the oldest of them first; none where the archive does not show them. */
  async recall(signal: AbortSignal): Promise<readonly IncomingMessage[]> {
    try {
      const { messages } = await this.#archive.page({ before: '', max: mostRecalled }, signal)
      return messages.map((archived) => this.#deliver(archived))
    } catch (err) {
      this.#logger.info({ err }, 'the archive did not show what came before')
      return []
    }
  }

  async #after(after: string, checkpoint: Checkpoint, signal: AbortSignal): Promise<ArchivePage> {
    const range: PageRange = after ? { after } : {}
    try {
      return await this.#archive.page(range, signal)
    } catch (cause) {
      if (!(cause instanceof RequestRefused) || cause.condition !== 'item-not-found') throw cause
      // The archive has deleted the message of the checkpoint, but not the later ones.
      const { mam } = checkpoint
      if (after === checkpoint.from) return this.#after(mam, { mam, at: checkpoint.at }, signal)
      this.#logger.warn(
        { checkpoint },
        'the archive no longer knows the checkpoint: going by its time',
      )
      return this.#archive.page({ start: checkpoint.at - CLOCK_TOLERANCE_SECONDS }, signal)
    }
  }
}

/** Several messages can have the same id: the next page begins with all that have the last one's. */
function beforeLast(messages: readonly ArchivedMessage[], after: string): string {
  const last = messages.at(-1)?.id
  return messages.findLast(({ id }) => id !== last)?.id ?? after
}
