/** Column types and values that entities share. */
import { p, raw } from '@mikro-orm/core'

/** The driver reads and writes `bytea` as buffers. */
export const bytes = () => p.blob().$type<Buffer>()

/** The start of the current transaction by the database's clock, or an interval of PostgreSQL before it. */
export const databaseNow = (ago?: string): Date =>
  raw<Date>(ago === undefined ? 'now()' : `now() - interval '${ago}'`)
