/** How people of the XMPP tests share files and places, and what they make of those shared with them. */
import type { Content } from '../../../machines/model/content.ts'
import type { MediaKind } from '../../../machines/model/media.ts'
import type { Seen } from '../../support/slixmpp.ts'
import type { Files } from './files.ts'

type Extra = readonly [name: string, attributes: Record<string, unknown>]

export async function shared(content: Content, files: Files) {
  if (content.kind === 'location') return place(content)
  if (content.kind === 'contact') return card(content)
  if (content.kind !== 'media' || !('blob' in content.media.file)) throw new Error('no content')
  const { kind, file, mime, size } = content.media
  const link = await files.link(file.blob)
  const facts = `<file xmlns='urn:xmpp:file:metadata:0'>
    <media-type>${mime}</media-type><size>${size}</size></file>`
  const disposition = kind === 'document' ? 'attachment' : 'inline'
  const extras: Extra[] = [
    ['{jabber:x:oob}x', { url: link }],
    ['{urn:xmpp:sfs:0}file-sharing', { disposition, xml: facts }],
  ]
  const caption = content.caption.text
  return { body: caption ? `${link}\n${caption}` : link, extras }
}

type Of<Kind extends Content['kind']> = Content & { readonly kind: Kind }

function place({ latitude, longitude, venue }: Of<'location'>) {
  const link = `geo:${latitude},${longitude}`
  if (!venue) return { body: link, extras: [] }
  const { title, address } = venue
  const facts = `<geoloc xmlns='http://jabber.org/protocol/geoloc'><lat>${latitude}</lat>
    <lon>${longitude}</lon><description>${title}</description><text>${address}</text></geoloc>`
  return { body: `${title}, ${address}\n${link}`, extras: [whole(facts)] }
}

function card({ firstName, phone }: Of<'contact'>) {
  const facts = `<vcard xmlns='urn:ietf:params:xml:ns:vcard-4.0'><fn><text>${firstName}</text></fn>
    <tel><uri>tel:${phone}</uri></tel></vcard>`
  return { body: `${firstName}: ${phone}`, extras: [whole(facts)] }
}

/** An element as it is written here. */
const whole = (xml: string): Extra => ['', { xml }]

/** The body without the link of its file. */
export function wordsOf({ body, link }: Seen): string | null {
  return body !== null && link !== null ? body.replace(link, '').trim() : body
}

export function contentOf(seen: Seen): Content {
  const text = wordsOf(seen) ?? ''
  const [, latitude, longitude] = /^geo:([\d.-]+),([\d.-]+)$/m.exec(text) ?? []
  if (latitude && longitude) {
    const { title, address } = seen.place ?? {}
    const venue = title && address && { venue: { title, address } }
    return { kind: 'location', latitude: Number(latitude), longitude: Number(longitude), ...venue }
  }
  const { given, phone } = seen.card ?? {}
  if (given && phone) return { kind: 'contact', firstName: given, phone: phone.slice(4) }
  if (seen.link === null) return { kind: 'text', text, entities: [] }
  const kind = kindOf(seen)
  const size = Number(seen.file?.size)
  const media = { kind, file: { native: seen.link }, size }
  return { kind: 'media', media, caption: { text, entities: [] } }
}

function kindOf({ file }: Seen): MediaKind {
  if (file?.disposition === 'attachment') return 'document'
  const [family, type] = file?.type?.split('/') ?? []
  if (family === 'image') return type === 'gif' ? 'animation' : 'photo'
  if (family === 'video') return 'video'
  return type === 'ogg' ? 'voice' : 'audio'
}
