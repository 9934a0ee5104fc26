/** Turns deliveries into events, stores them with the checkpoint, and confirms receipt to senders only afterwards. */
import type { Element } from '@xmpp/client'
import type { SessionReport } from '../../../actors/ports/platform.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { EventLine } from '../kit/event-line.ts'
import { RecentMap, SparseMap } from '../kit/recent-map.ts'
import type { SentRequests } from '../kit/sent-requests.ts'
import {
  type Beside,
  type Checkpoint,
  type Checkpoints,
  checkpointJson,
  Repeats,
  Unacknowledged,
  type Unarchived,
  unarchivedOf,
  withCheckpoint,
} from './checkpoint.ts'
import type { IncomingMessage } from './delivery.ts'
import { type Invitation, readInvitation } from './invitation.ts'
import {
  isOrdinary,
  isRandom,
  MessageNames,
  MOST_REMEMBERED,
  targetOf,
  unchanged,
} from './message-identity.ts'
import { ns } from './namespaces.ts'
import { type Known, Opinions, reactionsIn, read, repliedTo } from './reading.ts'
import { LONGEST_ECHO } from './requests.ts'

/** Within this time, a server delivers all messages to which it gave earlier ids. */
const SETTLED_MS = 5_000
const MOST_ARCHIVE_IDS = 100

export class RecentIds {
  /** The oldest first. */
  readonly #stored: { readonly id: string; readonly at: number }[] = []
  #before: string | undefined

  constructor(before: string | undefined) {
    this.#before = before
  }

  /** Messages of the archive up to this id are stored for certain; `undefined`: none are. */
  get before(): string | undefined {
    return this.#before
  }

  add(id: string, now = performance.now()) {
    if (this.#stored.at(-1)?.id === id) return
    this.#stored.push({ id, at: now })
    for (;;) {
      const [oldest] = this.#stored
      const isSettled = oldest !== undefined && now - oldest.at >= SETTLED_MS
      if (!oldest || (!isSettled && this.#stored.length <= MOST_ARCHIVE_IDS)) return
      this.#stored.shift()
      this.#before = oldest.id
    }
  }
}

interface LedgerEvents {
  /** A message that this session sent is in the archive, or was reflected by its room. */
  found(delivery: IncomingMessage, id: string): void
  /** The sender asked for a receipt. */
  receiptWanted(to: string, id: string): void
  /** The same happenings, with the measured sizes of their pictures. */
  measured(happenings: readonly Happening[]): Promise<readonly Happening[]>
  /** There is an invitation to be answered. */
  invited(): void
  /** The newest messages of the account's archive, the oldest of them first. */
  recall(): Promise<readonly IncomingMessage[]>
}

interface LedgerStart extends Beside {
  readonly own: string
  readonly checkpoints: Checkpoints
  readonly sent: SentRequests
}

/** So many rooms are remembered that the account is out of; the newest last. */
const MOST_OUT = 100

/** More invitations than real people send. */
const MOST_INVITATIONS = 20

export class Ledger {
  readonly #own: string
  readonly #sent: SentRequests
  readonly #events: LedgerEvents
  readonly #known: Known
  #repeats: Repeats
  readonly #recent = new RecentMap<string, true>(MOST_REMEMBERED)
  readonly #recentIds = new SparseMap<string, RecentIds>()
  readonly #unacknowledged: Unacknowledged
  #isRecalled = false
  #checkpoints: Checkpoints
  #invited: readonly Invitation[]
  #out: readonly string[]
  /** Rooms of which that is to be stored, after what the line has before it. */
  #goingOut: readonly string[] = []
  /** The account and each of its rooms report on their own; they move the shared checkpoint one after the other. */
  readonly #line: EventLine

  constructor(start: LedgerStart, report: SessionReport, events: LedgerEvents) {
    this.#own = start.own
    this.#sent = start.sent
    this.#checkpoints = start.checkpoints
    this.#invited = start.invited
    this.#out = start.out
    this.#repeats = new Repeats(start.unarchived)
    this.#unacknowledged = new Unacknowledged(start.unarchived)
    this.#line = new EventLine(report)
    this.#events = events
    this.#known = {
      own: start.own,
      names: new MessageNames(),
      opinions: new Opinions(),
      sent: (id) => this.#sent.has(id),
      isRoom: (address) => this.#checkpoints.has(address) && address !== this.#own,
    }
  }

  /** The stream is a new one: the server may send again what was not acknowledged on an earlier one, also of this session. */
  expectRepeats(): void {
    this.#repeats = new Repeats(this.#unacknowledged.begin())
  }

  /** The stream of the session before goes on: what that one stored comes no more. */
  expectNoRepeats(): void {
    this.#repeats = new Repeats([])
  }

  /** Resolves once all that was reported is stored, or has failed. */
  settled(): Promise<void> {
    return this.#line.run(async () => undefined)
  }

  /** Reads an old message as at its first report; its ids go on to name newer messages. */
  readAgain(delivery: IncomingMessage): Happening | undefined {
    const names = unchanged(this.#known.names)
    return read(delivery, { ...this.#known, names, opinions: new Opinions() })
  }

  /** Whether this session has stored the message with this key. */
  has(key: string): boolean {
    return this.#recent.has(key)
  }

  checkpoint(archive: string): Checkpoint | undefined {
    return this.#checkpoints.get(archive)
  }

  /** The invitations that are not answered yet. */
  get invited(): readonly Invitation[] {
    return this.#invited
  }

  /** Stores a place in an archive without any event. */
  mark(archive: string, checkpoint: Checkpoint): Promise<void> {
    return this.#line.run(() => {
      const checkpoints = withCheckpoint(this.#checkpoints, archive, checkpoint, this.#own)
      return this.#store([], checkpoints, this.#invited)
    })
  }

  /** The rooms that the next session must not take up again, whatever is stored or bookmarked. */
  get out(): readonly string[] {
    return [...this.#out, ...this.#goingOut]
  }

  /** Stores that the account is out of a room, with the happening by which it was put out; one that is in no archive. */
  noteOut(room: string, happening?: Happening): Promise<void> {
    const out = (rooms: readonly string[]) => [...without(rooms, room), room].slice(-MOST_OUT)
    this.#goingOut = [...this.#goingOut, room]
    return this.#noteOut(out, happening).finally(() => {
      this.#goingOut = without(this.#goingOut, room)
    })
  }

  /** Nothing would lead the account back into the room any more, or it is to be in it again. */
  async forgetOut(room: string): Promise<void> {
    if (this.out.includes(room)) await this.#noteOut((rooms) => without(rooms, room))
  }

  #noteOut(change: (rooms: readonly string[]) => readonly string[], happening?: Happening) {
    return this.#line.run(async () => {
      const before = this.#out
      this.#out = change(before)
      const happenings = happening ? [happening] : []
      await this.#store(happenings, this.#checkpoints, this.#invited).catch((cause) => {
        this.#out = before
        throw cause
      })
    })
  }

  /** Removes an answered invitation. `joined`: the result. */
  answered({ room }: Invitation, joined?: Happening): Promise<void> {
    return this.#line.run(() => {
      const invited = this.#invited.filter((other) => other.room !== room)
      return this.#store(joined ? [joined] : [], this.#checkpoints, invited)
    })
  }

  commit(deliveries: readonly IncomingMessage[]): Promise<void> {
    return this.#line.run(() => this.#commit(deliveries))
  }

  async #commit(deliveries: readonly IncomingMessage[]): Promise<void> {
    const again: Unarchived[] = []
    const news = deliveries.filter((delivery) => !this.#isRepeat(delivery, again))
    this.#unacknowledged.addAgain(again)
    if (!this.#isRecalled && news.some(({ message }) => namesUnknown(message))) {
      this.#isRecalled = true
      for (const delivery of await this.#events.recall()) read(delivery, this.#known)
    }
    for (const { room, message } of news) if (room && targetOf(message)) await room.recall()
    const foreign = news.filter((delivery) => !this.#isOwnSend(delivery))
    const told = foreign.flatMap((delivery) => read(delivery, this.#known) ?? [])
    const happenings = await this.#events.measured(told)
    // Only messages with a place in an archive move the checkpoint: if this commit fails, the next session fetches them from
    // there. To the server only what rooms say is acknowledged by now.
    const last = news.findLast(({ archived }) => archived !== undefined)
    const place = last?.archived !== undefined && this.#placeAfter(news, last)
    const checkpoints =
      last && place
        ? withCheckpoint(this.#checkpoints, last.archive, place, this.#own)
        : this.#checkpoints
    const invited = this.#withInvitations(foreign)
    const isInvited = invited !== this.#invited
    if (happenings.length > 0 || last || isInvited) {
      this.#unacknowledged.add(unarchivedOf(news))
      await this.#store(happenings, checkpoints, invited)
    }
    for (const { key } of news) this.#recent.set(key, true)
    if (isInvited) this.#events.invited()
    for (const delivery of foreign) this.#acknowledge(delivery)
  }

  async #store(
    happenings: readonly Happening[],
    checkpoints: Checkpoints,
    invited: readonly Invitation[],
  ): Promise<void> {
    const unarchived = this.#unacknowledged.text
    const beside = { invited, out: this.#out, unarchived }
    const checkpoint = checkpointJson(checkpoints, this.#own, beside)
    await this.#line.store(happenings, checkpoint)
    this.#checkpoints = checkpoints
    this.#invited = invited
  }

  #placeAfter(
    deliveries: readonly IncomingMessage[],
    { archive, archived = '', at }: IncomingMessage,
  ) {
    const stored = this.#checkpoints.get(archive)
    const ids = this.#recentIds.get(archive) ?? new RecentIds(stored?.from ?? stored?.mam)
    this.#recentIds.set(archive, ids)
    for (const delivery of deliveries) {
      if (delivery.archive === archive && delivery.archived) ids.add(delivery.archived)
    }
    const { before } = ids
    const from = before !== undefined && before !== archived && { from: before }
    return { mam: archived, ...from, at }
  }

  #withInvitations(deliveries: readonly IncomingMessage[]): readonly Invitation[] {
    const invited = [...this.#invited]
    for (const { message, own, room, key, at, again } of deliveries) {
      const isNone = own || room || again || isOrdinary(message)
      const invitation = isNone ? undefined : readInvitation(message)
      const isKnown = invited.some((other) => other.room === invitation?.room)
      if (!invitation || isKnown || invited.length >= MOST_INVITATIONS) continue
      invited.push({ ...invitation, key, at })
    }
    return invited.length > this.#invited.length ? invited : this.#invited
  }

  /** `stored`: gets what the server repeats of an earlier stream. */
  #isRepeat(delivery: IncomingMessage, stored: Unarchived[]): boolean {
    if (this.#recent.has(delivery.key)) return true
    const repeated = this.#repeats.take(delivery)
    if (repeated) return stored.push(repeated) > 0
    // The earlier session has not reported all messages that it sent, so the log lacks them.
    const { again, own, message } = delivery
    return again === true && own && isRandom(message.attrs.id ?? '')
  }

  #isOwnSend(delivery: IncomingMessage): boolean {
    const { id } = delivery.message.attrs
    if (!id || !delivery.own || !this.#sent.has(id)) return false
    this.#events.found(delivery, id)
    return true
  }

  #acknowledge({ message, own, room, again }: IncomingMessage) {
    const { id, from, type } = message.attrs
    if (!id || !from || type === 'error' || own || room || again) return
    if (id.length > LONGEST_ECHO) return
    if (message.getChild('request', ns.receipts)) this.#events.receiptWanted(from, id)
  }
}

const without = (rooms: readonly string[], room: string) => rooms.filter((other) => other !== room)

/** The message names one that earlier sessions may have stored: by a reused id, or to change what may be another one's. */
function namesUnknown(message: Element): boolean {
  if (isOrdinary(message)) return false
  if (targetOf(message)) return true
  const named = repliedTo(message) ?? reactionsIn(message)?.id
  return named !== undefined && !isRandom(named)
}
