/** What can be made to go wrong for one person: kept in their row, so that it outlives a reconnection. */
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'

/** Times are Unix milliseconds. */
export interface Faults {
  /** No connection comes about before this time. */
  readonly downUntil?: number
  /** Connected, but nothing flows: no events, no answers. */
  readonly isSilent?: boolean
  readonly floodUntil?: number
  readonly delayMilliseconds?: number
  readonly isDuplicating?: boolean
  readonly isReordering?: boolean
  /** How many sends are still to be carried out without an answer. */
  readonly lostAnswers?: number
}

export async function changeFaults(
  db: Queryable,
  person: number,
  changed: { readonly [Name in keyof Faults]: Faults[Name] | null },
): Promise<Faults> {
  const [row] = await db.query<{ faults: Faults }>(
    `update sandbox_person set faults = jsonb_strip_nulls(faults || $2) where id = $1
     returning faults`,
    [person, JSON.stringify(changed)],
  )
  if (!row) throw failed('not_found', '')
  return row.faults
}

/** Takes one of the answers to be lost; false when none is left. */
export async function loseAnswer(db: Queryable, person: number): Promise<boolean> {
  const rows = await db.query(
    `update sandbox_person
     set faults = jsonb_set(faults, '{lostAnswers}', to_jsonb((faults ->> 'lostAnswers')::int - 1))
     where id = $1 and (faults ->> 'lostAnswers')::int > 0 returning id`,
    [person],
  )
  return rows.length > 0
}
