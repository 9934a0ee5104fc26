/** Which kind of media a file is: by its type, or by how its name ends where nobody tells the type. */
import type { Media, MediaKind } from '../../../../machines/model/content.ts'

const kinds: readonly (readonly [kind: MediaKind, types: RegExp, endings: RegExp])[] = [
  ['photo', /^image\/(jpeg|png|webp|avif|heic)$/, /\.(jpe?g|png|webp|avif|heic)$/i],
  ['animation', /^image\/gif$/, /\.gif$/i],
  ['video', /^video\//, /\.(mp4|m4v|webm|mov)$/i],
  ['voice', /^audio\/(ogg|opus)$/, /\.(ogg|oga|opus)$/i],
  ['audio', /^audio\//, /\.(mp3|m4a|aac|flac|wav)$/i],
]

export const kindByType = (mime: string): MediaKind =>
  kinds.find(([, types]) => types.test(mime))?.[0] ?? 'document'

export const kindByName = (name: string): MediaKind =>
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
