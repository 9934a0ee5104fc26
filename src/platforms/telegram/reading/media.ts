/** Pictures and files of the network in neutral terms. */
import type { tl } from '@mtcute/node'
import { LARGEST_INTEGER, type Media, type MediaKind } from '../../../../machines/model/media.ts'
import { type FileName, writeFileName } from '../files.ts'

type PlaceOf<Name> = Name extends FileName ? Omit<Name, 'id' | 'size'> : never
/** The context in which the file is shown. */
export type Shown = PlaceOf<FileName>

type Sized = tl.RawPhotoSize | tl.RawPhotoSizeProgressive | tl.RawPhotoCachedSize

/** Undefined without a picture, or if it was deleted. */
export function photoOf(photo: tl.TypePhoto | undefined, shown: Shown): Media | undefined {
  if (photo?._ !== 'photo') return undefined
  const sizes = sizesOf(photo.sizes, photo.id.toString(), shown)
  const largest = sizes.pop()
  return largest && { ...largest, ...(sizes.length > 0 && { sizes }) }
}

export function documentOf(document: tl.TypeDocument | undefined, shown: Shown): Media | undefined {
  if (document?._ !== 'document') return undefined
  const id = document.id.toString()
  const facts = factsOf(document)
  const thumbnail = sizesOf(document.thumbs ?? [], id, shown).pop()
  return {
    ...facts,
    file: { native: writeFileName({ ...shown, id }) },
    unique: id,
    ...(document.size >= 0 && { size: document.size }),
    ...(document.mimeType && { mime: document.mimeType }),
    ...(thumbnail && { thumbnail }),
  }
}

/** The smallest first. Outlines and previews that travel inside a message are no files. */
function sizesOf(sizes: readonly tl.TypePhotoSize[], id: string, shown: Shown): Media[] {
  return sizes
    .filter((size): size is Sized =>
      ['photoSize', 'photoSizeProgressive', 'photoCachedSize'].includes(size._),
    )
    .sort((one, other) => one.w * one.h - other.w * other.h)
    .map((size) => ({
      kind: 'photo',
      file: { native: writeFileName({ ...shown, id, size: size.type }) },
      unique: `${id}.${size.type}`,
      mime: 'image/jpeg',
      ...possible({ size: bytesOf(size), width: size.w, height: size.h }),
    }))
}

function bytesOf(size: Sized): number {
  if (size._ === 'photoSize') return size.size
  return size._ === 'photoCachedSize' ? size.bytes.length : Math.max(...size.sizes)
}

/** Without the numbers that nothing can have: the program of the sender states them. */
export const possible = (stated: Readonly<Record<string, number | undefined>>) =>
  Object.fromEntries(
    Object.entries(stated).filter(([, value = -1]) => value >= 0 && value <= LARGEST_INTEGER),
  )

type Facts = Pick<
  Media,
  'kind' | 'name' | 'durationSeconds' | 'width' | 'height' | 'title' | 'performer' | 'emoji'
>

function factsOf({ attributes }: tl.RawDocument): Facts {
  const found = <Name extends tl.TypeDocumentAttribute['_']>(name: Name) =>
    attributes.find(
      (attribute): attribute is Extract<tl.TypeDocumentAttribute, { _: Name }> =>
        attribute._ === name,
    )
  const name = found('documentAttributeFilename')?.fileName
  const sticker = found('documentAttributeSticker')
  const video = found('documentAttributeVideo')
  const audio = found('documentAttributeAudio')
  const size = found('documentAttributeImageSize') ?? video
  const duration = video?.duration ?? audio?.duration ?? Number.NaN
  return {
    kind: kindOf({ sticker, video, audio, isAnimated: !!found('documentAttributeAnimated') }),
    ...(name && { name }),
    ...possible({ width: size?.w, height: size?.h, durationSeconds: Math.floor(duration) }),
    ...(audio?.title && { title: audio.title }),
    ...(audio?.performer && { performer: audio.performer }),
    ...(sticker?.alt && { emoji: sticker.alt }),
  }
}

function kindOf(found: {
  sticker: object | undefined
  video: tl.RawDocumentAttributeVideo | undefined
  audio: tl.RawDocumentAttributeAudio | undefined
  isAnimated: boolean
}): MediaKind {
  if (found.sticker) return 'sticker'
  if (found.isAnimated) return 'animation'
  if (found.video) return found.video.roundMessage ? 'video_note' : 'video'
  if (found.audio) return found.audio.voice ? 'voice' : 'audio'
  return 'document'
}
