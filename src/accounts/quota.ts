/** Sliding windows in the database: so many uses of a key within so many seconds, on all nodes together. */
import { failed } from '../../machines/model/failure.ts'
import type { Queryable } from '../database/database.ts'
import { secondsAfter, secondsUntil } from './clock.ts'
import type { Rate } from './limits.ts'

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
  rate: Rate,
  now: Date,
): Promise<readonly Date[]> {
  const start = secondsAfter(now, -rate.seconds)
  const [used] = await db.query<{ uses: Date[] }>(use, [key, now, start, rate.count])
  if (used) return used.uses
  const [first] = await db.query<{ oldest: Date | null }>(oldest, [key, start])
  const free = secondsAfter(first?.oldest ?? now, rate.seconds)
  throw tooMany(secondsUntil(free, now))
}

/** Of uses at the same moment, only one. */
const giveBack = `
  update quota set uses = uses[:place - 1] || uses[place + 1:]
  from (select array_position(uses, $2) as place from quota where key = $1 for update) as used
  where key = $1 and place is not null`

/** As if what was used at that time had not been. */
export async function giveBackUse(db: Queryable, key: string, usedAt: Date): Promise<void> {
  await db.query(giveBack, [key, usedAt])
}

export const tooMany = (retryAfterSeconds: number) =>
  failed('rate_limited', '', { retryAfterSeconds })
