/** Files of the reference as media. */
import {
  MEDIA_KINDS,
  type Media,
  type MediaKind,
  type StickerSet,
} from '../../../../machines/model/content.ts'
import {
  array,
  type Fields,
  fields,
  Malformed,
  maybe,
  maybeText,
  number,
  present,
  text,
} from './fields.ts'

export function mediaIn(message: Fields): Media | undefined {
  // An animation also comes as a document, for clients that know no other: it is the first of the two in the list.
  const kind = MEDIA_KINDS.find((name) => message[name] !== undefined)
  if (!kind) return undefined
  return kind === 'photo' ? photoOf(message.photo) : mediaOf(kind, message[kind])
}

/** The largest of the sizes, with the smaller ones in it. */
export function photoOf(value: unknown): Media {
  const sizes = array(value, (size) => mediaOf('photo', size)).sort((a, b) => area(a) - area(b))
  const largest = sizes.pop()
  if (!largest) throw new Malformed('a photo has no sizes')
  return sizes.length > 0 ? { ...largest, sizes } : largest
}

const area = ({ width = 0, height = 0 }: Media) => width * height

function mediaOf(kind: MediaKind, value: unknown): Media {
  const file = fields(value)
  const length = number(file.length)
  return present({
    kind,
    file: { native: text(file.file_id) },
    unique: maybeText(file.file_unique_id),
    size: number(file.file_size),
    mime: kind === 'sticker' ? stickerMime(file) : maybeText(file.mime_type),
    name: maybeText(file.file_name),
    durationSeconds: number(file.duration),
    width: number(file.width) ?? length,
    height: number(file.height) ?? length,
    title: maybeText(file.title),
    performer: maybeText(file.performer),
    emoji: maybeText(file.emoji),
    setName: maybeText(file.set_name),
    thumbnail: maybe(file.thumbnail ?? file.thumb, (thumb) => mediaOf('photo', thumb)),
  })
}

function stickerMime(sticker: Fields): string {
  if (sticker.is_animated === true) return 'application/x-tgsticker'
  return sticker.is_video === true ? 'video/webm' : 'image/webp'
}

export function stickerSetOf(value: unknown): StickerSet {
  const { name, title, stickers } = fields(value)
  return {
    name: text(name),
    title: text(title),
    stickers: array(stickers, (sticker) => mediaOf('sticker', sticker)),
  }
}
