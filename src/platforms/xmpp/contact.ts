/** Cards of people: shared as a contact (XEP-0292, RFC 6350), and the name on a person's own card (XEP-0054). */
import { type Element, xml } from '@xmpp/client'
import type { Content } from '../../../machines/model/content.ts'
import { ns } from './namespaces.ts'
import { isDeclined, type RequestOptions, type Requests } from './requests.ts'

type Contact = Content & { readonly kind: 'contact' }

const LONGEST_CARD = 2_048

/** The text for clients without support for cards. */
export const writeContact = (contact: Contact): string => `${fullName(contact)}\n${contact.phone}`

export function contactElement(contact: Contact): Element {
  const { phone, firstName, lastName } = contact
  return xml(
    'vcard',
    ns.card,
    xml('fn', {}, xml('text', {}, fullName(contact))),
    xml('n', {}, xml('surname', {}, lastName ?? ''), xml('given', {}, firstName)),
    xml('tel', {}, xml('uri', {}, `tel:${phone}`)),
  )
}

export function readContact(message: Element, text: string): Contact | undefined {
  const card = message.getChild('vcard', ns.card)
  if (!card) return readCard(text)
  const name = card.getChild('n')
  const number = card.getChild('tel')
  return contactOf({
    phone: number?.getChildText('uri') ?? number?.getChildText('text'),
    whole: card.getChild('fn')?.getChildText('text'),
    given: name?.getChildText('given'),
    family: name?.getChildText('surname'),
  })
}

/** Reads a contact from a text that is only a card. */
function readCard(text: string): Contact | undefined {
  const card = text.trim()
  if (card.length > LONGEST_CARD || !/^BEGIN:VCARD\r?\n[\s\S]*\nEND:VCARD$/i.test(card))
    return undefined
  // A line that begins with a space goes on with the one before.
  const lines = card.replace(/\r?\n[ \t]/g, '').split(/\r?\n/)
  const value = (name: string) => {
    const field = new RegExp(`^(?:[\\w-]+\\.)?${name}(?:;[^:]*)?:(.*)$`, 'i')
    return lines.map((line) => field.exec(line)?.[1]).find((found) => found)
  }
  const [family, given] =
    value('N')
      ?.split(/(?<!\\);/)
      .map(unescaped) ?? []
  const contact = contactOf({ phone: value('TEL'), whole: unescaped(value('FN')), given, family })
  return contact && { ...contact, vcard: card }
}

interface Facts {
  readonly phone: string | null | undefined
  readonly whole: string | null | undefined
  readonly given: string | null | undefined
  readonly family: string | null | undefined
}

/** A contact is a number with a name. */
function contactOf({ phone, whole, given, family }: Facts): Contact | undefined {
  const clean = (value: string | null | undefined) => value?.trim().slice(0, 64).toWellFormed()
  const number = clean(phone)?.replace(/^tel:/i, '')
  const firstName = clean(given) || clean(whole) || clean(family)
  const lastName = clean(given) && clean(family)
  if (!number || !firstName) return undefined
  return { kind: 'contact', phone: number, firstName, ...(lastName && { lastName }) }
}

const fullName = ({ firstName, lastName }: Contact) =>
  lastName ? `${firstName} ${lastName}` : firstName

const unescaped = (value: string | undefined) =>
  value?.replace(/\\n/gi, '\n').replace(/\\([,;\\])/g, '$1')

const CARD_MS = 4_000

/** `undefined` when there is none or its server is slow; `whom` absent: the account's own. */
export async function nicknameOf(
  requests: Requests,
  whom: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const options: RequestOptions = {
    signal,
    milliseconds: CARD_MS,
    ...(whom !== undefined && { to: whom }),
  }
  try {
    const answer = await requests.ask('get', xml('vCard', ns.vcard), options)
    const card = answer.getChild('vCard', ns.vcard)
    return card?.getChildText('NICKNAME') || card?.getChildText('FN') || undefined
  } catch (cause) {
    if (isDeclined(cause)) return undefined
    throw cause
  }
}
