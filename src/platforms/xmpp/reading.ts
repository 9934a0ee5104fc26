/** Reads a message of the network as an event; `undefined` when it is none. */
import { isDeepStrictEqual } from 'node:util'
import type { Element } from '@xmpp/client'
import type { Content, Message, Reaction } from '../../../machines/model/content.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { RecentMap } from '../kit/recent-map.ts'
import { nameOf, parseAddress, personAt, privateChat, whispering } from './address.ts'
import { timeIn } from './archive.ts'
import { readContact } from './contact.ts'
import type { IncomingMessage } from './delivery.ts'
import { readInvitation } from './invitation.ts'
import { readLocation } from './location.ts'
import { sharedFile } from './media/shared.ts'
import {
  idOf,
  isOrdinary,
  type MessageNames,
  MOST_REMEMBERED,
  marked,
  storable,
  targetOf,
} from './message-identity.ts'
import { ns } from './namespaces.ts'
import { readStyled } from './styling/read.ts'
import { readXhtml } from './styling/xhtml.ts'

export interface Known {
  readonly own: string
  readonly names: Pick<MessageNames, 'give' | 'find' | 'isOfOthers' | 'remember'>
  readonly opinions: Opinions
  /** Whether this session sent the message with this id. */
  sent(id: string): boolean
  /** Whether the account is, or was, in the room with this address. */
  isRoom(address: string): boolean
}

export function read(delivery: IncomingMessage, known: Known): Happening | undefined {
  if (delivery.room) return delivery.room.read(delivery)
  const { message, own } = delivery
  const { type = 'normal' } = message.attrs
  if (type !== 'chat' && type !== 'normal') return undefined
  const isPlain = isOrdinary(message)
  if (!isPlain && readInvitation(message)) return undefined
  const ends = endsOf(message, own, known)
  if (!ends) return undefined
  const { from, chat } = ends
  const event = {
    sourceKey: delivery.key,
    direction: own ? 'own' : 'incoming',
    at: delivery.at,
    ...(delivery.recovered && { recovered: true }),
  } as const
  const target = targetOf(message)
  if (target && isForeign(target.id, ends, own, known)) return undefined
  if (target?.change === 'retract') {
    return {
      kind: 'deleted',
      ...event,
      chat: chat.native,
      surface: 'private',
      messages: [known.names.find(chat.native, target.id, from.native)],
    }
  }
  const receipt = isPlain ? undefined : receiptIn(message)
  if (receipt) {
    if (own) return undefined
    const named = known.names.find(chat.native, receipt.id, known.own)
    const recent = known.sent(receipt.id) && ({ isRecent: true } as const)
    const about = { state: receipt.state, chat, target: named, person: from, ...recent }
    return { kind: 'receipt', ...event, ...about }
  }
  const reacted = isPlain ? undefined : reactionsIn(message)
  if (reacted && own) return undefined
  if (reacted) return known.opinions.change(event, { chat, person: from }, reacted, known.names)
  const content = contentOf(message)
  if (!content) return undefined
  const native = target
    ? known.names.find(chat.native, target.id, from.native)
    : nameOfMessage(delivery, chat.native, from.native, known)
  const reply = isPlain ? undefined : repliedTo(message)
  const result: Message = {
    native,
    chat,
    from,
    at: delivery.at,
    ...(target && { editedAt: delivery.at }),
    content,
    ...(reply && {
      replyTo: { native: known.names.find(chat.native, reply) },
      ...quoteOf(message),
    }),
    ...(!isPlain && { ...forwardOf(message), ...albumOf(message) }),
  }
  return { kind: target ? 'edited' : 'message', ...event, message: result }
}

/** Only who wrote a message may change it. */
function isForeign(id: string, ends: Ends, own: boolean, { names, sent }: Known): boolean {
  return (!own && sent(id)) || names.isOfOthers(ends.chat.native, id, ends.from.native)
}

type Ends = NonNullable<ReturnType<typeof endsOf>>

/** The author and the chat; undefined where no answer could go, and for what an unknown room claims to pass on. */
function endsOf(message: Element, own: boolean, known: Known) {
  const { from, to } = message.attrs
  const named = own ? to : from
  const other = parseAddress(named)
  if (named && !other) return undefined
  const self = personAt(known.own)
  if (other?.resource && known.isRoom(other.bare)) {
    const { chat, person } = whispering(other.bare, other.resource)
    return { chat, from: own ? self : person }
  }
  if (message.getChild('x', ns.mucUser)) return undefined
  const bare = other?.bare ?? known.own
  return { chat: privateChat(bare), from: own ? self : personAt(bare) }
}

function nameOfMessage(
  delivery: IncomingMessage,
  chat: string,
  writer: string,
  known: Known,
): string {
  const { message, own, key } = delivery
  const id = idOf(message)
  if (!id) return marked('', key)
  const isTaken = !own && known.sent(id)
  const native = isTaken ? marked(id, key) : known.names.give(chat, id, key)
  if (!isTaken) known.names.remember(chat, writer, id, native)
  return native
}

/** Receipts of the other side: a message was delivered (XEP-0184) or read (XEP-0333). Words beside one count more. */
export function receiptIn(message: Element) {
  if (message.getChildText('body')) return undefined
  const delivered = message.getChild('received', ns.receipts)?.attrs.id
  if (delivered) return { state: 'delivered', id: storable(delivered) } as const
  const read = message.getChild('displayed', ns.markers)?.attrs.id
  return read ? ({ state: 'read', id: storable(read) } as const) : undefined
}

const mostReactions = 20
const longestEmoji = 32

/** All that somebody thinks of a message now (XEP-0444). A text beside it is for clients that do not know reactions. */
export function reactionsIn(message: Element) {
  const element = message.getChild('reactions', ns.reactions)
  if (!element?.attrs.id) return undefined
  const emojis = element.getChildren('reaction').map((reaction) => reaction.getText().trim())
  const shown = emojis.filter((emoji) => emoji !== '' && emoji.length <= longestEmoji)
  const reactions = [...new Set(shown)].slice(0, mostReactions).map((emoji) => ({ emoji }))
  return { id: storable(element.attrs.id), reactions }
}

type Reacted = Extract<Happening, { kind: 'reaction' }>

/** What people thought of messages before: they say only what they think now. */
export class Opinions {
  readonly #known = new RecentMap<string, Pick<Reacted, 'sourceKey' | 'before' | 'after'>>(
    MOST_REMEMBERED,
  )

  /** Undefined when nothing has changed. The same event gives the same answer again. */
  change(
    event: Pick<Reacted, 'sourceKey' | 'direction' | 'at' | 'recovered'>,
    { chat, person }: Pick<Reacted, 'chat' | 'person'>,
    { id, reactions: after }: { readonly id: string; readonly reactions: readonly Reaction[] },
    names: Pick<MessageNames, 'find'>,
  ): Reacted | undefined {
    const { sourceKey } = event
    const target = names.find(chat.native, id)
    const place = `${chat.native}\n${target}\n${person.native}`
    const known = this.#known.get(place)
    const isSame = known?.sourceKey === sourceKey
    if (known && !isSame && isDeepStrictEqual(known.after, after)) return undefined
    const before = (isSame ? known.before : known?.after) ?? []
    this.#known.set(place, { sourceKey, before, after })
    return { kind: 'reaction', ...event, chat, target, person, before, after }
  }
}

export function repliedTo(message: Element): string | undefined {
  const id = message.getChild('reply', ns.reply)?.attrs.id
  return id && storable(id)
}

const MOST_QUOTED = 1024

/** The part of the message answered that an answer repeats, for clients that do not show that message. */
export function quoteOf(message: Element): Pick<Message, 'quote'> {
  const fallback = message
    .getChildren('fallback', ns.fallback)
    .find(({ attrs }) => attrs.for === ns.reply)
  const { start, end } = rangeOf(fallback?.getChild('body'))
  if (!fallback || !Number.isFinite(end)) return {}
  const part = [...(message.getChildText('body') ?? '')].slice(start, end).slice(0, MOST_QUOTED)
  const text = part.join('').replaceAll(/^> ?/gm, '').trim()
  return text === '' ? {} : { quote: { text, entities: [], position: 0 } }
}

/** The origin as the sender states it, not verified. */
export function forwardOf(message: Element): Pick<Message, 'forward'> {
  const forwarded = message.getChild('forwarded', ns.forward)
  const from = parseAddress(forwarded?.getChild('message')?.attrs.from)
  if (!from) return {}
  const at = timeIn(forwarded?.getChild('delay', ns.delay)) ?? 0
  return { forward: { from: 'hidden', name: nameOf(from.bare), at } }
}

export function contentOf(message: Element): Content | undefined {
  return isOrdinary(message) ? wordsOf(message) : specialContentOf(message)
}

/** Of a message that is ordinary. */
function wordsOf(message: Element): Content | undefined {
  const text = message.getChildText('body')
  if (!text) return undefined
  return readContact(message, text) ?? readLocation(message, text) ?? styledContent(text)
}

const styledContent = (text: string): Content => ({ kind: 'text', ...readStyled(text) })

function specialContentOf(message: Element): Content | undefined {
  const sealed = message
    .getChildren('encrypted')
    .find((child) => /omemo|axolotl/.test(child.getNS() ?? ''))
  // Clients exchange keys without any words.
  if (sealed && !sealed.getChild('payload') && !message.getChild('body')) return undefined
  const encrypted = message.getChild('encryption', ns.encryption) ?? sealed
  if (encrypted) return { kind: 'unsupported', label: encrypted.attrs.name ?? 'encrypted message' }
  const text = bodyOf(message)
  const other =
    sharedFile(message, text) ??
    readContact(message, text ?? '') ??
    readLocation(message, text ?? '')
  if (other) return other
  if (!text) return undefined
  // The formatted text does not show which part of the plain text is a fallback for other clients.
  const formatted = text === message.getChildText('body') && readXhtml(message)
  if (formatted) return { kind: 'text', ...formatted }
  if (message.getChild('unstyled', ns.styling)) return { kind: 'text', text, entities: [] }
  return styledContent(text)
}

/** Extensions that are read from their own elements, so their fallback text in the body is removed. */
const understood: ReadonlySet<string> = new Set([
  ns.reply,
  ns.correction,
  ns.retraction,
  ns.fileSharing,
])

/** Twice the number of kinds. A limit is needed because every character is compared with every range. */
const MOST_RANGES = 8

/** The text that people see: the body without its parts for older clients (XEP-0428). */
function bodyOf(message: Element): string | undefined {
  const body = message.getChildText('body')
  if (body === null) return undefined
  const ranges = message
    .getChildren('fallback', ns.fallback)
    .filter(({ attrs }) => attrs.for && understood.has(attrs.for))
    .slice(0, MOST_RANGES)
    .map((fallback) => rangeOf(fallback.getChild('body')))
  return ranges.length === 0 ? body : without(body, ranges)
}

interface Range {
  readonly start: number
  readonly end: number
}

function rangeOf(body: Element | undefined): Range {
  const start = Number(body?.attrs.start ?? 0)
  const end = Number(body?.attrs.end ?? Number.POSITIVE_INFINITY)
  return { start: start >= 0 ? start : 0, end: end >= 0 ? end : 0 }
}

/** Ranges count code points, not UTF-16 units. */
function without(body: string, ranges: readonly Range[]): string {
  return [...body]
    .filter((_, index) => !ranges.some(({ start, end }) => index >= start && index < end))
    .join('')
}

const LONGEST_KEY = 64

/** The album that the writer sent the message in. */
export function albumOf(message: Element): Pick<Message, 'album'> {
  const album = message.getChild('album', ns.album)?.attrs.id?.slice(0, LONGEST_KEY).toWellFormed()
  return album ? { album } : {}
}
