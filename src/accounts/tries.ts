/** Trying a code: counted before it is compared, so that no race gives more tries than allowed. */
import { failed } from '../../actors/errors.ts'
import type { Queryable } from '../database/database.ts'
import { secondsAfter, secondsUntil } from './clock.ts'
import type { OtpLimits } from './limits.ts'
import { tooMany } from './quota.ts'

export interface Target {
  /** Keyed hash of the phone number. */
  readonly phone: Buffer
  readonly purpose: string
}

export interface Try {
  readonly id: string
  readonly mac: Buffer
}

const LOCK = '15 minutes'
const LONGEST_LOCK = '24 hours'

/** One statement: the row locks of both tables decide who of many at once gets a try. */
const take = `
  with tried as (
    update otp_challenge set tries = tries + 1
    where phone_index = $1 and purpose = $2 and tries < $4 and expires_at > $3 and not exists (
      select from otp_failures
      where phone_index = $1 and (locked_until > $3 or failures >= $6)
    )
    returning id, code_mac
  ), counted as (
    insert into otp_failures as f (phone_index, failures, failed_at) select $1, 1, $3 from tried
    on conflict (phone_index) do update set
      failures = f.failures + 1,
      failed_at = $3,
      locked_until = case when f.failures + 1 >= $5 then $3::timestamptz + least(
        interval '${LOCK}' * power(2, least(f.failures + 1 - $5, 10)), interval '${LONGEST_LOCK}'
      ) end
  )
  select id, code_mac as mac from tried`

const why = `
  select tries, expires_at, created_at, failures, locked_until
  from (select $1::bytea as phone_index) as asked
  left join otp_challenge on otp_challenge.phone_index = asked.phone_index and purpose = $2
  left join otp_failures on otp_failures.phone_index = asked.phone_index`

interface State {
  readonly tries: number | null
  readonly expires_at: Date | null
  readonly created_at: Date | null
  readonly failures: number | null
  readonly locked_until: Date | null
}

/** Resolves with what to compare with, or refuses. Until `forgive` the try counts as a failure. */
export async function takeTry(
  db: Queryable,
  { phone, purpose }: Target,
  limits: OtpLimits,
  now: Date,
): Promise<Try> {
  const { triesPerCode, failuresBeforeLock, failuresInAll } = limits
  const values = [phone, purpose, now, triesPerCode, failuresBeforeLock, failuresInAll]
  const [tried] = await db.query<Try>(take, values)
  if (tried) return tried
  const [state] = await db.query<State>(why, [phone, purpose])
  throw refusal(state, limits, now)
}

/** The right code was given: what was counted before is forgotten. */
export async function forgive(db: Queryable, { phone }: Target): Promise<void> {
  await db.query('delete from otp_failures where phone_index = $1', [phone])
}

export const wrongCode = () => failed('unauthorized', 'the code is wrong')

function refusal(state: State | undefined, limits: OtpLimits, now: Date) {
  if ((state?.failures ?? 0) >= limits.failuresInAll) {
    return failed('forbidden', 'sign-in with this phone number is locked; contact the operator')
  }
  if (state?.locked_until && state.locked_until > now) {
    return tooMany(secondsUntil(state.locked_until, now))
  }
  if (!state?.expires_at || !state.created_at) return wrongCode()
  if (state.expires_at <= now) return failed('unauthorized', 'the code has expired')
  if ((state.tries ?? 0) < limits.triesPerCode) return wrongCode()
  const next = secondsAfter(state.created_at, limits.resendDelays[0])
  return failed('rate_limited', 'the code was tried too often; request a new one', {
    retryAfterSeconds: secondsUntil(next, now),
  })
}
