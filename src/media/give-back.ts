/** Frees the memory of used buffers at once, because the garbage collector considers their number, not their size; and gathers small ones. */

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

const SMALL_BYTES = 512
const BLOCK_BYTES = 16_384
const none = new Uint8Array()

/**
 * Bytes that are kept until all have come. A buffer of a single byte takes two hundred, and a sender may send a million of
 * them, so small pieces are copied into blocks.
 */
export class Gathered {
  readonly #pieces: Uint8Array[] = []
  #block: Uint8Array = none
  #used = 0

  add(piece: Uint8Array): void {
    // Mostly there is one.
    if (this.#pieces.length === 0 || piece.length >= SMALL_BYTES) {
      this.#fill()
      this.#pieces.push(piece)
      return
    }
    if (this.#used + piece.length > this.#block.length) {
      this.#fill()
      this.#block = new Uint8Array(BLOCK_BYTES)
    }
    this.#block.set(piece, this.#used)
    this.#used += piece.length
  }

  /** In the order in which they came. */
  get pieces(): readonly Uint8Array[] {
    this.#fill()
    return this.#pieces
  }

  #fill(): void {
    if (this.#used === 0) return
    this.#pieces.push(this.#block.subarray(0, this.#used))
    this.#block = this.#block.subarray(this.#used)
    this.#used = 0
  }
}
