/** Limits of one-time codes: how many are sent, how often they may be tried, and how an operator lifts them. */
import type { Logger } from '../../actors/ports/ports.ts'
import { failed, RequestFailed } from '../../machines/model/failure.ts'
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'
import { networksOf, type Requester } from './client.ts'
import { secondsAfter, secondsUntil } from './clock.ts'
import { giveBackUse, type OtpLimits, tooMany, useQuota, type WindowLimit } from './limits.ts'
import { parsePhone, phoneIndex } from './phone.ts'

interface Sending {
  /** The keyed hash of the phone. */
  readonly phoneKey: string
  readonly country: string
  readonly requester: Requester
}

const timesFour = ({ count, seconds }: WindowLimit): WindowLimit => ({ count: 4 * count, seconds })

/**
 * Counts one more code and returns after how many seconds the next one may follow. Run it in a transaction, so that a
 * refused code is not counted.
 */
export async function admitSending(
  tx: Queryable,
  { phoneKey, country, requester }: Sending,
  limits: OtpLimits,
  now: Date,
  logger: Logger,
): Promise<number> {
  // A network used by the phone's owner has limits of its own; all other networks share theirs.
  const { ip, network, isKnown } = requester
  const to = isKnown ? `${phoneKey}:${network}` : phoneKey
  const day = await useQuota(tx, `send:day:${to}`, limits.sendsPerPhone, now)
  const last = day.at(-2)
  const next = last && secondsAfter(last, delayAfter(day.length - 1, limits))
  if (next && next > now) throw tooMany(secondsUntil(next, now))
  await useQuota(tx, `send:burst:${to}`, limits.sendBurstPerPhone, now)

  const { narrow, wide } = networksOf(ip)
  await useQuota(tx, `send:ip:${narrow}`, limits.sendsPerNetwork, now)
  if (wide) await useQuota(tx, `send:ip:${wide}`, timesFour(limits.sendsPerNetwork), now)

  await alarmed(
    logger,
    country,
    useQuota(tx, `send:country:${country}`, limits.sendsPerCountry, now),
  )
  await alarmed(logger, 'all', useQuota(tx, 'send:all', limits.sendsInAll, now))
  return delayAfter(day.length, limits)
}

/** Counts a try of this network. Resolves with a function that gives it back after the right code. */
export async function admitTry(db: Queryable, ip: string, limits: OtpLimits, now: Date) {
  const { narrow, wide } = networksOf(ip)
  const keys = [`try:ip:${narrow}`, ...(wide ? [`try:ip:${wide}`] : [])]
  const rates = [limits.triesPerNetwork, timesFour(limits.triesPerNetwork)]
  for (const [place, key] of keys.entries()) await useQuota(db, key, rates[place]!, now)
  return async (tx: Queryable) => {
    for (const key of keys) await giveBackUse(tx, key, now)
  }
}

function delayAfter(sends: number, { resendDelays }: OtpLimits): number {
  return resendDelays[sends - 1] ?? resendDelays.at(-1) ?? resendDelays[0]
}

/** The limits on costs are reached only by an attack, or if the service has outgrown them. */
async function alarmed(logger: Logger, scope: string, use: Promise<unknown>): Promise<void> {
  try {
    await use
  } catch (error) {
    if (error instanceof RequestFailed) {
      logger.error({ alarm: 'otp_cap', scope }, 'no more one-time codes are sent for now')
    }
    throw error
  }
}

interface Target {
  /** Keyed hash of the phone number. */
  readonly phone: Buffer
  readonly purpose: string
  readonly requester: Requester
  /** The challenge id in the answer to the request for the code. Nobody else knows it. */
  readonly challengeId: string | undefined
}

/**
 * How the one who tries a code is bound to the one who asked for it: by the id of the challenge (`own`), by coming
 * from the same network (`near`), or not at all (`far`). Each has tries of its own, so that wrong codes of strangers
 * leave the owner's alone.
 */
type Bond = 'own' | 'near' | 'far'

interface Challenge {
  readonly id: string
  readonly mac: Buffer
  readonly bond: Bond
  readonly tries: number
  readonly created_at: Date
  readonly expires_at: Date
}

const LOCK = '15 minutes'
const LONGEST_LOCK = '24 hours'

const triesOf = (bond: string) =>
  `case ${bond} when 'own' then own_tries when 'near' then tries else far_tries end`

/** Without an id: the newest challenge that this network requested, otherwise the newest of all. */
const find = `
  select *, ${triesOf('bond')} as tries from (
    select id, code_mac as mac, created_at, expires_at, number, tries, own_tries, far_tries,
      case when id = $5 then 'own' when requester = $4 and expires_at > $3 then 'near'
        else 'far' end as bond
    from otp_challenge where phone_index = $1 and purpose = $2 and ($5::text is null or id = $5)
  ) as challenge order by bond = 'near' desc, number desc limit 1`

/** One statement: the row locks of both tables decide who of many at once gets a try. */
const take = `
  with tried as (
    update otp_challenge set
      own_tries = own_tries + ($7 = 'own')::int,
      tries = tries + ($7 = 'near')::int,
      far_tries = far_tries + ($7 = 'far')::int
    where id = $8 and ${triesOf('$7')} < $4 and expires_at > $3 and not exists (
      select from otp_failures where phone_index = $1 and requester = $2
        and (locked_until > $3 and $7 <> 'own' or failures >= $6)
    ) and ($9 or $6 > (
      select coalesce(sum(failures), 0) from otp_failures where phone_index = $1
    ))
    returning id
  ), counted as (
    insert into otp_failures as f (phone_index, requester, failures, failed_at)
    select $1, $2, 1, $3 from tried
    on conflict (phone_index, requester) do update set
      failures = f.failures + 1,
      failed_at = $3,
      locked_until = case when f.failures + 1 >= $5 then $3::timestamptz + least(
        interval '${LOCK}' * power(2, least(f.failures + 1 - $5, 10)), interval '${LONGEST_LOCK}'
      ) end
  )
  select id from tried`

/** Wrong codes in a row, from this network and in total. */
const why = `
  select coalesce(sum(failures), 0)::int as in_all,
    coalesce(sum(failures) filter (where requester = $2), 0)::int as failures,
    max(locked_until) filter (where requester = $2) as locked_until
  from otp_failures where phone_index = $1`

interface State {
  readonly in_all: number
  readonly failures: number
  readonly locked_until: Date | null
}

/** The challenge that a code is compared with, if there is one. */
export async function findChallenge(
  db: Queryable,
  { phone, purpose, requester, challengeId }: Target,
  now: Date,
): Promise<Challenge | undefined> {
  const values = [phone, purpose, now, requester.network, challengeId ?? null]
  const [challenge] = await db.query<Challenge>(find, values)
  return challenge
}

/** Refuses, or counts the try: until `forgive` it is a failure. */
export async function takeTry(
  db: Queryable,
  { phone, requester }: Target,
  challenge: Challenge | undefined,
  limits: OtpLimits,
  now: Date,
): Promise<Challenge> {
  const { triesPerCode, failuresBeforeLock, failuresInAll } = limits
  const { network, isKnown } = requester
  if (challenge) {
    const { bond, id } = challenge
    const figures = [triesPerCode, failuresBeforeLock, failuresInAll]
    const tried = await db.query(take, [phone, network, now, ...figures, bond, id, isKnown])
    if (tried.length > 0) return challenge
  }
  const [state] = await db.query<State>(why, [phone, network])
  throw refusal(state, challenge, isKnown, limits, now)
}

/** Clears the counters after the right code. */
export async function forgive(db: Queryable, phone: Buffer): Promise<void> {
  await db.query('delete from otp_failures where phone_index = $1', [phone])
}

export const wrongCode = () => failed('unauthorized', 'the code is wrong')

function refusal(
  state: State | undefined,
  challenge: Challenge | undefined,
  isKnown: boolean,
  limits: OtpLimits,
  now: Date,
) {
  const { in_all = 0, failures = 0, locked_until } = state ?? {}
  if ((isKnown ? failures : in_all) >= limits.failuresInAll) {
    return failed('forbidden', 'sign-in with this phone number is locked; contact the operator', {
      reason: 'sign_in_locked',
    })
  }
  if (locked_until && locked_until > now && challenge?.bond !== 'own') {
    return tooMany(secondsUntil(locked_until, now))
  }
  if (!challenge) return wrongCode()
  if (challenge.expires_at <= now) return failed('unauthorized', 'the code has expired')
  // Concurrent tries have used up the limit.
  const next = secondsAfter(challenge.created_at, limits.resendDelays[0])
  return failed('rate_limited', 'the code was tried too often; request a new one', {
    reason: 'code_exhausted',
    retryAfterSeconds: secondsUntil(next, now),
  })
}

interface Unlocked {
  /** The phone in its normal form. */
  readonly phone: string
  /** The number of wrong codes that were counted. */
  readonly failures: number
}

export async function unlock(
  db: Database,
  vault: Pick<Vault, 'derive'>,
  text: string,
): Promise<Unlocked> {
  const { number: phone } = parsePhone(text)
  const index = phoneIndex(vault)(phone)
  const key = index.toString('hex')
  const failures = await db.transaction(async (tx) => {
    await tx.query('delete from quota where key like any ($1)', [
      [`send:day:${key}%`, `send:burst:${key}%`],
    ])
    const rows = await tx.query<{ failures: number }>(
      'delete from otp_failures where phone_index = $1 returning failures',
      [index],
    )
    const [user] = await tx.query<{ id: number }>(
      'select id from app_user where phone_index = $1',
      [index],
    )
    if (user) await noteChange(tx, { target: ['user', user.id] })
    else await noteChange(tx)
    return rows
  })
  return { phone, failures: failures.reduce((sum, row) => sum + row.failures, 0) }
}
