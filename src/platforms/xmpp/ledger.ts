/** Turns deliveries into events, has them stored with the checkpoint, and only then tells senders of the receipt. */
import { randomUUID } from 'node:crypto'
import type { SessionReport } from '../../../actors/platform.ts'
import type { Happening } from '../../../machines/happening.ts'
import { type Checkpoint, type Checkpoints, checkpointJson, withCheckpoint } from './checkpoint.ts'
import type { Delivery } from './delivery.ts'
import { NotStored } from './failures.ts'
import { type Invitation, readInvitation } from './invitation.ts'
import { ns } from './namespaces.ts'
import { read } from './reading.ts'
import type { Sent } from './sent.ts'
import { storable } from './storable.ts'

export interface LedgerEvents {
  /** A message that this session sent is in the archive, or was reflected by its room. */
  found(delivery: Delivery, id: string): void
  /** The sender asked to be told that the message arrived. */
  receiptWanted(to: string, id: string): void
  /** There is an invitation to be answered. */
  invited(): void
}

export interface LedgerStart {
  readonly own: string
  readonly checkpoints: Checkpoints
  readonly invited: readonly Invitation[]
  readonly sent: Sent
}

/** More than this nobody means. */
const mostInvitations = 20

export class Ledger {
  readonly #own: string
  readonly #sent: Sent
  readonly #report: SessionReport
  readonly #events: LedgerEvents
  #checkpoints: Checkpoints
  #invited: readonly Invitation[]
  /** The account and each of its rooms bring their own; one after the other moves the one checkpoint. */
  #line: Promise<void> = Promise.resolve()

  constructor(start: LedgerStart, report: SessionReport, events: LedgerEvents) {
    this.#own = start.own
    this.#sent = start.sent
    this.#checkpoints = start.checkpoints
    this.#invited = start.invited
    this.#report = report
    this.#events = events
  }

  checkpoint(archive: string): Checkpoint | undefined {
    return this.#checkpoints.get(archive)
  }

  /** Those not answered yet. */
  get invited(): readonly Invitation[] {
    return this.#invited
  }

  /** Stores a place in an archive without any event. */
  mark(archive: string, checkpoint: Checkpoint): Promise<void> {
    return this.#queue(() => {
      const checkpoints = withCheckpoint(this.#checkpoints, archive, checkpoint, this.#own)
      return this.#store([], checkpoints, this.#invited)
    })
  }

  /** Of what is in no archive. */
  tell(happening: Happening): Promise<void> {
    return this.#queue(() => this.#store([happening], this.#checkpoints, this.#invited))
  }

  /** `joined`: what came of it. */
  answered({ room }: Invitation, joined?: Happening): Promise<void> {
    return this.#queue(() => {
      const invited = this.#invited.filter((other) => other.room !== room)
      return this.#store(joined ? [joined] : [], this.#checkpoints, invited)
    })
  }

  commit(deliveries: readonly Delivery[]): Promise<void> {
    return this.#queue(() => this.#commit(deliveries))
  }

  async #commit(deliveries: readonly Delivery[]): Promise<void> {
    const known = {
      own: this.#own,
      sent: (id: string) => this.#sent.has(id),
      isRoom: (address: string) => this.#checkpoints.has(address) && address !== this.#own,
    }
    const foreign = deliveries.filter((delivery) => !this.#isOwnSend(delivery))
    const happenings = foreign.flatMap((delivery) => read(delivery, known) ?? [])
    // Only what has a place in an archive moves the checkpoint. The library has acknowledged the stanzas to the
    // server already; should this commit fail, the next session fetches them from the archive.
    const last = deliveries.findLast(({ archived }) => archived !== undefined)
    const place = last?.archived !== undefined && { mam: last.archived, at: last.at }
    const checkpoints =
      last && place
        ? withCheckpoint(this.#checkpoints, last.archive, place, this.#own)
        : this.#checkpoints
    const invited = this.#withInvitations(foreign)
    const isInvited = invited !== this.#invited
    if (happenings.length > 0 || last || isInvited) {
      await this.#store(happenings, checkpoints, invited)
    }
    if (isInvited) this.#events.invited()
    for (const delivery of foreign) this.#acknowledge(delivery)
  }

  async #store(
    happenings: readonly Happening[],
    checkpoints: Checkpoints,
    invited: readonly Invitation[],
  ): Promise<void> {
    const checkpoint = checkpointJson(checkpoints, this.#own, invited)
    await this.#report.events(happenings, checkpoint).catch((cause) => {
      throw new NotStored('The events could not be stored', { cause })
    })
    this.#checkpoints = checkpoints
    this.#invited = invited
  }

  #withInvitations(deliveries: readonly Delivery[]): readonly Invitation[] {
    const invited = [...this.#invited]
    for (const { message, own, room, archived, at } of deliveries) {
      const invitation = own || room ? undefined : readInvitation(message)
      const isKnown = invited.some((other) => other.room === invitation?.room)
      if (!invitation || isKnown || invited.length >= mostInvitations) continue
      const key = storable(archived ?? message.attrs.id ?? randomUUID())
      invited.push({ ...invitation, key, at })
    }
    return invited.length > this.#invited.length ? invited : this.#invited
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
