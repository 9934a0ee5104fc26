/** The cursor of a list that is ordered by time and then id, newest first. */
import { invalidField } from '../failure.ts'

export interface Position {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly id: number
}

const form = /^(\d{1,15})-(\d{1,15})$/

export const cursorOf = ({ at, id }: Position): string => `${at}-${id}`

export function positionOf(cursor: string): Position {
  const [, at, id] = form.exec(cursor) ?? []
  if (!at || !id) throw invalidField('before', 'is not a cursor of this list')
  return { at: Number(at), id: Number(id) }
}
