/** A database whose writes may meet people and chats that were deleted meanwhile: that is a conflict, not a defect. */
import { failed } from '../../../machines/model/failure.ts'
import type { Database, Queryable } from '../../database/database.ts'

const FOREIGN_KEY_VIOLATION = '23503'

function explain(cause: unknown): never {
  if (cause instanceof Error && 'code' in cause && cause.code === FOREIGN_KEY_VIOLATION) {
    throw failed('conflict', 'the sandbox was emptied meanwhile', {}, { cause })
  }
  throw cause
}

const explained = (target: Queryable): Queryable => ({
  query: <Row extends object>(...asked: Parameters<Queryable['query']>) =>
    target.query<Row>(...asked).catch(explain),
})

export const explainEmptied = (db: Database): Database => ({
  ...db,
  ...explained(db),
  transaction: (work) => db.transaction((tx) => work(explained(tx))).catch(explain),
})
