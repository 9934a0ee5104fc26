/** Messages as they go out. */
import { type Element, xml } from '@xmpp/client'
import { failed } from '../../../actors/errors.ts'
import { ns } from './namespaces.ts'

export interface Envelope {
  readonly to: string
  /** Doubles as the origin id, by which other devices and the archive name the message. */
  readonly id: string
}

/** Servers end the whole stream over a stanza beyond their limit, which is 256 KiB in Prosody and ejabberd. */
const mostBytes = 250 * 1024

export function textMessage(envelope: Envelope, text: string, replyTo?: string): Element {
  return chatMessage(
    envelope,
    xml('body', {}, clean(text)),
    replyTo !== undefined && xml('reply', { xmlns: ns.reply, id: replyTo }),
    xml('active', ns.chatStates),
    xml('request', ns.receipts),
  )
}

export function correction(envelope: Envelope, text: string, target: string): Element {
  return chatMessage(
    envelope,
    xml('body', {}, clean(text)),
    xml('replace', { xmlns: ns.correction, id: target }),
  )
}

export function retraction(envelope: Envelope, target: string): Element {
  return chatMessage(
    envelope,
    xml('retract', { xmlns: ns.retraction, id: target }),
    xml('fallback', { xmlns: ns.fallback, for: ns.retraction }),
    xml('body', {}, 'This person retracted a message, which your client cannot show.'),
    xml('store', ns.hints),
  )
}

export function chatState(to: string, state: 'composing' | 'active'): Element {
  return xml('message', { type: 'chat', to }, xml(state, ns.chatStates))
}

export function receipt(to: string, id: string): Element {
  return xml('message', { type: 'chat', to }, xml('received', { xmlns: ns.receipts, id }))
}

function chatMessage({ to, id }: Envelope, ...children: (Element | false)[]): Element {
  const origin = xml('origin-id', { xmlns: ns.ids, id })
  const message = xml('message', { type: 'chat', to, id }, ...children, origin)
  if (Buffer.byteLength(message.toString()) > mostBytes) {
    throw failed('bad_request', 'message is too long')
  }
  return message
}

/** A server ends the stream over a character that XML cannot hold. */
function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
}
