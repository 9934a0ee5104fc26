/** All rooms of an account: those that are kept for it, those its other devices are in, and those it writes to. */

import { isDeepStrictEqual } from 'node:util'
import type { Element } from '@xmpp/client'
import { failed, notFound } from '../../../../machines/model/failure.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import { SparseMap } from '../../kit/recent-map.ts'
import { parseAddress } from '../address.ts'
import { hostsRooms, roomFacts } from '../discovery.ts'
import { doneInPart } from '../failures.ts'
import { type Invitation, readInvitation } from '../invitation.ts'
import { ping, RequestRefused } from '../requests.ts'
import { addBookmark, type Bookmark, bookmarks, removeBookmark } from './bookmarks.ts'
import { Invitations } from './invitations.ts'
import type { KeptRoom, KeptRooms } from './kept.ts'
import { Room, type RoomParts, type RoomState } from './room.ts'
import { Tending } from './tending.ts'

/** How many rooms are joined at the same time. */
const MOST_AT_ONCE = 5
const MOST_DOMAINS = 1_000
const SHARE_MS = 30_000
const FORGET_MS = 15_000
/** All of them are joined by every new session. */
const MOST_ROOMS = 1_000
/** Invitations are ignored once the account is in so many rooms. */
const MOST_BY_INVITATION = 200

export interface RoomsParts extends Omit<RoomParts, 'putOut'> {
  readonly kept: KeptRooms
  /** The server keeps no bookmarks, or none of the account's rooms. */
  unshared(): void
  /** The interval at which the account's presence in its rooms is checked. */
  readonly tendMilliseconds: number
}

/** More take longer to be stored and read than a login; see `leftText`. */
const MOST_LEFT_PEOPLE = 3_000

export class Rooms {
  readonly #parts: RoomParts & RoomsParts
  #isUnshared = false
  #sharing: Promise<void> = Promise.resolve()
  readonly #rooms = new SparseMap<string, Room>()
  /** Joined, but not stored: the database was away. */
  readonly #unkept = new SparseMap<string, true>()
  readonly #joining = new SparseMap<string, Promise<Room>>()
  /** Those of the session before: their words wait for `goOn`, also where the account is put out meanwhile. */
  #restored: readonly Room[] = []
  #leaving = 0
  /** Whether the addresses of a domain are rooms. */
  readonly #domains = new SparseMap<string, boolean>()
  readonly #invitations: Invitations
  readonly #tending: Tending

  constructor(parts: RoomsParts) {
    this.#parts = { ...parts, putOut: (...out) => this.#putOut(...out) }
    const { ledger, logger, requests, tendMilliseconds, failed } = parts
    this.#invitations = new Invitations({
      ledger,
      logger,
      failed,
      enter: (invitation, signal) => this.#follow(invitation, signal),
    })
    this.#tending = new Tending({
      requests,
      logger,
      tendMilliseconds,
      find: (room) => this.#rooms.get(room),
      enter: (bookmark, signal) => this.#enter(bookmark, signal),
    })
  }

  /** The stream is a new one: the account is in no room any more. */
  left() {
    for (const room of this.#rooms.values()) room.left()
    this.#restored = []
    this.#joining.clear()
  }

  /** Joins all that the account is in; one that cannot be joined does not hold up the others. */
  async begin(signal: AbortSignal, joined: (room: Room) => void): Promise<void> {
    const { logger } = this.#parts
    await this.#takeUp(signal)
    const queue = this.#tending.wanted
    const work = async () => {
      for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
        const { room } = next
        try {
          joined(await this.#enter(next, signal))
        } catch (err) {
          logger.warn({ err, room }, 'a room could not be joined')
        }
      }
    }
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
    this.#invitations.begin(signal)
    this.#tending.run(signal)
  }

  /** Whether no room is being joined, left or stored: only then `states` says all, and not too much. */
  get isAtRest(): boolean {
    const isMoving = this.#joining.size > 0 || this.#leaving > 0
    const people = this.joined.reduce((sum, { peopleCount }) => sum + peopleCount, 0)
    const isBusy = isMoving || this.#unkept.size > 0 || this.#invitations.isBusy
    return !isBusy && people <= MOST_LEFT_PEOPLE
  }

  /** The rooms that the account is in, for the session that goes on with the stream. */
  get states(): RoomState[] {
    return this.joined.map(({ state }) => state)
  }

  /** The account is in these, on the stream of the session before. */
  restore(states: readonly RoomState[]) {
    this.#restored = states.map((state) => {
      const room = new Room(state.bookmark, state.facts, this.#parts)
      this.#rooms.set(room.address, room)
      room.restore(state)
      return room
    })
  }

  /** As `begin`, but nothing is to be joined. Resolves once it is known that the server answers. */
  async goOn(signal: AbortSignal): Promise<void> {
    const { kept, requests, own } = this.#parts
    const out = this.#clearOut()
    for (const { shared: _, ...bookmark } of await kept.load()) {
      if (!out.has(bookmark.room)) this.#tending.want(bookmark)
    }
    // Who gets what was said meanwhile may answer at once, which takes an account that was heard of.
    await ping(requests, parseAddress(own)?.domain ?? own, signal)
    for (const room of this.#restored) {
      // One that is entered anew tells what was missed first.
      const isEntered = this.#joining.has(room.address) && this.#rooms.get(room.address) === room
      if (!isEntered) room.goOn()
    }
    this.#restored = []
    this.#invitations.begin(signal)
    this.#tending.run(signal)
  }

  /** Resolves once all that the rooms have said is stored, or when that has failed. */
  async settled(): Promise<void> {
    await Promise.all(this.joined.map((room) => room.settled()))
  }

  /** The rooms kept here count; from the bookmarks come those that other devices added or removed. */
  async #takeUp(signal: AbortSignal): Promise<void> {
    const { kept, requests } = this.#parts
    const known = new Map((await kept.load()).map((room) => [room.room, room]))
    const shared = await bookmarks(requests, signal)
    const out = this.#clearOut()
    for (const room of out) known.delete(room)
    for (const { autojoin, ...bookmark } of shared) {
      const before = known.get(bookmark.room)
      if (out.has(bookmark.room)) continue
      if (autojoin && (before || known.size < MOST_ROOMS)) {
        const room: KeptRoom = { ...before, ...bookmark, shared: true }
        known.set(bookmark.room, room)
        if (!isDeepStrictEqual(room, before)) await kept.keep(room)
      } else if (!autojoin && before?.shared) {
        // The user left the room on another device. A missing bookmark, or one that was never ours, means nothing.
        known.delete(bookmark.room)
        await this.#forget(bookmark.room)
      }
    }
    for (const { shared: _, ...bookmark } of known.values()) this.#tending.want(bookmark)
  }

  /** There is an invitation that was not answered. */
  invited() {
    this.#invitations.wake()
  }

  /** Handles stanzas of rooms; returns whether this was one. */
  take(stanza: Element): boolean {
    const from = parseAddress(stanza.attrs.from)
    const room = from && this.#rooms.get(from.bare)
    if (!room) return stanza.attrs.type === 'groupchat'
    if (room.isJoined) this.#tending.heard(room.address)
    const { type } = stanza.attrs
    // A message of one of its people to the account alone is a private message.
    const isOfRoom = type === 'groupchat' || (type !== 'error' && !from.resource)
    const isInvited = !room.isJoined && readInvitation(stanza) !== undefined
    if (stanza.is('presence')) room.takePresence(stanza)
    else if (stanza.is('message') && isOfRoom && !isInvited) room.takeMessage(stanza)
    else return false
    return true
  }

  /** The rooms that the account is in now. */
  get joined(): readonly Room[] {
    return [...this.#rooms.values()].filter(({ isJoined }) => isJoined)
  }

  find(address: string): Room | undefined {
    return this.#rooms.get(address)
  }

  async isRoom(address: string, signal: AbortSignal): Promise<boolean> {
    if (this.#rooms.has(address)) return true
    const { domain } = parseAddress(address) ?? {}
    // The account's own server keeps its people, not its rooms, under its own name.
    if (!domain || domain === parseAddress(this.#parts.own)?.domain) return false
    const known = this.#domains.get(domain)
    if (known !== undefined) return known
    const hosts = await hostsRooms(this.#parts.requests, domain, signal)
    // The server cannot be reached: a message to it would come back.
    if (hosts === undefined) return false
    if (this.#domains.size >= MOST_DOMAINS) this.#domains.clear()
    this.#domains.set(domain, hosts)
    return hosts
  }

  /** The room with the account in it: joins it where necessary, and for all devices. */
  async inside(address: string, signal: AbortSignal): Promise<Room> {
    const room = this.#rooms.get(address)
    const known = room ? undefined : await this.#bookmarkOf(address)
    const isStored = !this.#unkept.has(address) && !this.#parts.ledger.out.includes(address)
    const isKept = (known ?? room) !== undefined && isStored
    if (room?.isJoined && isKept && !this.#joining.has(address)) return room
    if (!room && this.#rooms.size >= MOST_ROOMS) throw failed('bad_request', 'too many rooms')
    const entered = await this.#enter(known ?? { room: address }, signal)
    if (!isKept) await this.#keep({ room: address, nick: entered.self.firstName })
    return entered
  }

  /** As it was kept by an earlier session: a call may come before the rooms are taken up, and a room may have a password. */
  async #bookmarkOf(address: string): Promise<Bookmark | undefined> {
    const rooms = this.#tending.wants(address)
      ? this.#tending.wanted
      : await this.#parts.kept.load()
    return rooms.find(({ room }) => room === address)
  }

  /** Leaves it on all devices. A later send to it joins it again. */
  async leave(address: string, signal: AbortSignal): Promise<void> {
    const room = this.#rooms.get(address)
    this.#rooms.delete(address)
    this.#tending.forget(address)
    const { kept, ledger, requests } = this.#parts
    this.#leaving += 1
    try {
      // Should the session end before all of it is done, the next one goes on with it.
      await ledger.noteOut(address)
      await kept.forget(address)
      await room?.leave(signal)
      await removeBookmark(requests, address, signal).catch((cause) => {
        throw doneInPart(cause)
      })
      await ledger.forgetOut(address).catch(this.#parts.failed)
    } finally {
      this.#leaving -= 1
    }
  }

  /** The room as it stands, joined or not. */
  async look(address: string, signal: AbortSignal) {
    const facts = await roomFacts(this.#parts.requests, address, signal)
    if (!facts) throw notFound('chat')
    const room = this.#rooms.get(address)
    room?.refresh(facts)
    if (room?.isJoined) return room.chat
    return new Room({ room: address }, facts, this.#parts).chat
  }

  #enter(bookmark: Bookmark, signal: AbortSignal): Promise<Room> {
    const { room } = bookmark
    const same = this.#joining.get(room)
    if (same) return same
    const entering = this.#join(bookmark, signal).finally(() => {
      if (this.#joining.get(room) === entering) this.#joining.delete(room)
    })
    this.#joining.set(room, entering)
    return entering
  }

  async #join(bookmark: Bookmark, signal: AbortSignal): Promise<Room> {
    const facts = await roomFacts(this.#parts.requests, bookmark.room, signal)
    // Joining a room that does not exist would create it.
    if (!facts) throw notFound('chat')
    const known = this.#rooms.get(bookmark.room)
    const room = known ?? new Room(bookmark, facts, this.#parts)
    this.#rooms.set(bookmark.room, room)
    try {
      await room.join(facts, signal)
      return room
    } catch (cause) {
      // Incoming messages wait for missed ones, which are not fetched any more.
      room.left()
      if (!known) this.#rooms.delete(bookmark.room)
      throw cause
    }
  }

  async #follow(invitation: Invitation, signal: AbortSignal): Promise<Room | undefined> {
    const { room, password } = invitation
    if (this.#rooms.get(room)?.isJoined) return undefined
    if (this.#rooms.size >= MOST_BY_INVITATION) throw failed('bad_request', 'too many rooms')
    // A room that did not let the account in again may have another password now.
    this.#rooms.delete(room)
    const secret = password !== undefined && { password }
    const entered = await this.#enter({ room, ...secret }, signal)
    await this.#keep({ room, nick: entered.self.firstName, ...secret })
    return entered
  }

  /** Not joined again without a request, whatever ends before it is forgotten everywhere. */
  #putOut({ address }: Room, happening: Happening) {
    this.#rooms.delete(address)
    this.#tending.forget(address)
    this.#parts.kept.owe(address, happening)
    void this.#clear(address, this.#noteOut(address, happening))
  }

  async #noteOut(address: string, happening: Happening): Promise<void> {
    const { ledger, kept } = this.#parts
    await ledger.noteOut(address, happening)
    kept.settle(address, happening)
  }

  /** The rooms that the account is out of; what would lead it back into them is taken away once more. */
  #clearOut(): ReadonlySet<string> {
    const { ledger, kept } = this.#parts
    const out = new Set(ledger.out)
    for (const room of out) {
      const happening = kept.owed.get(room)
      void this.#clear(room, happening && this.#noteOut(room, happening))
    }
    return out
  }

  /** Forgets a room here and at the server. Never rejects: what is left of it is for the next session. */
  async #clear(address: string, told?: Promise<void>): Promise<void> {
    const { ledger, failed } = this.#parts
    // It may be joined again meanwhile.
    const isOut = () => ledger.out.includes(address) && !this.#rooms.has(address)
    this.#leaving += 1
    try {
      await told
      if (isOut()) await this.#forget(address)
      if (isOut() && (await this.#unshare(address))) await ledger.forgetOut(address)
    } catch (cause) {
      failed(cause)
    } finally {
      this.#leaving -= 1
    }
  }

  async #unshare(address: string): Promise<boolean> {
    const { logger, requests } = this.#parts
    return removeBookmark(requests, address, AbortSignal.timeout(FORGET_MS)).then(
      () => true,
      (err) => {
        logger.info({ err, room: address }, 'a room was not taken from the bookmarks')
        return false
      },
    )
  }

  async #forget(address: string): Promise<void> {
    this.#tending.forget(address)
    await this.#parts.kept.forget(address)
  }

  /** From now on one of the account's rooms, in this session and in those that follow. */
  async #keep(bookmark: Bookmark): Promise<void> {
    this.#tending.want(bookmark)
    this.#unkept.set(bookmark.room, true)
    this.#parts.kept.settle(bookmark.room)
    await this.#parts.ledger.forgetOut(bookmark.room)
    await this.#parts.kept.keep({ ...bookmark, shared: false })
    this.#unkept.delete(bookmark.room)
    // One after the other: two at once would both set up the node of the bookmarks.
    this.#sharing = this.#sharing
      .then(() => this.#share(bookmark))
      .catch((cause) => this.#parts.failed(cause))
  }

  /** For the account's other devices; a failure does not matter. */
  async #share(bookmark: Bookmark): Promise<void> {
    const { requests, logger, kept, unshared } = this.#parts
    const { room } = bookmark
    try {
      await addBookmark(requests, bookmark, AbortSignal.timeout(SHARE_MS))
    } catch (err) {
      logger.info({ err, room }, 'a room was not added to the bookmarks')
      if (err instanceof RequestRefused && !this.#isUnshared) unshared()
      this.#isUnshared ||= err instanceof RequestRefused
      return
    }
    if (this.#tending.wants(room)) await kept.keep({ ...bookmark, shared: true })
    // The account has left it meanwhile, and the bookmark may have come after its removal.
    else await this.#unshare(room)
  }
}
