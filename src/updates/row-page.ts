/** Rows that a reader wants, as they are: filtered and cut at the limit. */
import { wants } from '../../machines/model/update-kinds.ts'
import type { Reader } from './read.ts'
import type { Row } from './row.ts'

export class RowPage {
  readonly #reader: Reader
  readonly rows: Row[] = []
  head: number

  constructor(reader: Reader) {
    this.#reader = reader
    this.head = reader.after
  }

  /** Takes rows in order; false once there are enough. */
  take(rows: readonly Row[]): boolean {
    const { apiKeyId, filter, limit } = this.#reader
    for (const row of rows) {
      if (this.rows.length >= limit) return false
      const isWanted = row.apiKeyId !== apiKeyId && wants(filter, row.updateId, row.kind)
      if (isWanted) this.rows.push(row)
      this.head = row.updateId
    }
    return this.rows.length < limit
  }

  /** Nothing more is wanted up to this id. */
  reach(updateId: number): void {
    this.head = Math.max(this.head, updateId)
  }
}
