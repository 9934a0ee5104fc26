/** One room: joined again after every break, its messages in order, missed ones from its archive. */
import { type Element, xml } from '@xmpp/client'
import type { Logger } from '../../../../actors/ports/ports.ts'
import type { Chat } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import type { Person } from '../../../../machines/model/person.ts'
import { RecentMap } from '../../kit/recent-map.ts'
import { parseAddress } from '../address.ts'
import { Archive, type ArchivedMessage } from '../archive.ts'
import { CatchUp, CLOCK_TOLERANCE_SECONDS } from '../catch-up.ts'
import type { IncomingMessage, RoomReader } from '../delivery.ts'
import type { RoomFacts } from '../discovery.ts'
import { Inbox } from '../inbox.ts'
import type { Ledger } from '../ledger.ts'
import { keyOf, MessageNames, MOST_REMEMBERED, storable, unchanged } from '../message-identity.ts'
import { ns } from '../namespaces.ts'
import { Opinions } from '../reading.ts'
import type { Requests } from '../requests.ts'
import type { Stream } from '../stream.ts'
import type { Bookmark } from './bookmarks.ts'
import { Entrance } from './entrance.ts'
import { Members } from './members.ts'
import { Moderation } from './moderation.ts'
import { type KnownOccupant, Occupants, shownAddress } from './occupants.ts'
import { RoomMessageIds, readRoom, removal, stampsOf, unknownIds } from './reading.ts'
import { setRoom } from './settings.ts'

const RECALL_MS = 20_000
/** An account has many rooms, and what it leaves is small. */
const MOST_GIVEN_LEFT = 50

export interface RoomParts {
  readonly own: string
  /** The account's nick in rooms without another one. */
  readonly nick: string
  readonly stream: Stream
  readonly requests: Requests
  readonly ledger: Ledger
  readonly logger: Logger
  /** A message that this session sent has come back from the room. */
  reflected(delivery: IncomingMessage, id: string): void
  /** Whether this session sent a message with this id. */
  sent(id: string): boolean
  failed(cause: unknown): void
  /** Somebody put the account out: `happening`. */
  putOut(room: Room, happening: Happening): void
}

/** A room that the account is in, as a session leaves it to the next one on the same stream. */
export interface RoomState {
  readonly bookmark: Bookmark
  readonly nick: string
  readonly facts: RoomFacts
  readonly subject: string
  readonly occupants: readonly KnownOccupant[]
  /** The newest messages by their natives, and the ids by which the room names them. */
  readonly given?: readonly (readonly [native: string, id: string])[]
}

export class Room implements RoomReader {
  readonly address: string
  readonly archive: Archive
  readonly ids = new RoomMessageIds()
  readonly #names = new MessageNames()
  readonly #opinions = new Opinions()
  /** The ids that it gives to messages without keeping them, by their natives. */
  readonly #given = new RecentMap<string, string>(MOST_REMEMBERED)
  readonly members: Members
  readonly moderation: Moderation
  readonly #parts: RoomParts
  readonly #occupants: Occupants
  readonly #entrance: Entrance
  readonly #inbox: Inbox
  readonly #catchUp: CatchUp
  readonly #bookmark: Bookmark
  #facts: RoomFacts
  #subject = ''
  /** The ids of its last messages are not known here, since another session has read them. */
  #isUnread = false

  constructor(bookmark: Bookmark, facts: RoomFacts, parts: RoomParts) {
    this.address = bookmark.room
    this.#bookmark = bookmark
    this.#facts = facts
    this.#parts = parts
    this.archive = new Archive(this.address, parts.own, parts.requests)
    this.#occupants = new Occupants(this.address)
    this.members = new Members(this.address, this.#occupants, parts.requests)
    this.moderation = new Moderation({
      room: this.address,
      own: parts.own,
      members: this.members,
      occupants: this.#occupants,
      requests: parts.requests,
    })
    this.#entrance = new Entrance({ nick: parts.nick, ...bookmark }, parts.stream)
    this.#inbox = new Inbox({
      commit: (deliveries) => parts.ledger.commit(deliveries),
      failed: parts.failed,
    })
    this.#catchUp = new CatchUp(this.archive, parts.ledger, parts.logger, (archived) =>
      this.#recovered(archived),
    )
  }

  get chat(): Chat {
    const description = this.#facts.description ?? this.#subject
    return {
      native: this.address,
      surface: 'supergroup',
      title: this.#facts.title ?? this.address,
      username: this.address,
      ...(description && { description }),
    }
  }

  get self(): Person {
    return { native: this.#parts.own, firstName: this.#entrance.nick, username: this.#parts.own }
  }

  get memberCount(): number {
    return this.#occupants.count
  }

  get isJoined(): boolean {
    return this.#entrance.isInside
  }

  /** Whether it keeps what is written in it. */
  get hasArchive(): boolean {
    return this.#facts.hasArchive
  }

  /** The account is out, and has to join it again. Until then its people may change their nicks unseen. */
  left() {
    this.#entrance.left()
    this.#occupants.clear()
    this.ids.forgetUnder(`${this.address}/`)
  }

  get state(): RoomState {
    const given = [...this.#given].slice(-MOST_GIVEN_LEFT)
    return {
      ...(given.length > 0 && { given }),
      bookmark: this.#bookmark,
      nick: this.#entrance.nick,
      facts: this.#facts,
      subject: this.#subject,
      occupants: this.#occupants.known,
    }
  }

  /** The account is in it still, on a stream that goes on: the room says none of this again. */
  restore({ nick, subject, occupants, given = [] }: RoomState) {
    for (const [native, id] of given) {
      this.#given.set(native, id)
      this.#names.remember(this.address, '', id, native)
    }
    this.#entrance.restore(nick)
    this.#subject = subject
    this.#occupants.restore(occupants)
    this.#isUnread = this.#facts.hasArchive
  }

  /** What the room says is stored from now on; until then it waits. */
  goOn() {
    this.#inbox.release(new Set())
  }

  /** One who is there with two clients counts twice. */
  get peopleCount(): number {
    return this.#occupants.presentCount
  }

  /** Resolves once what the room has said is stored, or when that has failed. */
  settled(): Promise<void> {
    return this.#inbox.settled()
  }

  async recall(): Promise<void> {
    if (this.#isUnread) await this.#recall(AbortSignal.timeout(RECALL_MS))
  }

  /** The room announces it to its occupants. */
  async leave(signal: AbortSignal): Promise<void> {
    const to = `${this.address}/${this.#entrance.nick}`
    this.left()
    await this.#parts.stream.sendWhenUp(xml('presence', { to, type: 'unavailable' }), signal)
  }

  async set(setting: 'title' | 'description', value: string, signal: AbortSignal): Promise<void> {
    await setRoom(this.#parts.requests, this.address, setting, value, signal)
  }

  refresh(facts: RoomFacts) {
    this.#facts = facts
  }

  /** Joins it and fetches missed messages. Rejects with `RequestFailed` if the room does not admit the account. */
  async join(facts: RoomFacts, signal: AbortSignal): Promise<void> {
    this.#facts = facts
    await this.#inbox.hold()
    const since = this.#parts.ledger.checkpoint(this.address)?.at
    const hasWords = since !== undefined && !facts.hasArchive
    // A room without an archive repeats its last messages to those who join.
    await this.#entrance.enter(hasWords ? since - CLOCK_TOLERANCE_SECONDS : undefined, signal)
    if (!facts.hasArchive && since === undefined) await this.#markNow()
    const caughtUp = facts.hasArchive && (await this.#catchUp.begin(signal))
    if (caughtUp && this.ids.isEmpty) await this.#recall(signal)
    this.#inbox.release(caughtUp ? await this.#catchUp.run(signal) : new Set())
  }

  /** Reads reported messages again for their ids, because their writers may still change them. */
  async #recall(signal: AbortSignal): Promise<void> {
    this.#isUnread = false
    for (const delivery of await this.#catchUp.recall(signal)) this.read(delivery)
  }

  #markNow(): Promise<void> {
    const at = Math.floor(Date.now() / 1000)
    return this.#parts.ledger.mark(this.address, { mam: '', at })
  }

  takePresence(presence: Element) {
    const nick = parseAddress(presence.attrs.from)?.resource
    const before = nick === this.#entrance.nick ? this.members.present(this.#parts.own) : undefined
    if (nick && presence.attrs.type !== 'error') {
      const isGone = presence.attrs.type === 'unavailable'
      if (isGone && !this.#occupants.address(nick)) this.ids.forget(`${this.address}/${nick}`)
      this.#occupants.take(nick, presence)
      this.#keepBan(nick)
    }
    const wasInside = this.#entrance.isInside
    this.#entrance.take(presence)
    if (wasInside && !this.#entrance.isInside) this.#out(presence, before)
  }

  #keepBan(nick: string) {
    const { logger } = this.#parts
    const isModerator = this.#occupants.under(this.#entrance.nick)?.role === 'moderator'
    if (!isModerator || this.#occupants.under(nick)?.affiliation !== 'outcast') return
    this.moderation.keepBanOf(nick).catch((err: unknown) => {
      logger.warn({ err, room: this.address }, 'a banned person could not be put out of a room')
    })
  }

  #out(presence: Element, before?: Member) {
    const { logger, putOut } = this.#parts
    logger.info({ room: this.address }, 'the account is no longer in a room')
    const happening = removal(presence, {
      chat: this.chat,
      self: this.self,
      status: before?.status ?? 'member',
      person: (nick) => this.#occupants.person(nick),
    })
    // The room goes on without the account, and tells it no longer who comes and goes.
    if (!happening) return this.left()
    putOut(this, happening)
  }

  takeMessage(message: Element) {
    if (this.archive.take(message)) return
    const { archived, at, ...delayed } = stampsOf(message, this.address, this.#entrance.isRepeating)
    const subject = message.getChildText('subject')
    if (subject !== null && message.getChildText('body') === null) this.#subject = subject
    if (!delayed.delayed) this.#entrance.takeNew()
    const delivery = { ...this.#delivery(message, at, archived), ...delayed }
    const { id } = message.attrs
    if (id && delivery.own && this.#parts.sent(id)) this.#parts.reflected(delivery, id)
    this.#inbox.push(delivery)
  }

  read(delivery: IncomingMessage): Happening | undefined {
    return this.#read(delivery, this.ids, this.#names, this.#opinions)
  }

  /** Reads an old message as at its first report; its ids go on to name newer messages. */
  readAgain(archived: ArchivedMessage): Happening | undefined {
    const { ids } = this
    const known: Pick<RoomMessageIds, 'find' | 'remember' | 'wrote'> = {
      find: (...place) => ids.find(...place),
      wrote: (...place) => ids.wrote(...place),
      remember: (writer, id, native) => {
        if (ids.find(writer, id) === undefined) ids.remember(writer, id, native)
      },
    }
    return this.#read(this.#recovered(archived), known, unchanged(this.#names), new Opinions())
  }

  #read(
    delivery: IncomingMessage,
    ids: Pick<RoomMessageIds, 'find' | 'remember' | 'wrote'>,
    names: Pick<MessageNames, 'give' | 'find' | 'remember'>,
    opinions: Opinions,
  ): Happening | undefined {
    const { named } = delivery
    const read = readRoom(delivery, {
      chat: this.chat,
      ids: this.#isByNickOnly(delivery) ? unknownIds : ids,
      names,
      opinions,
      person: (nick, { own, recovered, message }) => {
        if (own) return { ...this.self, firstName: nick }
        return this.#occupants.person(nick, recovered ? this.#shown(message) : undefined)
      },
      writer: ({ own, message }) => (own ? undefined : this.#occupantId(message)),
    })
    if (named && read?.kind === 'message') this.#given.set(read.message.native, named)
    return read
  }

  /** From a time at which its nick may have been somebody else's. */
  #isByNickOnly({ own, recovered, delayed, message }: IncomingMessage): boolean {
    const isHidden = !this.#facts.showsAddresses && this.#occupantId(message) === undefined
    return (recovered || delayed === true) && !own && isHidden
  }

  /** The facts of an archived message. */
  author(message: Element): Person {
    const nick = parseAddress(message.attrs.from)?.resource ?? this.address
    return this.#occupants.person(nick, this.#shown(message))
  }

  /** Stands for who wrote it, whenever that was; undefined where nobody can say. */
  writer(message: Element): string | undefined {
    const lasting = this.#shown(message) ?? this.#occupantId(message)
    if (lasting !== undefined || !this.isOwn(message)) {
      return lasting ?? (this.#facts.showsAddresses ? this.author(message).native : undefined)
    }
    return this.#parts.own
  }

  #occupantId(message: Element): string | undefined {
    const { showsAddresses, givesOccupantIds } = this.#facts
    const isGiven = !showsAddresses && givesOccupantIds
    const id = isGiven ? message.getChild('occupant-id', ns.occupantIds)?.attrs.id : undefined
    return id && `occupant:${storable(id)}`
  }

  /** The id by which the others here name a message. */
  reference(native: string): string {
    return this.#given.get(native) ?? native
  }

  /** The room names the account's own message so. */
  called(native: string, id: string) {
    this.#given.set(native, id)
    this.#names.remember(this.address, this.#parts.own, id, native)
    this.ids.remember(this.#parts.own, id, native)
  }

  /** The account's own message, by the id of the room. */
  wrote(id: string, native: string) {
    this.ids.remember(this.#parts.own, id, native)
  }

  /** `archived`: another person may have had the account's nick at that time. */
  isOwn(message: Element, archived = true): boolean {
    const { own } = this.#parts
    const shown = archived ? this.#shown(message) : undefined
    if (shown !== undefined) return shown === own
    const nick = parseAddress(message.attrs.from)?.resource ?? ''
    return nick === this.#entrance.nick || this.#occupants.address(nick) === own
  }

  /**
   * The author of an archived message, as the room gives it. In live messages any occupant could forge that element.
   */
  #shown(message: Element): string | undefined {
    return this.#facts.showsAddresses ? shownAddress(message) : undefined
  }

  /** The place of a message in the archive; in a room without an archive its time is the place. */
  #placeOf(archived: string | undefined) {
    const { hasArchive, givesIds } = this.#facts
    // Longer ones would fill the memory, and are not found where a message names another one.
    const isShort = archived !== undefined && storable(archived) === archived
    if (!hasArchive) return { archived: '', ...(givesIds && isShort && { named: archived }) }
    return archived !== undefined && { archived }
  }

  #recovered({ id, at, message }: ArchivedMessage): IncomingMessage {
    return { ...this.#delivery(message, at, id), recovered: true, own: this.isOwn(message) }
  }

  #delivery(message: Element, at: number, archived: string | undefined): IncomingMessage {
    const copy = {
      message,
      archive: this.address,
      ...this.#placeOf(archived),
      own: this.isOwn(message, false),
      room: this,
    }
    return { ...copy, key: keyOf({ ...copy, isRoom: true }), at, recovered: false }
  }
}
