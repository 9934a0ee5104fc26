/** Gives the memory of used-up bytes back at once: the collector sees how many buffers there are, not how large. */

/** Made here and kept by nobody: whoever has read one to its end may give it back. */
const lent = new WeakSet<ArrayBufferLike>()

export function lend(chunk: Uint8Array): void {
  if (isWhole(chunk)) lent.add(chunk.buffer)
}

/** Does nothing to bytes that came from elsewhere. Nobody may look at the chunk, or a part of it, again. */
export function giveBackLent({ buffer }: Uint8Array): void {
  if (lent.has(buffer) && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** A part of something larger is not ours to take away. */
export function giveBack(chunk: Uint8Array): void {
  if (isWhole(chunk) && chunk.buffer instanceof ArrayBuffer) chunk.buffer.transfer(0)
}

const isWhole = ({ buffer, byteLength }: Uint8Array): boolean => buffer.byteLength === byteLength
