/** Worker task: the type of a file by its first bytes. */
import { fileTypeFromBuffer } from 'file-type'

export interface SniffTask {
  readonly head: Uint8Array
}

export const HEAD_BYTES = 16_384

/** Undefined when they do not tell, as with plain text. */
export async function sniff({ head }: SniffTask): Promise<string | undefined> {
  // Archives are never opened.
  if (startsWith(head, [0x50, 0x4b, 3, 4])) return 'application/zip'
  if (startsWith(head, [0x1f, 0x8b])) return 'application/gzip'
  const type = (await fileTypeFromBuffer(head))?.mime
  const isPart = head.length === HEAD_BYTES
  return type ?? (isPart && directoryOf(head) !== undefined ? 'image/tiff' : undefined)
}

/** A directory with more entries tells nothing about the type. */
const MAX_ENTRIES = 512
export const DIRECTORY_BYTES = 2 + MAX_ENTRIES * 12

/** Where a TIFF says that its first directory is: most programs write it after the pixels. Raw photos differ in it alone. */
export function directoryOf(head: Uint8Array): number | undefined {
  if (head.length < 8) return undefined
  const bytes = new DataView(head.buffer, head.byteOffset, head.byteLength)
  if (startsWith(head, [0x49, 0x49, 42, 0])) return bytes.getUint32(4, true)
  return startsWith(head, [0x4d, 0x4d, 0, 42]) ? bytes.getUint32(4) : undefined
}

const DIRECTORY_AT = 16

/** The head of the same file with its directory in it. */
export function withDirectory(head: Buffer, directory: Buffer): Buffer {
  const moved = Buffer.concat([head.subarray(0, DIRECTORY_AT), directory])
  if (moved[0] === 0x49) moved.writeUInt32LE(DIRECTORY_AT, 4)
  else moved.writeUInt32BE(DIRECTORY_AT, 4)
  return moved
}

const startsWith = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte)
