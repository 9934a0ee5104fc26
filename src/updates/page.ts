/** One page of getUpdates: filtered, cut at the limit and at the size, assembled from stored text. */
import type { ReadUpdates } from '../../actors/ports/ports.ts'
import { type Filter, wants } from '../../machines/model/update-kinds.ts'
import { type Row, updateJson } from './row.ts'

/** The reference's budget for one answer, and what each update counts beyond its text. */
const ANSWER_BYTES = 4_194_304
const OVERHEAD = 50

export class Page {
  readonly #filter: Filter
  readonly #apiKeyId: number
  readonly #limit: number
  readonly #parts: string[] = []
  #bytes = 0
  #cursor: number
  #head: number

  constructor(reader: { filter: Filter; apiKeyId: number; limit: number; after: number }) {
    this.#filter = reader.filter
    this.#apiKeyId = reader.apiKeyId
    this.#limit = reader.limit
    this.#cursor = reader.after
    this.#head = reader.after
  }

  /** Takes rows in order; false once the page is full. */
  take(rows: readonly Row[]): boolean {
    for (const row of rows) {
      if (this.#parts.length >= this.#limit) return false
      if (!this.#wants(row)) {
        // What nobody will ever be given need not be read again.
        if (this.#parts.length === 0) this.#cursor = row.updateId
      } else {
        const json = updateJson(row)
        this.#bytes += Buffer.byteLength(json) + OVERHEAD
        if (this.#parts.length > 0 && this.#bytes > ANSWER_BYTES) return false
        this.#parts.push(json)
      }
      this.#head = row.updateId
    }
    return this.#parts.length < this.#limit
  }

  /** Nothing more is wanted up to this id: it was looked at all the same. */
  reach(updateId: number): void {
    this.#head = Math.max(this.#head, updateId)
    if (this.#parts.length === 0) this.#cursor = Math.max(this.#cursor, updateId)
  }

  get result(): ReadUpdates {
    return {
      json: `[${this.#parts.join(',')}]`,
      count: this.#parts.length,
      cursor: this.#cursor,
      head: this.#head,
    }
  }

  #wants({ updateId, kind, apiKeyId }: Row): boolean {
    return apiKeyId !== this.#apiKeyId && wants(this.#filter, updateId, kind)
  }
}
