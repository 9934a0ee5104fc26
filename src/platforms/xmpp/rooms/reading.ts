/** Stanzas of a room as events: its messages, and the end of the account's presence in it. */
import { randomUUID } from 'node:crypto'
import type { Element } from '@xmpp/client'
import type { Chat, Message } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import type { Person } from '../../../../machines/model/person.ts'
import { RecentMap } from '../../kit/recent-map.ts'
import { parseAddress, personAt } from '../address.ts'
import { stanzaId, timeIn } from '../archive.ts'
import type { IncomingMessage } from '../delivery.ts'
import { idOf, type MessageNames, marked, storable, targetOf } from '../message-identity.ts'
import { ns } from '../namespaces.ts'
import {
  albumOf,
  contentOf,
  forwardOf,
  type Opinions,
  quoteOf,
  reactionsIn,
  receiptIn,
  repliedTo,
} from '../reading.ts'

interface RoomView {
  readonly chat: Chat
  readonly ids: Pick<RoomMessageIds, 'find' | 'remember' | 'wrote'>
  readonly names: Pick<MessageNames, 'give' | 'find' | 'remember'>
  readonly opinions: Opinions
  person(nick: string, delivery: IncomingMessage): Person
  /** What stands for the writer where it is not the name of the person. */
  writer?(delivery: IncomingMessage): string | undefined
}

/** `undefined` when the message is no event. */
export function readRoom(delivery: IncomingMessage, view: RoomView): Happening | undefined {
  const { message, own, at } = delivery
  const nick = parseAddress(message.attrs.from)?.resource
  const id = idOf(message)
  const { chat, ids, names } = view
  const event = {
    sourceKey: delivery.key,
    direction: own ? 'own' : 'incoming',
    at,
    ...(delivery.recovered && { recovered: true }),
  } as const
  // The room's own messages have no nick: about its subject, its configuration, or what a moderator has done.
  if (!nick) return moderated(message, event, view)
  const native = nativeOf(delivery, view)
  const from = view.person(nick, delivery)
  const writer = view.writer?.(delivery) ?? from.native
  const target = targetOf(message)
  if (target?.change === 'retract') {
    // Named by the room's id, which says nothing of the writer (XEP-0424): only one's own may be retracted.
    const retracted =
      ids.find(writer, target.id) ?? (ids.wrote(writer, target.id) ? target.id : undefined)
    return retracted ? deleted(retracted, event, chat) : undefined
  }
  const receipt = receiptIn(message)
  if (receipt) {
    if (own || receipt.state !== 'read') return undefined
    const target = names.find(chat.native, receipt.id)
    return { kind: 'receipt', ...event, state: 'read', chat, target, person: from }
  }
  const reacted = reactionsIn(message)
  if (reacted && own) return undefined
  if (reacted) return view.opinions.change(event, { chat, person: from }, reacted, names)
  const content = contentOf(message)
  if (!content) return undefined
  const corrected = target && ids.find(writer, target.id)
  for (const called of corrected ? [] : [id, delivery.named]) {
    if (!called) continue
    ids.remember(writer, called, native)
    // Others name a message by the id of the room, if it gives one. Two writers may use the same id of their own.
    if (!delivery.archived && mayName(called, delivery, view)) {
      names.remember(chat.native, from.native, called, native)
    }
  }
  const reply = repliedTo(message)
  const result: Message = {
    native: corrected ?? native,
    chat,
    from,
    at,
    ...(corrected && { editedAt: at }),
    content,
    ...(reply && { replyTo: { native: names.find(chat.native, reply) }, ...quoteOf(message) }),
    ...forwardOf(message),
    ...albumOf(message),
  }
  return { kind: corrected ? 'edited' : 'message', ...event, message: result }
}

/** Everybody sees the room's ids, so anybody can take one for an id of his own. */
const mayName = (called: string, { named }: IncomingMessage, { chat, names }: RoomView): boolean =>
  !named || called === named || names.find(chat.native, called) === called

type Happened = Pick<Happening, 'sourceKey' | 'direction' | 'at' | 'recovered'>

const deleted = (native: string, event: Happened, { native: chat, surface }: Chat): Happening => ({
  kind: 'deleted',
  ...event,
  chat,
  surface,
  messages: [native],
})

/** A moderator takes the message of another one away, by the id that the room gave it (XEP-0425). */
function moderated(
  message: Element,
  event: Happened,
  { chat, names }: RoomView,
): Happening | undefined {
  const fastened = message.getChild('apply-to', ns.fastening)
  const retract = message.getChild('retract', ns.retraction)
  const isRetract = retract?.getChild('moderated', ns.moderation) !== undefined
  const moderation = fastened?.getChild('moderated', ns.olderModeration)
  const older = moderation?.getChild('retract', ns.olderRetraction) && fastened?.attrs.id
  const id = (isRetract && retract?.attrs.id) || older
  return id ? deleted(names.find(chat.native, storable(id)), event, chat) : undefined
}

/** The id that the room gave it, by which others name it; where it gives none, that of the writer. */
function nativeOf({ message, archived, key }: IncomingMessage, { chat, names }: RoomView): string {
  const given = archived ? storable(archived) : idOf(message)
  if (!given) return marked('', key)
  return names.give(chat.native, given, key, Boolean(archived))
}

interface Stamps {
  readonly archived: string | undefined
  /** Unix time in seconds. */
  readonly at: number
  readonly delayed?: true
}

/**
 * The room's own facts about a message that it passes on: its id in the archive, and its time. ejabberd passes on what
 * people write in the room's name about the time, so it counts only while the room repeats its last messages.
 */
export function stampsOf(message: Element, room: string, isRepeating: boolean): Stamps {
  const archived = stanzaId(message, room)
  const delay = isRepeating ? delayOf(message, room) : undefined
  const at = timeIn(delay) ?? Math.floor(Date.now() / 1000)
  return { archived, at, ...(delay && { delayed: true }) }
}

/** The room adds its own time behind those that people have made up. */
const delayOf = (message: Element, room: string): Element | undefined =>
  message
    .getChildren('delay', ns.delay)
    .findLast(({ attrs }) => parseAddress(attrs.from)?.bare === room)

const BANNED = '301'
/** Kicked; removed for a changed affiliation; removed because the room became members-only. */
const PUT_OUT = ['307', '321', '322']
/** The connection to the occupant broke. A room may call that a kick as well (XEP-0045). */
const UNREACHED = '333'

interface Standing {
  readonly chat: Chat
  readonly self: Person
  readonly status: Member['status']
  person(nick: string): Person
}

/** The removal of the account (XEP-0045); `undefined` when it left by itself, or the server went away. */
export function removal(presence: Element, standing: Standing): Happening | undefined {
  const user = presence.getChild('x', ns.mucUser)
  const codes = user?.getChildren('status').map(({ attrs }) => attrs.code ?? '') ?? []
  const isBanned = codes.includes(BANNED)
  const isKicked = PUT_OUT.some((code) => codes.includes(code)) && !codes.includes(UNREACHED)
  const isOut = isBanned || isKicked
  if (!isOut && !user?.getChild('destroy')) return undefined
  const { chat, self: person, status } = standing
  const actor = user?.getChild('item')?.getChild('actor')?.attrs
  return {
    kind: 'member',
    // The room sends it once only: the key need not be the same again.
    sourceKey: `out:${chat.native}:${randomUUID()}`,
    direction: 'incoming',
    at: Math.floor(Date.now() / 1000),
    chat,
    by: actor ? actorOf(actor, standing) : theRoom(chat),
    isSelf: true,
    before: { person, status },
    after: { person, status: isBanned ? 'kicked' : 'left' },
  }
}

function actorOf({ jid, nick }: Element['attrs'], { chat, person }: Standing): Person {
  const address = parseAddress(jid)?.bare
  if (address) return personAt(address, nick)
  return nick ? person(nick) : theRoom(chat)
}

const theRoom = ({ native, title = native }: Chat): Person => ({ native, firstName: title })

const MOST_REMEMBERED = 1_000

export class RoomMessageIds {
  readonly #natives = new RecentMap<string, string>(MOST_REMEMBERED)

  get isEmpty(): boolean {
    return this.#natives.size === 0
  }

  /** Whoever goes by the writer's name from now on is somebody else. */
  forget(writer: string) {
    this.forgetUnder(key(writer, ''))
  }

  /** The same of all writers whose names begin so. */
  forgetUnder(names: string) {
    for (const place of this.#natives.keys()) {
      if (place.startsWith(names)) this.#natives.delete(place)
    }
  }

  /** The same id by two writers means two messages: a writer cannot change the message of another one. */
  remember(writer: string, id: string, native: string) {
    this.#natives.set(key(writer, id), native)
  }

  find(writer: string, id: string): string | undefined {
    return this.#natives.get(key(writer, id))
  }

  wrote(writer: string, native: string): boolean {
    return [...this.#natives].some(
      ([place, known]) => known === native && place.startsWith(`${writer}\n`),
    )
  }
}

const key = (writer: string, id: string) => `${writer}\n${id}`

/** Of a writer who may be somebody else than the one with that name now. */
export const unknownIds: Pick<RoomMessageIds, 'find' | 'remember' | 'wrote'> = {
  find: () => undefined,
  wrote: () => false,
  remember: () => undefined,
}
