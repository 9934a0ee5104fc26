/** Targets of messages: a person or a room, each with its own way to name and confirm messages. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Element } from '@xmpp/client'
import type { Chat, Content } from '../../../machines/model/content.ts'
import { notFound, RequestFailed } from '../../../machines/model/failure.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { SentRequests } from '../kit/sent-requests.ts'
import { type Address, bareOf, parseAddress, personAt, privateChat, whispering } from './address.ts'
import type { Archive } from './archive.ts'
import { nicknameOf } from './contact.ts'
import { Refused } from './failures.ts'
import { type Found, Lookup } from './lookup.ts'
import { storable } from './message-identity.ts'
import type { Outbox } from './outbox.ts'
import { contentOf } from './reading.ts'
import type { Requests } from './requests.ts'
import type { Room } from './rooms/room.ts'
import type { Rooms } from './rooms/rooms.ts'
import type { Envelope } from './writing.ts'

interface PlaceParts {
  readonly own: string
  readonly archive: Archive
  readonly requests: Requests
  readonly outbox: Outbox
  readonly sent: SentRequests
  readonly rooms: Rooms
}

/** A server that puts out a session may still be storing what that has written. */
const STORING_MS = 1_000

interface Posted {
  /** The id by which the chat knows the message. */
  readonly native: string
  /** Unix time in seconds. */
  readonly at: number
}

/** A message that an earlier session has posted. */
export interface Recalled extends Posted {
  readonly content: Content
}

interface Original {
  readonly content: Content
  readonly author: Person
  /** Unix time in seconds. */
  readonly at: number
}

export class Place {
  readonly chat: Chat
  readonly self: Person
  readonly room: Room | undefined
  readonly #parts: PlaceParts
  readonly #lookup: Lookup

  constructor(chat: Chat, room: Room | undefined, parts: PlaceParts) {
    const { own, archive, sent } = parts
    this.chat = chat
    this.self = room?.self ?? personAt(own)
    this.room = room
    this.#parts = parts
    this.#lookup = room
      ? new Lookup(room.archive, sent, {
          isOwn: (message) => room.isOwn(message),
          writer: (message) => room.writer(message),
          keepsOwn: async () => room.hasArchive,
          byPlace: true,
        })
      : new Lookup(archive, sent, {
          isOwn: ({ attrs }) => bareOf(attrs.from, own) === own,
          writer: ({ attrs }) => bareOf(attrs.from, own),
          keepsOwn: async (signal) =>
            !isWhisper(chat) && (await archive.policy(signal))(chat.native) === true,
          with: bareOf(chat.native, own),
          byPlace: false,
        })
  }

  envelope(id: string): Envelope {
    return { to: this.chat.native, id, type: this.room ? 'groupchat' : 'chat' }
  }

  /** The id by which a message is named to the others. */
  reference(native: string): string {
    return this.room?.reference(native) ?? native
  }

  find(native: string, signal: AbortSignal): Promise<Found> {
    return this.#lookup.find(native, signal)
  }

  /** The present version of any message, for forwarding it. */
  async original(native: string, signal: AbortSignal): Promise<Original | undefined> {
    const found = await this.#lookup.standing(native, signal)
    const content = found && contentOf(found.message)
    if (!found || !content) return undefined
    return { content, author: this.#author(found.message), at: found.at }
  }

  #author(message: Element): Person {
    if (this.room) return this.room.author(message)
    if (bareOf(message.attrs.from, this.#parts.own) === this.#parts.own) return this.self
    const { native, firstName = native, username } = this.chat
    return { native, firstName, ...(username && { username }) }
  }

  /**
   * What an earlier session has sent under this id; undefined if it certainly sent nothing. Rejects where that cannot be
   * known.
   */
  async recall(id: string, signal: AbortSignal): Promise<Recalled | undefined> {
    const { sent } = this.#parts
    // This session has had the call itself, and `post` looks for its message.
    if (sent.has(id)) return undefined
    let found = await this.#lookup.sent(id, signal)
    if (!found) {
      await delay(STORING_MS, undefined, { signal })
      found = await this.#lookup.sent(id, signal)
    }
    if (!found) return undefined
    sent.add(id, found.at)
    if (this.room) {
      sent.place(id, storable(found.id))
      this.room.wrote(id, storable(found.id))
    }
    sent.confirm(id)
    const content = contentOf(found.message)
    return content && { native: sent.find(id)?.native ?? id, at: found.at, content }
  }

  /** Sends it, unless it was sent under this id before. */
  async post(stanza: Element, signal: AbortSignal): Promise<Posted> {
    const { sent, outbox } = this.#parts
    const id = stanza.attrs.id ?? ''
    const before = sent.find(id)
    const at = before?.at ?? Math.floor(Date.now() / 1000)
    // A call that comes again while the first one waits waits with it.
    const isOpen = before !== undefined && !before.confirmed && !outbox.isWaiting(id)
    const isArchived = isOpen && (await this.#lookup.sent(id, signal)) !== undefined
    // It may have been confirmed meanwhile.
    if (!sent.find(id)?.confirmed && !isArchived) {
      sent.add(id, at)
      await this.#send(stanza, signal).catch((cause) => {
        if (cause instanceof RequestFailed && cause.failure.certain !== false) sent.forget(id)
        throw cause
      })
    }
    sent.confirm(id)
    return { native: sent.find(id)?.native ?? id, at }
  }

  async #send(stanza: Element, signal: AbortSignal): Promise<void> {
    const { outbox, rooms } = this.#parts
    if (!this.room) return outbox.post(stanza, 'acknowledgement', signal)
    try {
      await outbox.post(stanza, 'reflection', signal)
    } catch (cause) {
      if (!mayBeOut(cause)) throw cause
      this.room.left()
      await rooms.inside(this.room.address, signal)
      await outbox.post(stanza, 'reflection', signal)
    }
  }
}

export class Places {
  readonly #parts: PlaceParts

  constructor(parts: PlaceParts) {
    this.#parts = parts
  }

  /** A room is joined on the way. */
  async at(chat: string, signal: AbortSignal): Promise<Place> {
    const { rooms } = this.#parts
    const { bare, resource } = chatAddress(chat)
    const isRoom = await rooms.isRoom(bare, signal)
    if (resource !== undefined && !isRoom) throw notFound('chat')
    if (!isRoom) return new Place(privateChat(bare), undefined, this.#parts)
    const room = await rooms.inside(bare, signal)
    if (resource === undefined) return new Place(room.chat, room, this.#parts)
    return new Place(whispering(bare, resource).chat, undefined, this.#parts)
  }

  async leave(chat: string, signal: AbortSignal): Promise<void> {
    const address = roomOrPerson(chat)
    const { rooms } = this.#parts
    if (!(await rooms.isRoom(address, signal))) throw notFound('chat')
    await rooms.leave(address, signal)
  }

  async resolve(name: string, signal: AbortSignal): Promise<Chat> {
    const address = roomOrPerson(name)
    const isRoom = await this.#parts.rooms.isRoom(address, signal)
    return isRoom ? this.#parts.rooms.look(address, signal) : privateChat(address)
  }

  async describe(chat: string, signal: AbortSignal): Promise<Chat> {
    if (chatAddress(chat).resource !== undefined) return (await this.at(chat, signal)).chat
    const address = roomOrPerson(chat)
    if (await this.#parts.rooms.isRoom(address, signal)) {
      return this.#parts.rooms.look(address, signal)
    }
    return privateChat(address, await nicknameOf(this.#parts.requests, address, signal))
  }
}

/**
 * After a restart of its server a room may have lost its occupants, or not be there yet. Only a refusal of the message, by
 * the room or by its server, shows it.
 */
const mayBeOut = (cause: unknown): boolean =>
  cause instanceof RequestFailed &&
  (cause.cause instanceof Refused || cause.failure.reason === 'chat_not_found')

/** Servers need not keep what is said to one occupant of a room. */
const isWhisper = ({ native }: Chat) => parseAddress(native)?.resource !== undefined

/**
 * Addresses of people and rooms have a local part; a server's has none. An address with a resource names an occupant of
 * a room.
 */
function chatAddress(chat: string): Address {
  const address = parseAddress(chat)
  if (!address?.local) throw notFound('chat')
  return address
}

function roomOrPerson(chat: string): string {
  const { bare, resource } = chatAddress(chat)
  if (resource !== undefined) throw notFound('chat')
  return bare
}
