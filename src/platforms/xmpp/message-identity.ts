/** Which message a stanza is: the same for each copy of it, and never the same for two messages. */
import { hash, randomUUID } from 'node:crypto'
import type { Element } from '@xmpp/client'
import { RecentMap } from '../kit/recent-map.ts'
import { parseAddress } from './address.ts'
import { ns } from './namespaces.ts'

interface Copy {
  readonly message: Element
  /** The account's address or a room's. */
  readonly archive: string
  /** Its id in that archive; empty without an archive, if the room repeats its last messages to newcomers. */
  readonly archived?: string
  /** The account itself wrote it. */
  readonly own: boolean
  /** Its archive is a room's. */
  readonly isRoom: boolean
}

/** Some clients count 1, 2, 3 and begin again in each session; random ids are longer. */
const SHORTEST_RANDOM_ID = 16
/** How many recent messages are known by name, or by the keys under which they were stored. */
export const MOST_REMEMBERED = 1_000
/** XML knows no such character, so no id of the network contains it. */
const separator = '\u001f'

export const isRandom = (id: string): boolean => id.length >= SHORTEST_RANDOM_ID

/** The id by which the network knows a message; see `MessageNames`. */
export const networkId = (native: string): string => native.split(separator, 1)[0] ?? native

export function idOf({ attrs }: Element): string | undefined {
  return attrs.id === undefined ? undefined : storable(attrs.id)
}

/**
 * The source key. An archive id alone is not enough: ejabberd makes it of the time in microseconds, and two people
 * write within one. An id alone is not enough either: clients use theirs again.
 */
export function keyOf(copy: Copy): string {
  const { message, archived, own, isRoom, archive } = copy
  const id = idOf(message)
  // The gateway's own messages are known by their id before the archive has them.
  if (own && !isRoom && id && isRandom(id)) return `own:${id}`
  if (isRoom && archived === '')
    return storable(`id:${message.attrs.from}:${fingerprintOf(message)}`)
  // Without an archive, two messages with the same text and id look the same as one that arrived twice.
  if (!archived) return `live:${randomUUID()}`
  const place = isRoom ? `room:${archive}:${storable(archived)}` : `archive:${storable(archived)}`
  return storable(`${place}:${fingerprintOf(message)}`)
}

/** The part of a message that the sender sets and no server changes: the sender, the ids, the text. */
export function fingerprintOf(message: Element): string {
  const sender = parseAddress(message.attrs.from)
  const originId = message.getChild('origin-id', ns.ids)?.attrs.id
  const facts = [
    message.attrs.type === 'groupchat' ? message.attrs.from : sender?.bare,
    message.attrs.id,
    originId,
    message.getChildText('body'),
    targetOf(message)?.id,
  ]
  return shortHash(JSON.stringify(facts.map((fact) => fact ?? null)))
}

/** What may stand beside the words of a message and changes nothing of what it says. */
const companions: ReadonlySet<string> = new Set([
  ...['body', 'active', 'request', 'markable', 'thread', 'origin-id', 'stanza-id', 'delay'],
])

/** Whether there is nothing to look for but its words: most messages are so, and each look goes through all elements. */
export const isOrdinary = ({ children }: Element): boolean =>
  children.every((child) => typeof child === 'string' || companions.has(child.name))

/** Which message another one changes. */
export function targetOf(message: Element) {
  if (isOrdinary(message)) return undefined
  const fastened = message.getChild('apply-to', ns.fastening)
  const retracted =
    message.getChild('retract', ns.retraction)?.attrs.id ??
    (fastened?.getChild('retract', ns.olderRetraction) && fastened.attrs.id)
  if (retracted) return { change: 'retract', id: storable(retracted) } as const
  const replaced = message.getChild('replace', ns.correction)?.attrs.id
  return replaced ? ({ change: 'replace', id: storable(replaced) } as const) : undefined
}

/**
 * The native ids of recent messages. A message goes by the id that its sender gave it, as corrections and replies
 * name it so. An id that may be, or is, another message's as well gets a mark made of the message's key.
 */
export class MessageNames {
  readonly #owners = new RecentMap<string, string>(MOST_REMEMBERED)
  readonly #latest = new RecentMap<string, string>(MOST_REMEMBERED)

  /** The same for each copy with this key. `isServers`: a server gave the id, and not the writer's client. */
  give(chat: string, id: string, key: string, isServers = false): string {
    const place = `${chat}\n${id}`
    const owner = this.#owners.get(place) ?? key
    this.#owners.set(place, owner)
    return owner === key && (isServers || isRandom(id)) ? id : marked(id, key)
  }

  /** From now on this id names this message. */
  remember(chat: string, writer: string, id: string, native: string) {
    this.#latest.set(`${chat}\n${id}`, native)
    this.#latest.set(`${chat}\n${id}\n${writer}`, native)
  }

  /** Whether the message with this id is known, and not this writer's. An id that is used again says nothing of that. */
  isOfOthers(chat: string, id: string, writer: string): boolean {
    const place = `${chat}\n${id}`
    return isRandom(id) && this.#latest.has(place) && !this.#latest.has(`${place}\n${writer}`)
  }

  /** The native id of the newest message that goes by this id; with a writer: that this one wrote. */
  find(chat: string, id: string, writer?: string): string {
    const place = writer === undefined ? `${chat}\n${id}` : `${chat}\n${id}\n${writer}`
    return this.#latest.get(place) ?? id
  }
}

/** The same names, but messages that are read do not become the newest. */
export const unchanged = (
  names: Pick<MessageNames, 'give' | 'find' | 'isOfOthers'>,
): Pick<MessageNames, 'give' | 'find' | 'isOfOthers' | 'remember'> => ({
  give: (...place) => names.give(...place),
  isOfOthers: (...place) => names.isOfOthers(...place),
  find: (...place) => names.find(...place),
  remember: () => undefined,
})

export const marked = (id: string, key: string): string => `${id}${separator}${shortHash(key)}`

const digest = (text: string) => hash('sha256', text, 'base64url')

const shortHash = (text: string) => digest(text).slice(0, 11)

/** The database refuses keys above about 2,700 bytes, and with them the event. Ids of clients are far shorter. */
const LONGEST = 256

/** The same for the same id. */
export function storable(id: string): string {
  if (id.length <= LONGEST && !id.includes('\0')) return id
  return `long:${digest(id)}`
}
