/** How often codes are sent and tried, and the sliding windows in the database that count it on all nodes together. */
import { failed } from '../../machines/model/failure.ts'
import type { Queryable } from '../database/database.ts'
import { secondsAfter, secondsUntil } from './clock.ts'

/** The largest count within a sliding window. */
export interface WindowLimit {
  readonly count: number
  readonly seconds: number
}

export interface OtpLimits {
  /** Seconds a code is valid. */
  readonly lifetime: number
  readonly triesPerCode: number
  /** Seconds to wait after the first, second and every further code within a day. */
  readonly resendDelays: readonly [number, ...number[]]
  readonly sendsPerPhone: WindowLimit
  readonly sendBurstPerPhone: WindowLimit
  /** By network: an IPv4 address or an IPv6 /64. The /48 around it may do four times as much. */
  readonly sendsPerNetwork: WindowLimit
  readonly triesPerNetwork: WindowLimit
  /** Sending costs money: these two bound what an attack can cost. */
  readonly sendsPerCountry: WindowLimit
  readonly sendsInAll: WindowLimit
  /** Wrong codes in a row after which a phone must wait, 15 minutes at first, then ever longer. */
  readonly failuresBeforeLock: number
  /** Wrong codes in a row after which only the operator can help. */
  readonly failuresInAll: number
}

const TEN_MINUTES = 600
const HOUR = 3_600
const DAY = 86_400

export const defaultOtpLimits: OtpLimits = {
  lifetime: 300,
  triesPerCode: 5,
  resendDelays: [60, 120, 300],
  sendsPerPhone: { count: 5, seconds: DAY },
  sendBurstPerPhone: { count: 3, seconds: TEN_MINUTES },
  sendsPerNetwork: { count: 10, seconds: HOUR },
  triesPerNetwork: { count: 30, seconds: HOUR },
  sendsPerCountry: { count: 300, seconds: HOUR },
  sendsInAll: { count: 1_000, seconds: HOUR },
  failuresBeforeLock: 10,
  failuresInAll: 100,
}

/** For the console sender, whose codes cost nothing: people who try the service out sign in often. */
export const consoleOtpLimits: OtpLimits = {
  ...defaultOtpLimits,
  resendDelays: [2],
  sendsPerPhone: { count: 1_000, seconds: DAY },
  sendBurstPerPhone: { count: 100, seconds: TEN_MINUTES },
  sendsPerNetwork: { count: 10_000, seconds: HOUR },
  triesPerNetwork: { count: 10_000, seconds: HOUR },
  sendsPerCountry: { count: 10_000, seconds: HOUR },
  sendsInAll: { count: 10_000, seconds: HOUR },
}

/** The row lock makes concurrent uses wait for each other, so none is counted past the limit. */
const use = `
  insert into quota as q (key, uses, used_at) values ($1, array[$2::timestamptz], $2)
  on conflict (key) do update set used_at = $2, uses = array(
    select use from unnest(q.uses) use where use > $3 order by use
  ) || $2::timestamptz
  where (select count(*) from unnest(q.uses) use where use > $3) < $4
  returning uses`

const oldest = `
  select min(use) as oldest from quota, unnest(uses) use where key = $1 and use > $2`

/** Returns the times of all uses in the window, this one last; refuses when there are too many. */
export async function useQuota(
  db: Queryable,
  key: string,
  rate: WindowLimit,
  now: Date,
): Promise<readonly Date[]> {
  const start = secondsAfter(now, -rate.seconds)
  const [used] = await db.query<{ uses: Date[] }>(use, [key, now, start, rate.count])
  if (used) return used.uses
  const [first] = await db.query<{ oldest: Date | null }>(oldest, [key, start])
  const free = secondsAfter(first?.oldest ?? now, rate.seconds)
  throw tooMany(secondsUntil(free, now))
}

/** Removes only one of several uses at the same time. */
const giveBack = `
  update quota set uses = uses[:place - 1] || uses[place + 1:]
  from (select array_position(uses, $2) as place from quota where key = $1 for update) as used
  where key = $1 and place is not null`

/** Gives back the use at that time. */
export async function giveBackUse(db: Queryable, key: string, usedAt: Date): Promise<void> {
  await db.query(giveBack, [key, usedAt])
}

export const tooMany = (retryAfterSeconds: number) =>
  failed('rate_limited', '', { retryAfterSeconds })
