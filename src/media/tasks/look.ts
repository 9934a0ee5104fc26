/** Worker task: the type of a file by its bytes, and the size of a picture. */
import { type FileHandle, open } from 'node:fs/promises'
import sharp from 'sharp'
import { isPicture } from '../formats.ts'
import { pictureOptions } from './picture.ts'
import { DIRECTORY_BYTES, directoryOf, HEAD_BYTES, sniff, withDirectory } from './sniff.ts'

export interface LookTask {
  readonly path: string
}

export interface Look {
  readonly size: number
  /** Undefined when the bytes do not tell, as with plain text. */
  readonly mime?: string
  /** As it is shown, not as it is stored. Absent when it is no picture that can be read. */
  readonly picture?: PictureFacts
}

interface PictureFacts {
  readonly width: number
  readonly height: number
  readonly frames: number
  /** It carries notes of a camera or a program: place, device, time, comments. */
  readonly hasNotes: boolean
}

const header = { ...pictureOptions, limitInputPixels: false }

export async function look({ path }: LookTask): Promise<Look> {
  await using file = await open(path)
  const { size } = await file.stat()
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
  const mime = await typeOf(file, buffer.subarray(0, bytesRead))
  if (mime === undefined) return { size }
  const isReadable = isPicture(mime) && !(await isEndless(file, mime, size))
  const picture = isReadable ? await measure(path) : undefined
  return { size, mime, ...(picture && { picture }) }
}

async function typeOf(file: FileHandle, head: Buffer): Promise<string | undefined> {
  const at = directoryOf(head)
  if (at === undefined || at + DIRECTORY_BYTES <= HEAD_BYTES) return sniff({ head })
  const { buffer, bytesRead } = await bytesAt(file, at, DIRECTORY_BYTES)
  return sniff({ head: withDirectory(head, buffer.subarray(0, bytesRead)) })
}

/**
 * Nothing ends the reading of a header once it has begun, not even the end of the thread. For these formats it takes time
 * by the square of the pages or values, or unpacks texts, so that a file of some megabytes could take minutes or hours: both are
 * counted first.
 */
const MAX_PAGES = 4_096

async function isEndless(file: FileHandle, mime: string, size: number): Promise<boolean> {
  if (mime === 'image/webp') return isEndlessWebp(file)
  if (mime === 'image/png') return isEndlessPng(file)
  return mime === 'image/tiff' && isEndlessTiff(file, size)
}

async function isEndlessWebp(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await bytesAt(file, 0, 12)
  if (bytesRead < 12) return false
  const end = 8 + buffer.readUInt32LE(4)
  let at = 12
  for (let chunks = 0; chunks <= MAX_PAGES; chunks++) {
    const { buffer, bytesRead } = await bytesAt(file, at, 8)
    if (bytesRead < 8 || at >= end) return false
    const bytes = buffer.readUInt32LE(4)
    at += 8 + bytes + (bytes % 2)
  }
  return true
}

/** A compressed text is unpacked, though nobody reads it: to a thousand times its bytes. */
const MAX_PACKED_BYTES = 1_048_576
/** The longest keyword, the zero after it, and the flag that tells whether an international text is compressed. */
const KEYWORD_BYTES = 81

/** What stands before the pixels. */
async function isEndlessPng(file: FileHandle): Promise<boolean> {
  let at = 8
  let packed = 0
  for (let chunks = 0; chunks <= MAX_PAGES; chunks++) {
    const { buffer, bytesRead } = await bytesAt(file, at, 8 + KEYWORD_BYTES)
    const type = buffer.toString('latin1', 4, 8)
    if (bytesRead < 8 || type === 'IDAT') return false
    const bytes = buffer.readUInt32BE(0)
    const isPacked = type === 'zTXt' || (type === 'iTXt' && buffer[buffer.indexOf(0, 8) + 1] === 1)
    if (isPacked) packed += bytes
    if (packed > MAX_PACKED_BYTES) return true
    at += 12 + bytes
  }
  return true
}

/** Bytes of a value, by the number of its type. */
const VALUE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
/** Pages may name the same values, which are read anew for each: not more than so many times the file. */
const TIMES_READ = 4
/** Each value that libtiff does not know is looked for among all others of its page. */
const MAX_PAIRS = 100_000_000
const BIG = 43

async function isEndlessTiff(file: FileHandle, size: number): Promise<boolean> {
  const head = (await bytesAt(file, 0, 16)).buffer
  const isLittle = head[0] === 0x49
  const number = (bytes: Buffer, at: number, length: number): number => {
    if (length === 8)
      return Number(isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at))
    return isLittle ? bytes.readUIntLE(at, length) : bytes.readUIntBE(at, length)
  }
  const isBig = number(head, 2, 2) === BIG
  const [countBytes, entryBytes, wordBytes] = isBig ? [8, 20, 8] : [2, 12, 4]
  let at = number(head, wordBytes, wordBytes)
  let [read, pairs] = [0, 0]
  for (let pages = 0; at > 0 && at < size; pages++) {
    const counted = await bytesAt(file, at, countBytes)
    if (counted.bytesRead < countBytes) return false
    const entries = number(counted.buffer, 0, countBytes)
    const tableBytes = entries * entryBytes
    if (at + tableBytes > size) return false
    pairs += entries ** 2
    if (pairs > MAX_PAIRS) return true
    const table = await bytesAt(file, at + countBytes, tableBytes + wordBytes)
    if (table.bytesRead < tableBytes + wordBytes) return false
    read += tableBytes
    for (let entry = 0; entry < tableBytes; entry += entryBytes) {
      const each = VALUE_BYTES[number(table.buffer, entry + 2, 2)] ?? 0
      read += Math.min(size, each * number(table.buffer, entry + 4, wordBytes))
    }
    if (pages === MAX_PAGES || read > TIMES_READ * size) return true
    at = number(table.buffer, tableBytes, wordBytes)
  }
  return false
}

const bytesAt = (file: FileHandle, at: number, bytes: number) =>
  file.read(Buffer.alloc(bytes), 0, bytes, at)

/** Reads the header alone, so that the size of a bomb is known too. */
async function measure(path: string): Promise<PictureFacts | undefined> {
  try {
    const { width, height, pages = 1, autoOrient, ...facts } = await sharp(path, header).metadata()
    const { exif, xmp, iptc, tifftagPhotoshop, comments } = facts
    const hasNotes = [exif, xmp, iptc, tifftagPhotoshop, comments?.length].some(Boolean)
    return {
      width: autoOrient.width ?? width,
      height: autoOrient.height ?? height,
      frames: pages,
      hasNotes,
    }
  } catch {
    // It is no readable picture: code that needs one refuses it.
    return undefined
  }
}
