/** Mistakes that bots find in the passports of people, until they are corrected. */
import { failed, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { PassportError } from '../../../machines/model/operation-bots.ts'
import { parseChatId } from '../delivery/mapping.ts'
import { storable } from '../messages/content.ts'
import type { Call, NetworkContext } from '../network/context.ts'

/** They replace those that the account found before. */
export async function setPassportErrors(
  { context: { db, network }, by }: Call,
  { person, errors }: OperationOf<'passport_errors'>,
): Promise<OperationResult> {
  const set = await db.query(
    `insert into sandbox_passport_error (person_id, bot_id, errors)
     select p.id, $2, $3 from sandbox_person p where p.id = $1 and p.user_id = $4
     on conflict (person_id, bot_id) do update set errors = excluded.errors, at = now()
     returning person_id`,
    [parseChatId(person), by.person, JSON.stringify(storable(errors)), network],
  )
  if (set.length === 0) throw notFound('user')
  return { kind: 'done' }
}

interface Found {
  readonly bot: number
  readonly errors: readonly PassportError[]
}

export const passportErrorsOf = ({ db }: NetworkContext, person: number): Promise<Found[]> =>
  db.query<Found>(
    `select bot_id as bot, errors from sandbox_passport_error
     where person_id = $1 and errors <> '[]' order by bot_id`,
    [person],
  )

/** The person has corrected what this bot found. */
export async function correctPassport(
  { db }: NetworkContext,
  person: number,
  bot: number,
): Promise<void> {
  const corrected = await db.query(
    'delete from sandbox_passport_error where person_id = $1 and bot_id = $2 returning bot_id',
    [person, bot],
  )
  if (corrected.length === 0) throw failed('not_found', '')
}
