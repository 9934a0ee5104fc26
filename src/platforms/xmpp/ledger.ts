/** Turns deliveries into events, has them stored with the checkpoint, and only then tells senders of the receipt. */
import type { SessionReport } from '../../../actors/platform.ts'
import { type Checkpoint, type Checkpoints, checkpointsJson } from './checkpoint.ts'
import type { Delivery } from './delivery.ts'
import { ns } from './namespaces.ts'
import { read } from './reading.ts'
import type { Sent } from './sent.ts'

export interface LedgerEvents {
  /** A message that this session sent is in the archive, or was reflected by its room. */
  found(delivery: Delivery, id: string): void
  /** The sender asked to be told that the message arrived. */
  receiptWanted(to: string, id: string): void
}

export class Ledger {
  readonly #own: string
  readonly #sent: Sent
  readonly #report: SessionReport
  readonly #events: LedgerEvents
  #checkpoints: Checkpoints
  /** The account and each of its rooms bring their own; one after the other moves the one checkpoint. */
  #line: Promise<void> = Promise.resolve()

  constructor(
    start: { own: string; checkpoints: Checkpoints; sent: Sent },
    report: SessionReport,
    events: LedgerEvents,
  ) {
    this.#own = start.own
    this.#sent = start.sent
    this.#checkpoints = start.checkpoints
    this.#report = report
    this.#events = events
  }

  checkpoint(archive: string): Checkpoint | undefined {
    return this.#checkpoints.get(archive)
  }

  /** Stores a place in an archive without any event. */
  mark(archive: string, checkpoint: Checkpoint): Promise<void> {
    return this.#queue(async () => {
      const checkpoints = new Map(this.#checkpoints).set(archive, checkpoint)
      await this.#report.events([], checkpointsJson(checkpoints, this.#own))
      this.#checkpoints = checkpoints
    })
  }

  commit(deliveries: readonly Delivery[]): Promise<void> {
    return this.#queue(() => this.#commit(deliveries))
  }

  async #commit(deliveries: readonly Delivery[]): Promise<void> {
    const known = { own: this.#own, sent: (id: string) => this.#sent.has(id) }
    const foreign = deliveries.filter((delivery) => !this.#isOwnSend(delivery))
    const happenings = foreign.flatMap((delivery) => read(delivery, known) ?? [])
    // Only what has a place in an archive moves the checkpoint. The library has acknowledged the stanzas to the
    // server already; should this commit fail, the next session fetches them from the archive.
    const last = deliveries.findLast(({ archived }) => archived !== undefined)
    const checkpoints = new Map(this.#checkpoints)
    if (last?.archived !== undefined)
      checkpoints.set(last.archive, { mam: last.archived, at: last.at })
    if (happenings.length > 0 || last) {
      const json = checkpoints.size > 0 ? checkpointsJson(checkpoints, this.#own) : null
      await this.#report.events(happenings, json)
      this.#checkpoints = checkpoints
    }
    for (const delivery of foreign) this.#acknowledge(delivery)
  }

  #isOwnSend(delivery: Delivery): boolean {
    const { id } = delivery.message.attrs
    if (!id || !delivery.own || !this.#sent.has(id)) return false
    this.#events.found(delivery, id)
    return true
  }

  #acknowledge({ message, own, room }: Delivery) {
    const { id, from, type } = message.attrs
    if (!id || !from || type === 'error' || own || room) return
    if (message.getChild('request', ns.receipts)) this.#events.receiptWanted(from, id)
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#line.then(work)
    // Whoever brought it hears of a failure.
    this.#line = done.catch(() => undefined)
    return done
  }
}
