/** Turns deliveries into events, has them stored with the checkpoint, and only then tells senders of the receipt. */
import type { SessionReport } from '../../../actors/platform.ts'
import { parseAddress } from './address.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Delivery } from './delivery.ts'
import { ns } from './namespaces.ts'
import { read } from './reading.ts'
import type { Sent } from './sent.ts'

export interface LedgerEvents {
  /** A message that this session sent is in the archive. */
  found(id: string): void
  /** The sender asked to be told that the message arrived. */
  receiptWanted(to: string, id: string): void
}

export class Ledger {
  checkpoint: Checkpoint | undefined
  readonly #own: string
  readonly #sent: Sent
  readonly #report: SessionReport
  readonly #events: LedgerEvents

  constructor(
    start: { own: string; checkpoint: Checkpoint | undefined; sent: Sent },
    report: SessionReport,
    events: LedgerEvents,
  ) {
    this.#own = start.own
    this.#sent = start.sent
    this.checkpoint = start.checkpoint
    this.#report = report
    this.#events = events
  }

  /** Stores a place in the archive without any event. */
  async mark(checkpoint: Checkpoint): Promise<void> {
    await this.#report.events([], { ...checkpoint })
    this.checkpoint = checkpoint
  }

  async commit(deliveries: readonly Delivery[]): Promise<void> {
    const known = { own: this.#own, sent: (id: string) => this.#sent.has(id) }
    const foreign = deliveries.filter((delivery) => !this.#isOwnSend(delivery))
    const happenings = foreign.flatMap((delivery) => read(delivery, known) ?? [])
    // Only what has a place in the archive moves the checkpoint. The library has acknowledged the stanzas to the
    // server already; should this commit fail, the next session fetches them from the archive.
    const last = deliveries.findLast(({ archived }) => archived)
    const checkpoint = last?.archived ? { mam: last.archived, at: last.at } : this.checkpoint
    if (happenings.length > 0 || last) {
      await this.#report.events(happenings, checkpoint ? { ...checkpoint } : null)
      this.checkpoint = checkpoint
    }
    for (const delivery of foreign) this.#acknowledge(delivery)
  }

  #isOwnSend({ message }: Delivery): boolean {
    const { id, from } = message.attrs
    if (!id || !this.#sent.has(id) || parseAddress(from)?.bare !== this.#own) return false
    this.#events.found(id)
    return true
  }

  #acknowledge({ message }: Delivery) {
    const { id, from, type } = message.attrs
    if (!id || !from || type === 'error' || !message.getChild('request', ns.receipts)) return
    if (parseAddress(from)?.bare !== this.#own) this.#events.receiptWanted(from, id)
  }
}
