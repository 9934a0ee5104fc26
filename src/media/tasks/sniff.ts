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
  return (await fileTypeFromBuffer(head))?.mime
}

const startsWith = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte)
