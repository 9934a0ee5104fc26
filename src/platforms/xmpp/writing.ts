/** Outgoing messages as XML. */
import { type Element, xml } from '@xmpp/client'
import { messageTooLong } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { Text } from '../../../machines/model/text.ts'
import { parseAddress } from './address.ts'
import { fileSharing } from './media/shared.ts'
import { networkId } from './message-identity.ts'
import { ns } from './namespaces.ts'
import { weightOf } from './transport.ts'

export interface Envelope {
  readonly type: 'chat' | 'groupchat'
  readonly to: string
  /** Doubles as the origin id, by which other devices and the archive name the message. */
  readonly id: string
}

export interface Body {
  readonly body: string
  /** Whether its marks are meant as formatting. */
  readonly isStyled: boolean
  /** A file whose link the body begins with. */
  readonly shared?: { readonly link: string; readonly media: Media }
  /** The same once more, for clients that look for more than a text. */
  readonly extras?: readonly Element[]
}

/** Servers end the whole stream over a stanza beyond their limit, which is 256 KiB in Prosody and ejabberd. */
const MOST_BYTES = 250 * 1024
/** As which a character is written at most: `&quot;`. */
const MOST_BYTES_EACH = 6

interface Forwarded {
  readonly from: string
  /** Unix time in seconds. */
  readonly at: number
  readonly text: Body
}

interface Bonds {
  readonly replyTo?: string
  /** The words of the message answered that the text begins with. */
  readonly quote?: Text
  readonly forwarded?: Forwarded
}

export function textMessage(envelope: Envelope, text: Body, bonds: Bonds | false): Element {
  const { replyTo = '', quote, forwarded } = bonds || {}
  const replied = networkId(replyTo)
  return chatMessage(
    envelope,
    ...bodyElements(text),
    replied !== '' && xml('reply', { xmlns: ns.reply, id: replied }),
    replied !== '' && quote && quotedPart(text, quote),
    forwarded && original(forwarded),
    xml('active', ns.chatStates),
    // In a room everybody would answer.
    envelope.type === 'chat' && xml('request', ns.receipts),
    xml('markable', ns.markers),
  )
}

/** Clients that show the message answered themselves leave its words out of the text (XEP-0461). */
function quotedPart({ body, shared }: Body, quote: Text): Element | undefined {
  // The fences of code are lines of their own.
  if (quote.entities.some(({ type }) => type === 'pre')) return undefined
  const before = shared ? `${shared.link}\n` : ''
  const lines = body.slice(before.length).split('\n')
  const quoted = lines.splice(0, quote.text.split('\n').length).join('\n')
  const start = [...before].length
  const end = start + [...quoted].length + Math.sign(lines.length)
  return xml('fallback', { xmlns: ns.fallback, for: ns.reply }, xml('body', { start, end }))
}

/** The message it was, beside the body for clients that cannot read it (XEP-0297). */
function original({ from, at, text }: Forwarded): Element {
  const stamp = new Date(at * 1000).toISOString()
  const message = xml('message', { xmlns: 'jabber:client', from }, ...bodyElements(text))
  return xml('forwarded', ns.forward, xml('delay', { xmlns: ns.delay, stamp }), message)
}

export function correction(envelope: Envelope, text: Body, target: string): Element {
  return chatMessage(
    envelope,
    ...bodyElements(text),
    xml('replace', { xmlns: ns.correction, id: target }),
  )
}

export function retraction(envelope: Envelope, target: string): Element {
  return chatMessage(
    envelope,
    xml('retract', { xmlns: ns.retraction, id: networkId(target) }),
    xml('fallback', { xmlns: ns.fallback, for: ns.retraction }),
    xml('body', {}, 'This person retracted a message, which your client cannot show.'),
    xml('store', ns.hints),
  )
}

/** All that the account thinks of a message, in place of what it said before (XEP-0444). */
export function opinion(envelope: Envelope, target: string, emojis: readonly string[]): Element {
  const reactions = emojis.map((emoji) => xml('reaction', {}, clean(emoji)))
  return chatMessage(
    envelope,
    xml('reactions', { xmlns: ns.reactions, id: networkId(target) }, ...reactions),
    xml('store', ns.hints),
  )
}

export function chatState({ type, to }: Envelope, state: 'composing' | 'active'): Element {
  return xml('message', { type, to }, xml(state, ns.chatStates))
}

export function receipt(to: string, id: string): Element {
  return xml('message', { type: 'chat', to }, xml('received', { xmlns: ns.receipts, id }))
}

/** Says that everything up to the message with this id was displayed (XEP-0333). */
export function displayed({ type, to, id }: Envelope, native: string): Element {
  const marker = xml('displayed', { xmlns: ns.markers, id: networkId(native) })
  return xml('message', { type, to, id }, marker, xml('store', ns.hints))
}

function bodyElements({ body, isStyled, shared, extras = [] }: Body): (Element | false)[] {
  const isTaken = !isStyled && /[*_~`>]/.test(body)
  return [
    xml('body', {}, clean(body)),
    isTaken && xml('unstyled', ns.styling),
    ...(shared ? fileElements(body, shared) : []),
    ...extras,
  ]
}

/** Clients that read the file's own element leave its link out of the text. */
function fileElements(body: string, { link, media }: NonNullable<Body['shared']>): Element[] {
  const end = body.startsWith(`${link}\n`) ? [...link].length + 1 : [...link].length
  return [
    xml('x', ns.outOfBand, xml('url', {}, link)),
    fileSharing(link, media),
    xml('fallback', { xmlns: ns.fallback, for: ns.fileSharing }, xml('body', { start: 0, end })),
  ]
}

function chatMessage(
  { type, to, id }: Envelope,
  ...children: (Element | false | undefined)[]
): Element {
  const origin = xml('origin-id', { xmlns: ns.ids, id })
  // Only a whisper goes to a full address.
  const whisper = parseAddress(to)?.resource !== undefined && xml('x', ns.mucUser)
  const message = xml('message', { type, to, id }, ...children, origin, whisper)
  // Most are far from it, and are written only once.
  const mayBeTooLong = weightOf(message) * MOST_BYTES_EACH > MOST_BYTES
  if (mayBeTooLong && Buffer.byteLength(message.toString()) > MOST_BYTES) throw messageTooLong()
  return message
}

/** A server ends the stream over a character that XML cannot hold. */
function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
}
