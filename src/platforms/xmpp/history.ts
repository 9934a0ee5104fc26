/** Chats of the account and their earlier messages, from the archives of its server and its rooms. */
import { type Element, xml } from '@xmpp/client'
import type { Message } from '../../../machines/model/content.ts'
import { failed, messageNotFound } from '../../../machines/model/failure.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { ListedChat, PastMessage } from '../../../machines/model/operation-reading.ts'
import { RecentMap } from '../kit/recent-map.ts'
import { bareOf, parseAddress, privateChat } from './address.ts'
import type { Archive, ArchivedMessage } from './archive.ts'
import { recovered } from './delivery.ts'
import { noHistory } from './failures.ts'
import type { Ledger } from './ledger.ts'
import { idOf, storable, targetOf } from './message-identity.ts'
import { ns } from './namespaces.ts'
import type { Place } from './places.ts'
import { contentOf } from './reading.ts'
import { RequestRefused, type Requests } from './requests.ts'
import type { Room } from './rooms/room.ts'
import type { Rooms } from './rooms/rooms.ts'

/** How many pages back a message is looked for. */
const MOST_PAGES = 20
/** How many pages of the account's archive are read to find recent chats. */
const RECENT_PAGES = 4
/** The page size: enough to find a message among stanzas without content. */
const FEW_MESSAGES = 20
/** The number of remembered positions in archives, for callers that read the next page. */
const MOST_BOOKMARKS = 200

interface HistoryParts {
  readonly own: string
  readonly archive: Archive
  readonly requests: Requests
  readonly rooms: Rooms
  readonly ledger: Pick<Ledger, 'readAgain'>
}

/** An archive, and how its messages are read. */
interface Source {
  readonly archive: Archive
  /** The other side of the messages. */
  readonly with?: string
  read(archived: ArchivedMessage): Happening | undefined
  /** Undefined where nobody can say: its changes of other messages are messages of their own. */
  writer(message: Element): string | undefined
}

/** The newest changes of messages, by the author and the id that the message goes by. */
type Changes = ReadonlyMap<string, ArchivedMessage>

/** The place from which an archive is read backward, and later changes to older messages. */
interface Bookmark {
  readonly before: string
  readonly changes: Changes
}

const NEWEST: Bookmark = { before: '', changes: new Map() }

interface Seen extends PastMessage {
  readonly bookmark: Bookmark
}

export class History {
  readonly #parts: HistoryParts
  readonly #bookmarks = new RecentMap<string, Bookmark>(MOST_BOOKMARKS)

  constructor(parts: HistoryParts) {
    this.#parts = parts
  }

  /** Newest first. Rejects where there is no archive, or the message is not in it. */
  async read(
    place: Place,
    { message, limit }: Pick<OperationOf<'read_history'>, 'message' | 'limit'>,
    signal: AbortSignal,
  ): Promise<PastMessage[]> {
    const key = (native: string) => `${place.chat.native}\n${native}`
    const known = message === undefined ? NEWEST : this.#bookmarks.get(key(message))
    const found: Seen[] = []
    let isPassed = known !== undefined
    for await (const past of this.#of(place, known ?? NEWEST, signal)) {
      if (isPassed) found.push(past)
      isPassed ||= past.message.native === message
      if (found.length === limit) break
    }
    if (!isPassed) throw messageNotFound('message to go back from')
    const last = found.at(-1)
    if (last) this.#bookmarks.set(key(last.message.native), last.bookmark)
    return found.map(({ message, isOwn }) => ({ message, isOwn }))
  }

  /** The newest message of another person, up to the given one; undefined if there is none. */
  async newestOfOthers(
    place: Place,
    upTo: string | undefined,
    signal: AbortSignal,
  ): Promise<Message | undefined> {
    let isReached = upTo === undefined
    for await (const { message, isOwn } of this.#of(place, NEWEST, signal)) {
      isReached ||= message.native === upTo
      if (isReached && !isOwn) return message
    }
    if (!isReached) throw messageNotFound('message to read')
    return undefined
  }

  /** Chats with recent messages come first, then the other contacts and rooms by their addresses. */
  async chats(
    { limit, after }: OperationOf<'list_chats'>,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    const lines = await this.#lines(signal)
    const rest = after === undefined ? lines : lines.filter((line) => isAfter(line, after))
    const chats = rest.slice(0, limit)
    const last = chats.at(-1)
    const hasMore = last !== undefined && rest.length > limit
    return { kind: 'chats', chats, ...(hasMore && { next: placeOf(last) }) }
  }

  async #lines(signal: AbortSignal): Promise<ListedChat[]> {
    const { own, requests, rooms } = this.#parts
    const lines = new Map<string, ListedChat>()
    for (const [address, name] of await roster(requests, signal)) {
      if (address !== own) lines.set(address, { chat: privateChat(address, name) })
    }
    for await (const last of this.#recent(signal)) {
      const { chat } = last.message
      const known = lines.get(chat.native)
      if (!known?.last) lines.set(chat.native, { chat: known?.chat ?? chat, last })
    }
    for (const room of rooms.joined) {
      const last = await newestIn(room, signal)
      lines.set(room.address, { chat: room.chat, ...(last && { last }) })
    }
    return [...lines.values()].sort(compare)
  }

  /** The newest of all private chats. */
  async *#recent(signal: AbortSignal): AsyncGenerator<PastMessage> {
    try {
      for await (const { message, isOwn } of backwards(this.#account(), signal, {
        pages: RECENT_PAGES,
      })) {
        yield { message, isOwn }
      }
    } catch (cause) {
      // There are contacts even without an archive.
      if (!(cause instanceof RequestRefused)) throw cause
    }
  }

  async *#of(place: Place, from: Bookmark, signal: AbortSignal): AsyncGenerator<Seen> {
    const { native } = place.chat
    const peer = parseAddress(native)?.bare ?? native
    const source = place.room ? sourceOf(place.room) : { ...this.#account(), with: peer }
    try {
      for await (const past of backwards(source, signal, { from })) {
        if (past.message.chat.native === native) yield past
      }
    } catch (cause) {
      if (!(cause instanceof RequestRefused)) throw cause
      throw noHistory(cause)
    }
  }

  #account(): Source {
    const { own, archive, ledger } = this.#parts
    return {
      archive,
      read: (archived) => ledger.readAgain(recovered(archived, own)),
      writer: ({ attrs }) => bareOf(attrs.from, own),
    }
  }
}

const sourceOf = (room: Room): Source => ({
  archive: room.archive,
  read: (archived) => room.readAgain(archived),
  writer: (message) => room.writer(message),
})

async function newestIn(room: Room, signal: AbortSignal): Promise<PastMessage | undefined> {
  try {
    for await (const { message, isOwn } of backwards(sourceOf(room), signal, {
      pages: 1,
      max: FEW_MESSAGES,
    })) {
      return { message, isOwn }
    }
  } catch (cause) {
    if (!(cause instanceof RequestRefused)) throw cause
  }
  return undefined
}

interface Walk {
  readonly from?: Bookmark
  readonly pages?: number
  /** Messages of a page. */
  readonly max?: number
}

/** The messages as they stand after their changes, the newest first, and without those that were retracted. */
async function* backwards(
  source: Source,
  signal: AbortSignal,
  { from = NEWEST, pages = MOST_PAGES, max }: Walk,
): AsyncGenerator<Seen> {
  const { archive, with: peer } = source
  const changes = new Map(from.changes)
  let { before } = from
  for (let page = 0; page < pages; page++) {
    const range = { ...(peer !== undefined && { with: peer }), ...(max !== undefined && { max }) }
    const { messages, complete } = await archive.page({ before, ...range }, signal)
    for (const archived of messages.toReversed()) {
      const past = standing(archived, source, changes)
      if (past) yield { ...past, bookmark: { before: archived.id, changes: new Map(changes) } }
    }
    const [oldest] = messages
    if (complete || !oldest) return
    before = oldest.id
  }
}

/** Undefined for a stanza without a message, and for a change, which is added to the known changes. */
function standing(
  archived: ArchivedMessage,
  { read, writer: writerOf }: Source,
  changes: Map<string, ArchivedMessage>,
): PastMessage | undefined {
  const writer = writerOf(archived.message)
  const target = targetOf(archived.message)
  if (target && writer !== undefined) {
    const key = `${writer}\n${target.id}`
    if (target.change === 'retract' || !changes.has(key)) changes.set(key, archived)
    return undefined
  }
  const happening = read(archived)
  if (happening?.kind !== 'message') return undefined
  const { message, direction } = happening
  const change = [idOf(archived.message), storable(archived.id)]
    .map((id) => changes.get(`${writer}\n${id}`))
    .find((found) => found !== undefined)
  if (change && targetOf(change.message)?.change === 'retract') return undefined
  const content = change && contentOf(change.message)
  const shown = content ? { ...message, content, editedAt: change.at } : message
  return { message: shown, isOwn: direction === 'own' }
}

/** The contacts of the account, by address, with the names that it gave them. */
async function roster(
  requests: Requests,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string | undefined>> {
  const answer = await requests.ask('get', xml('query', ns.roster), { signal })
  const items = answer.getChild('query', ns.roster)?.getChildren('item') ?? []
  return new Map(
    items.flatMap(({ attrs }) => {
      const address = parseAddress(attrs.jid)
      return address?.local ? [[address.bare, attrs.name || undefined] as const] : []
    }),
  )
}

/** The position of a chat in the list: the time of its newest message, and its address. */
const placeOf = ({ chat, last }: ListedChat): string => `${last?.message.at ?? 0}:${chat.native}`

function isAfter(line: ListedChat, place: string): boolean {
  const [, at, native] = /^(\d{1,12}):(.+)$/.exec(place) ?? []
  if (at === undefined || native === undefined) throw failed('bad_request', 'OFFSET_INVALID')
  const mine = line.last?.message.at ?? 0
  return mine < Number(at) || (mine === Number(at) && line.chat.native > native)
}

function compare(one: ListedChat, other: ListedChat): number {
  const later = (other.last?.message.at ?? 0) - (one.last?.message.at ?? 0)
  return later || (one.chat.native < other.chat.native ? -1 : 1)
}
