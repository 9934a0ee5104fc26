/** Worker task: what bytes say they are by how they begin. */
import { fileTypeFromBuffer } from 'file-type'

export interface SniffTask {
  readonly head: Uint8Array
}

export const HEAD_BYTES = 16_384

/** Undefined when they do not tell, as with plain text. */
export async function sniff({ head }: SniffTask): Promise<string | undefined> {
  // Packed files are never opened, not even to see what is in them.
  if (startsWith(head, [0x50, 0x4b, 3, 4])) return 'application/zip'
  if (startsWith(head, [0x1f, 0x8b])) return 'application/gzip'
  return (await fileTypeFromBuffer(head))?.mime
}

const startsWith = (head: Uint8Array, bytes: readonly number[]): boolean =>
  bytes.every((byte, index) => head[index] === byte)
