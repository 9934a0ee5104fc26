/** Files that people share as links (XEP-0066): their kind, and the facts that stand beside the link (XEP-0446, XEP-0447; XEP-0385). */
import { type Element, xml } from '@xmpp/client'
import type { Content } from '../../../../machines/model/content.ts'
import { LARGEST_INTEGER, type Media, type MediaKind } from '../../../../machines/model/media.ts'
import { ns } from '../namespaces.ts'
import { readStyled } from '../styling/read.ts'

type Facts = Pick<
  Media,
  'name' | 'mime' | 'size' | 'width' | 'height' | 'durationSeconds' | 'thumbnail'
>

/** The facts about a shared file besides its link: its type, size, measures and thumbnail. */
export function fileSharing(link: string, media: Media): Element {
  const { kind, name, mime, size, width, height, durationSeconds } = media
  const fact = (element: string, value: string | number | undefined) =>
    value !== undefined && xml(element, {}, String(value))
  return xml(
    'file-sharing',
    { xmlns: ns.fileSharing, disposition: kind === 'document' ? 'attachment' : 'inline' },
    xml(
      'file',
      ns.fileFacts,
      fact('media-type', mime),
      fact('name', name),
      fact('size', size),
      fact('width', width),
      fact('height', height),
      fact('length', durationSeconds && Math.round(durationSeconds * 1000)),
      thumbnail(media.thumbnail),
    ),
    xml('sources', {}, xml('url-data', { xmlns: ns.urlData, target: link })),
  )
}

function thumbnail(media: Media | undefined): Element | false {
  if (!media || !('native' in media.file)) return false
  const { file, mime = 'image/jpeg', width, height } = media
  const attributes = { xmlns: ns.thumbnails, uri: file.native, 'media-type': mime, width, height }
  return xml('thumbnail', attributes)
}

const measures = (width = 0, height = 0) => ({
  ...(width > 0 && width <= LARGEST_INTEGER && { width }),
  ...(height > 0 && height <= LARGEST_INTEGER && { height }),
})

/** The facts as the sender states them, without impossible values. */
function readFacts(file: Element | undefined): Facts {
  if (!file) return {}
  const text = (element: string) => file.getChildText(element)?.trim() || undefined
  const whole = (value: string | undefined) =>
    /^\d{1,15}$/.test(value ?? '') ? Number(value) : undefined
  const name = text('name')?.slice(-255).toWellFormed()
  const mime = text('media-type')?.toLowerCase()
  const size = whole(text('size'))
  const [across, down] = text('dimensions')?.split('x') ?? []
  const width = whole(text('width') ?? across)
  const height = whole(text('height') ?? down)
  const durationSeconds = Math.round((whole(text('length')) ?? Number.NaN) / 1000)
  const small = file.getChild('thumbnail', ns.thumbnails)?.attrs
  return {
    ...(name && { name }),
    ...(mime && /^[\w.+-]{1,60}\/[\w.+-]{1,90}$/.test(mime) && { mime }),
    ...(size !== undefined && { size }),
    ...measures(width, height),
    ...(durationSeconds <= LARGEST_INTEGER && { durationSeconds }),
    ...(isLink(small?.uri) && {
      thumbnail: {
        kind: 'photo',
        file: { native: small.uri },
        mime: 'image/jpeg',
        ...measures(whole(small.width), whole(small.height)),
      },
    }),
  }
}

/** The kinds of media, by the type of a file, or by the ending of its name where the type is unknown. */
const kinds: readonly (readonly [kind: MediaKind, types: RegExp, endings: RegExp])[] = [
  ['photo', /^image\/(jpeg|png|webp|avif|heic)$/, /\.(jpe?g|png|webp|avif|heic)$/i],
  ['animation', /^image\/gif$/, /\.gif$/i],
  ['video', /^video\//, /\.(mp4|m4v|webm|mov)$/i],
  ['voice', /^audio\/(ogg|opus)$/, /\.(ogg|oga|opus)$/i],
  ['audio', /^audio\//, /\.(mp3|m4a|aac|flac|wav)$/i],
]

const kindByType = (mime: string): MediaKind =>
  kinds.find(([, types]) => types.test(mime))?.[0] ?? 'document'

const kindByName = (name: string): MediaKind =>
  kinds.find(([, , endings]) => endings.test(name))?.[0] ?? 'document'

const usualEnding: Readonly<Partial<Record<MediaKind, string>>> = {
  photo: '.jpg',
  animation: '.gif',
  video: '.mp4',
  voice: '.ogg',
  audio: '.mp3',
}

/** The name under which a file goes out; most clients judge it by its ending. */
export function nameFor({ kind, name }: Pick<Media, 'kind' | 'name'>): string {
  const clean = name?.replace(/[/\\\p{Cc}]/gu, '_').slice(-100)
  if (clean && (kind === 'document' || kindByName(clean) === kind)) return clean
  return `${clean || 'file'}${usualEnding[kind] ?? ''}`
}

/** A shared file as content. `text`: the body of the message, which repeats the link for clients that know nothing else. */
export function sharedFile(message: Element, text: string | undefined): Content | undefined {
  const sharing = message.getChild('file-sharing', ns.fileSharing)
  const media = referredMedia(message)
  const link =
    message.getChild('x', ns.outOfBand)?.getChildText('url')?.trim() ??
    sharing?.getChild('sources')?.getChild('url-data', ns.urlData)?.attrs.target ??
    media?.getChild('sources')?.getChildren('reference', ns.reference).map(uriOf).find(isLink)
  if (!isLink(link)) return undefined
  const { pathname } = new URL(link)
  const facts = readFacts(sharing?.getChild('file', ns.fileFacts) ?? media?.getChild('file'))
  const name = facts.name ?? nameInLink(link)
  // Only a document may have any size.
  const isTooLarge = (facts.size ?? 0) > LARGEST_INTEGER
  const kind =
    isTooLarge || sharing?.attrs.disposition === 'attachment'
      ? 'document'
      : facts.mime === undefined
        ? kindByName(pathname)
        : kindByType(facts.mime)
  const caption = text?.replace(link, '').trim() ?? ''
  const isPlain = message.getChild('unstyled', ns.styling) !== undefined
  return {
    kind: 'media',
    media: { kind, file: { native: link }, ...(name && { name }), ...facts },
    caption: isPlain ? { text: caption, entities: [] } : readStyled(caption),
  }
}

/** A file in the form that came before XEP-0447; a reference may mean a person instead. */
const referredMedia = (message: Element): Element | undefined =>
  message
    .getChildren('reference', ns.reference)
    .map((reference) => reference.getChild('media-sharing', ns.mediaSharing))
    .find((media) => media !== undefined)

const uriOf = ({ attrs }: Element): string | undefined => attrs.uri

/** The link becomes a part of the file's public id. */
const LONGEST_LINK = 1_500

export function isLink(link: string | undefined): link is string {
  if (!link || link.length > LONGEST_LINK || !URL.canParse(link)) return false
  return /^https?:$/.test(new URL(link).protocol)
}

/** The name of the file behind a link: the end of its path. */
export function nameInLink(link: string): string | undefined {
  const { pathname } = new URL(link)
  const last = pathname.slice(pathname.lastIndexOf('/') + 1)
  try {
    return decodeURIComponent(last) || undefined
  } catch {
    // Not every link is escaped as it should be.
    return last
  }
}
