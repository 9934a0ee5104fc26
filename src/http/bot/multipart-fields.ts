/** Scans a multipart body while it is forwarded: checks its limits and finds the parameters before its files. */
import { Gathered } from '../../media/give-back.ts'
import { TooLarge } from '../../media/spool.ts'

interface Limits {
  /** Bytes of all parameters together, and of the heads of all parts. */
  readonly parameterBytes: number
  readonly fileBytes: number
  readonly totalBytes: number
}

const HEAD_END = Buffer.from('\r\n\r\n')
const HEAD_BYTES = 16_384

export class MultipartFields {
  readonly fields = new Map<string, string>()
  /** A file has begun: callers do not wait for later parameters, which are read all the same. */
  hasFile = false
  readonly #limits: Limits
  readonly #delimiter: Buffer
  /** The end of the chunk before: a delimiter or the end of a head may begin in it. */
  #rest: Buffer = Buffer.from('\r\n')
  #place: 'before' | 'head' | 'field' | 'file' = 'before'
  #name = ''
  #value = new Gathered()
  #partBytes = 0
  #parameterBytes = 0
  #headBytes = 0
  #totalBytes = 0

  constructor(contentType: string, limits: Limits) {
    const [, quoted, bare = ''] = /boundary=(?:"([^"]+)"|([^;]+))/i.exec(contentType) ?? []
    this.#delimiter = Buffer.from(`\r\n--${quoted ?? bare.trim()}`, 'latin1')
    this.#limits = limits
  }

  get bytes(): number {
    return this.#totalBytes
  }

  /** Reads the next chunk. Throws `TooLarge`. */
  take(chunk: Uint8Array): void {
    this.#totalBytes += chunk.length
    if (this.#totalBytes > this.#limits.totalBytes) throw new TooLarge()
    let left = Buffer.concat([this.#rest, chunk])
    for (;;) {
      const mark = this.#place === 'head' ? HEAD_END : this.#delimiter
      const at = left.indexOf(mark)
      if (at < 0) {
        this.#rest = this.#keep(left, mark.length - 1)
        return
      }
      const part = left.subarray(0, at)
      left = left.subarray(at + mark.length)
      if (this.#place === 'head') this.#begin(part)
      else {
        this.#count(part)
        this.#end()
      }
    }
  }

  /** Counts the bytes that cannot be part of a delimiter, and returns the others. */
  #keep(left: Buffer, length: number): Buffer {
    if (this.#place === 'head') {
      if (left.length > HEAD_BYTES) throw new TooLarge()
      return left
    }
    const from = Math.max(0, left.length - length)
    this.#count(left.subarray(0, from))
    return Buffer.from(left.subarray(from))
  }

  #begin(head: Buffer): void {
    // Names are remembered, and there may be a million without a value.
    this.#headBytes += head.length
    if (this.#headBytes > this.#limits.parameterBytes) throw new TooLarge()
    const [, quoted, bare] = /[;\s]name=(?:"([^"]*)"|([^;\s]+))/i.exec(head.toString()) ?? []
    this.#name = quoted ?? bare ?? ''
    this.#value = new Gathered()
    this.#partBytes = 0
    const isFile = /[;\s]filename\*?=/i.test(head.toString('latin1'))
    this.#place = isFile ? 'file' : 'field'
    this.hasFile ||= isFile
  }

  #count(bytes: Buffer): void {
    const { fileBytes, parameterBytes } = this.#limits
    if (this.#place === 'file') {
      this.#partBytes += bytes.length
      if (this.#partBytes > fileBytes) throw new TooLarge()
    } else if (this.#place === 'field') {
      this.#parameterBytes += bytes.length
      if (this.#parameterBytes > parameterBytes) throw new TooLarge()
      this.#value.add(bytes)
    }
  }

  #end(): void {
    if (this.#place === 'field' && !this.fields.has(this.#name)) {
      this.fields.set(this.#name, Buffer.concat(this.#value.pieces).toString())
    }
    this.#place = 'head'
  }
}
