/** Types of files: the demuxers of ffmpeg for them, and the types by file name if the bytes do not show them. */
import { extname } from 'node:path'

/** Never left to ffmpeg to guess: a playlist would make it read other files. */
const demuxers: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'video/mp4': 'mov',
    'video/quicktime': 'mov',
    'video/x-m4v': 'mov',
    'video/3gpp': 'mov',
    'video/3gpp2': 'mov',
    'audio/mp4': 'mov',
    'audio/x-m4a': 'mov',
    'video/webm': 'matroska',
    'video/matroska': 'matroska',
    'video/x-matroska': 'matroska',
    'video/vnd.avi': 'avi',
    'video/x-flv': 'flv',
    'video/mpeg': 'mpeg',
    'video/mp2t': 'mpegts',
    'video/x-ms-asf': 'asf',
    'audio/x-ms-asf': 'asf',
    'video/ogg': 'ogg',
    'audio/ogg': 'ogg',
    'application/ogg': 'ogg',
    'image/gif': 'gif',
    'audio/mpeg': 'mp3',
    'audio/wav': 'wav',
    'audio/flac': 'flac',
    'audio/aac': 'aac',
    'audio/amr': 'amr',
    'audio/aiff': 'aiff',
  }),
)

const bare = (mime: string): string => mime.split(';', 1)[0]?.trim().toLowerCase() ?? ''

export const demuxerOf = (mime: string): string | undefined => demuxers.get(bare(mime))

/** SVG, PDF and HEIF are no pictures here: their readers do too much. */
const pictures = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'image/tiff']

export const isPicture = (mime: string): boolean => pictures.includes(bare(mime))

/** Whether files of this type are inspected beyond their first bytes. */
export const isLookedInto = (mime: string): boolean =>
  isPicture(mime) || demuxerOf(mime) !== undefined

const byExtension: ReadonlyMap<string, string> = new Map(
  Object.entries({
    txt: 'text/plain',
    md: 'text/markdown',
    csv: 'text/csv',
    json: 'application/json',
    xml: 'application/xml',
    html: 'text/html',
    svg: 'image/svg+xml',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    odt: 'application/vnd.oasis.opendocument.text',
    epub: 'application/epub+zip',
    apk: 'application/vnd.android.package-archive',
    jar: 'application/java-archive',
    tgs: 'application/x-tgsticker',
  }),
)

/** Container types: the bytes do not show the type of the content. */
const wrappers = ['application/zip', 'application/gzip', 'application/xml']
const saysNothing = ['', 'application/octet-stream', 'binary/octet-stream']
const wellFormed = /^[\w.+-]{1,60}\/[\w.+-]{1,100}$/

/** The type by the bytes; otherwise by the file's name; otherwise as the sender gives it. */
export function mimeOf(
  sniffed: string | undefined,
  { name = '', mime = '' }: { readonly name?: string; readonly mime?: string },
): string {
  const told = sniffed === undefined ? undefined : bare(sniffed)
  if (told !== undefined && !wrappers.includes(told)) return told
  const declared = bare(mime)
  const named = byExtension.get(extname(name).slice(1).toLowerCase())
  const believed = saysNothing.includes(declared) || !wellFormed.test(declared) ? '' : declared
  return named || believed || told || 'application/octet-stream'
}

/**
 * The end of a name, with its extension: what file systems take, which count bytes of UTF-8. Half a character becomes U+FFFD.
 */
export function endOfName(name: string, mostBytes: number): string {
  const bytes = Buffer.from(name)
  let from = Math.max(0, bytes.length - mostBytes)
  // The later bytes of a character that begins before.
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++
  return bytes.toString('utf8', from)
}

/** Room for the extension that a conversion gives it: file systems take 255 bytes. */
const LONGEST_NAME = 250

/** A name that is safe to show: no path, nothing invisible, not endless. */
export function cleanName(name: string | undefined): string | undefined {
  const last = name?.split(/[/\\]/).at(-1) ?? ''
  const clean = last.replace(/\p{C}/gu, '').trim().slice(-200)
  return clean === '' || /^\.+$/.test(clean) ? undefined : endOfName(clean, LONGEST_NAME)
}

/** The name with the extension of the new type. */
export const renamed = (name: string | undefined, extension: string): string | undefined =>
  name && `${name.slice(0, name.length - extname(name).length)}.${extension}`
