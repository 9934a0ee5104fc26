/** Frees the memory of used buffers at once, because the garbage collector considers their number, not their size. */

/** Buffers made here and kept by no other code: a reader may free them after use. */
const lent = new WeakSet<ArrayBufferLike>()

export function lend(chunk: Uint8Array): void {
  if (isWhole(chunk)) lent.add(chunk.buffer)
}

/** Frees a lent chunk, and ignores any other. Neither the chunk nor a part of it may be read afterwards. */
export function giveBackLent({ buffer }: Uint8Array): void {
  if (lent.has(buffer) && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Only whole buffers are freed, because other code may use the rest of a larger one. */
export function giveBack(chunk: Uint8Array): void {
  if (isWhole(chunk) && chunk.buffer instanceof ArrayBuffer) chunk.buffer.transfer(0)
}

const isWhole = ({ buffer, byteLength }: Uint8Array): boolean => buffer.byteLength === byteLength
