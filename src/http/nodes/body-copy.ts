/** The body of a request, kept until its answer, so that another node can answer it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { finished } from 'node:stream/promises'
import { onClosed } from '../gone-signal.ts'
import { discardRest } from '../malformed-requests.ts'

/** A body up to this size is kept until the answer, so that the request can be repeated. */
export const KEPT_BYTES = 65_536
/** So is a longer one, as long as it does not exceed this, and all of them together do not exceed the second. */
const LONGEST_KEPT_BYTES = 8 * 2 ** 20
const ALL_KEPT_BYTES = 64 * 2 ** 20
/** About what a piece takes besides its bytes: a client may send each byte by itself. */
const PIECE_BYTES = 256
/** Of the longer ones. */
let keptBytes = 0

/** Whether all of the body is kept in any case. */
export const isShort = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= KEPT_BYTES

export const joined = (chunks: readonly Buffer[]): Buffer => {
  const [first] = chunks
  return first && chunks.length === 1 ? first : Buffer.concat(chunks)
}

const COPY = Symbol('body copy')

/** It stands in the request, as what `peers.ts` notes. */
interface Noted extends IncomingMessage {
  [COPY]?: BodyCopy
}

export class BodyCopy {
  readonly #request: IncomingMessage
  readonly #isShort: boolean
  #chunks: Buffer[] = []
  readonly #ended = Promise.withResolvers<void>()
  #length = 0
  #hasEnded = false
  /** Whether all that has come of it is here. */
  isKept: boolean
  /** What it has of `keptBytes`. */
  #counted = 0

  /** The only one of a request. To be asked for as soon as the request is there: what has come before is not in it. */
  static of(request: IncomingMessage, response: ServerResponse): BodyCopy {
    const noted = request as Noted
    noted[COPY] ??= new BodyCopy(request, response)
    return noted[COPY]
  }

  private constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#isShort = isShort(request)
    this.isKept = Number(request.headers['content-length'] ?? 0) <= LONGEST_KEPT_BYTES
    if (!this.isKept) return
    if (!this.#isShort) onClosed(response, () => this.#drop())
    const push = request.push
    // A listener for data would make the body flow before its reader is there.
    request.push = (chunk: Buffer | null, encoding) => {
      if (chunk) this.#keep(chunk)
      else this.#end()
      return push.call(request, chunk, encoding)
    }
  }

  #end(): void {
    this.#hasEnded = true
    this.#ended.resolve()
  }

  #keep(chunk: Buffer): void {
    if (!this.isKept) return
    this.#length += chunk.length
    // A copy of its own, because its reader frees the pieces of a file that it has sealed (`lend`).
    this.#chunks.push(Buffer.from(chunk))
    if (this.#isShort) return
    const bytes = chunk.length + PIECE_BYTES
    keptBytes += bytes
    this.#counted += bytes
    const isTooMuch = this.#length > LONGEST_KEPT_BYTES || this.#counted > 2 * LONGEST_KEPT_BYTES
    if (isTooMuch || keptBytes > ALL_KEPT_BYTES) this.#drop()
  }

  #drop(): void {
    this.isKept = false
    this.#chunks = []
    keptBytes -= this.#counted
    this.#counted = 0
    this.#ended.resolve()
  }

  #joined(): Buffer {
    const body = joined(this.#chunks)
    this.#chunks = [body]
    return body
  }

  /**
   * Resolves once the body has come, which nobody has to read for it: Node.js takes in a short one by itself. With undefined
   * if the client leaves before.
   */
  async arrived(): Promise<Buffer | undefined> {
    const request = this.#request
    if (!this.#isWhole && !request.destroyed) {
      const leave = () => this.#ended.resolve()
      request.once('close', leave)
      await this.#ended.promise
      request.off('close', leave)
    }
    return this.#isWhole ? this.#joined() : undefined
  }

  /**
   * To be called once nobody reads the request any more. Resolves once its body has come; with undefined if the client leaves
   * before, or if it turns out too long. The server ends requests that take too long.
   */
  async whole(): Promise<Buffer | undefined> {
    const request = this.#request
    if (!this.#isWhole && !request.destroyed) {
      discardRest(request)
      const left = finished(request, { writable: false }).catch(() => undefined)
      await Promise.race([left, this.#ended.promise])
    }
    return this.#isWhole ? this.#joined() : undefined
  }

  get #isWhole(): boolean {
    const { 'content-length': length = 0, 'transfer-encoding': coding } = this.#request.headers
    const hasCome = coding === undefined ? this.#length === Number(length) : this.#hasEnded
    return this.isKept && hasCome
  }
}
