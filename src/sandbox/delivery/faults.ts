/** The faults of one person's connection. They stand in the person's row, so that they outlive a reconnection. */
import { failed } from '../../../machines/model/failure.ts'
import type { Happening } from '../../../machines/model/happening.ts'
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
  /** The number of sends still to be carried out without an answer. */
  readonly lostAnswers?: number
  /** How often they were changed: of two changes at once, sessions may hear in the other order. */
  readonly changes?: number
}

/** Null takes a fault off. */
export type FaultChange = {
  readonly [Name in Exclude<keyof Faults, 'changes'>]?: Faults[Name] | null
}

export async function changeFaults(
  db: Queryable,
  person: number,
  changed: FaultChange,
): Promise<Faults> {
  const [row] = await db.query<{ faults: Faults }>(
    `update sandbox_person
     set faults = jsonb_strip_nulls(faults || $2)
       || jsonb_build_object('changes', coalesce((faults ->> 'changes')::bigint, 0) + 1)
     where id = $1 returning faults`,
    [person, JSON.stringify(changed)],
  )
  if (!row) throw failed('not_found', '')
  return row.faults
}

/** Counts one lost answer. False when none is left to lose. */
export async function loseAnswer(db: Queryable, person: number): Promise<boolean> {
  const rows = await db.query(
    `update sandbox_person
     set faults = jsonb_set(faults, '{lostAnswers}', to_jsonb((faults ->> 'lostAnswers')::int - 1))
     where id = $1 and (faults ->> 'lostAnswers')::int > 0 returning id`,
    [person],
  )
  return rows.length > 0
}

/** Doubles events or turns the order of the chats around. Inside one chat the order stays. */
export function disturbed(happenings: readonly Happening[], faults: Faults): readonly Happening[] {
  const ordered = faults.isReordering ? lastChatFirst(happenings) : happenings
  return faults.isDuplicating ? ordered.flatMap((happening) => [happening, happening]) : ordered
}

function lastChatFirst(happenings: readonly Happening[]): Happening[] {
  const chats = Map.groupBy(happenings, chatOf)
  return [...chats.values()].reverse().flat()
}

function chatOf(happening: Happening): string | undefined {
  if (happening.kind === 'deleted') return happening.chat
  if ('message' in happening) return happening.message.chat.native
  return 'chat' in happening ? happening.chat.native : undefined
}
