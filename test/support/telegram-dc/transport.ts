/** The ways in which clients frame what they send; the data centre answers each in its own. */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { crc32 } from 'node:zlib'

type Form = 'abridged' | 'intermediate' | 'padded' | 'full'

const ABRIDGED = 0xef
const tags: ReadonlyMap<number, Form> = new Map([
  [0xefefefef, 'abridged'],
  [0xeeeeeeee, 'intermediate'],
  [0xdddddddd, 'padded'],
])
/** What hides the form: random bytes, which also make the keys of both directions. */
const HIDDEN_HEAD = 64
/** In words of four bytes, from here on three bytes tell the length. */
const LONG_WORDS = 0x7f
/** Length, number and checksum around a packet of the full form. */
const FULL_FRAME = 12

export class Transport {
  #form: Form | undefined
  #buffer: Buffer = Buffer.alloc(0)
  #sent = 0
  #unveil = (data: Buffer) => data
  #veil = (data: Buffer) => data

  /** How the client speaks; undefined until it has said so. */
  get form(): string | undefined {
    return this.#form
  }

  take(data: Buffer) {
    this.#buffer = Buffer.concat([this.#buffer, this.#unveil(data)])
  }

  /** The next whole packet. */
  next(): Buffer | undefined {
    if (!this.#form && !this.#recognize()) return undefined
    const size = this.#size()
    if (size === undefined || this.#buffer.length < size.head + size.body) return undefined
    const packet = Buffer.from(this.#buffer.subarray(size.head, size.head + size.body))
    const whole = this.#buffer.subarray(0, size.head + size.body)
    this.#buffer = this.#buffer.subarray(size.head + size.body)
    if (this.#form !== 'full') return packet
    const sum = crc32(whole.subarray(0, -4))
    if (sum !== whole.readUInt32LE(whole.length - 4)) throw new Error('the checksum is wrong')
    return packet.subarray(0, -4)
  }

  /** A packet as it goes over the line. */
  frame(packet: Uint8Array): Buffer {
    const body = Buffer.from(packet)
    switch (this.#form) {
      case 'abridged':
        return this.#veil(Buffer.concat([wordsOf(body.length / 4), body]))
      case 'full': {
        const head = Buffer.concat([uint(body.length + FULL_FRAME), uint(this.#sent++)])
        const frame = Buffer.concat([head, body])
        return Buffer.concat([frame, uint(crc32(frame))])
      }
      default:
        return this.#veil(Buffer.concat([uint(body.length), body]))
    }
  }

  /** The first bytes of a packet of this length, in the intermediate form. */
  beginning(length: number): Buffer {
    return this.#veil(Buffer.concat([uint(length), uint(0)]))
  }

  #recognize(): boolean {
    const buffer = this.#buffer
    if (buffer[0] === ABRIDGED) {
      this.#form = 'abridged'
      this.#buffer = buffer.subarray(1)
      return true
    }
    if (buffer.length < 8) {
      if (buffer.length < 4 || !this.#tagged(buffer.readUInt32LE(0))) return false
      this.#buffer = buffer.subarray(4)
      return true
    }
    if (this.#tagged(buffer.readUInt32LE(0))) {
      this.#buffer = buffer.subarray(4)
      return true
    }
    // The first packet of the full form has the number zero.
    if (buffer.readUInt32LE(4) === 0) {
      this.#form = 'full'
      return true
    }
    return buffer.length >= HIDDEN_HEAD && this.#uncover()
  }

  #tagged(tag: number): boolean {
    this.#form = tags.get(tag)
    return this.#form !== undefined
  }

  #uncover(): boolean {
    const head = this.#buffer.subarray(0, HIDDEN_HEAD)
    const back = Buffer.from(head.subarray(8, 56)).reverse()
    const theirs = createDecipheriv('aes-256-ctr', head.subarray(8, 40), head.subarray(40, 56))
    const ours = createCipheriv('aes-256-ctr', back.subarray(0, 32), back.subarray(32, 48))
    const open = theirs.update(this.#buffer)
    if (!this.#tagged(open.readUInt32LE(56))) throw new Error('nobody speaks like this')
    this.#unveil = (data) => theirs.update(data)
    this.#veil = (data) => ours.update(data)
    this.#buffer = open.subarray(HIDDEN_HEAD)
    return true
  }

  #size(): { readonly head: number; readonly body: number } | undefined {
    const buffer = this.#buffer
    if (this.#form === 'abridged') {
      // The highest bit asks for a quick acknowledgement, which is a courtesy.
      const short = (buffer[0] ?? 0) & LONG_WORDS
      if (buffer.length < 1) return undefined
      if (short < LONG_WORDS) return { head: 1, body: short * 4 }
      return buffer.length < 4 ? undefined : { head: 4, body: buffer.readUIntLE(1, 3) * 4 }
    }
    if (buffer.length < 4) return undefined
    const length = buffer.readUInt32LE(0) & 0x7fffffff
    return this.#form === 'full' ? { head: 8, body: length - 8 } : { head: 4, body: length }
  }
}

function uint(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function wordsOf(words: number): Buffer {
  if (words < LONG_WORDS) return Buffer.of(words)
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE((words << 8) | LONG_WORDS)
  return bytes
}
