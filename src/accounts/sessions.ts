/** Sign-ins: one row each, kept alive by refreshing, ended by logging out. */
import type { Database, Queryable } from '../database/database.ts'
import type { Client } from './client.ts'
import { type Clock, secondsAfter } from './clock.ts'
import { holdUser } from './hold.ts'
import { Recent } from './recent.ts'

const DAY = 86_400
export const IDLE_SECONDS = 7 * DAY
const ABSOLUTE_SECONDS = 30 * DAY
const MAX_PER_USER = 20
const LONGEST_USER_AGENT = 256

const open = `
  insert into user_session (user_id, ip, user_agent, created_at, last_used_at, expires_at)
  values ($1, $2, $3, $4, $4, $5) returning id`
const endOldest = `
  update user_session set ended_at = $2
  where user_id = $1 and ended_at is null and id not in (
    select id from user_session where user_id = $1 and ended_at is null
    order by last_used_at desc, id desc limit ${MAX_PER_USER}
  ) returning id`
const live = `ended_at is null and expires_at > $2 and last_used_at > $3`
const owner = `select user_id from user_session where id = $1 and ${live}`
const touch = `
  update user_session set last_used_at = $2, ip = $4, user_agent = $5
  where id = $1 and ${live} returning user_id`
const end = 'update user_session set ended_at = $2 where id = $1 and ended_at is null'
const endOwn = `${end} and user_id = $3 and expires_at > $2 and last_used_at > $4 returning id`

interface Owner {
  readonly user_id: number
}

const agentOf = ({ userAgent }: Client) => userAgent?.slice(0, LONGEST_USER_AGENT) ?? null

export function createSessions(db: Database, clock: Clock) {
  const owners = new Recent<number, number | undefined>(clock)
  const idleSince = (now: Date) => secondsAfter(now, -IDLE_SECONDS)

  return {
    /** The oldest sign-in ends when there are too many. */
    async open(tx: Queryable, userId: number, client: Client): Promise<number> {
      await holdUser(tx, userId)
      const now = clock()
      const expires = secondsAfter(now, ABSOLUTE_SECONDS)
      const values = [userId, client.ip, agentOf(client), now, expires]
      const [opened] = await tx.query<{ id: number }>(open, values)
      for (const { id } of await tx.query<{ id: number }>(endOldest, [userId, now])) {
        owners.forget(id)
      }
      return opened!.id
    },

    /** Counts as use; resolves with the user, or with nothing when the session is over. */
    async touch(tx: Queryable, id: number, client: Client): Promise<number | undefined> {
      const now = clock()
      const values = [id, now, idleSince(now), client.ip, agentOf(client)]
      const [row] = await tx.query<Owner>(touch, values)
      return row?.user_id
    },

    async end(tx: Queryable, id: number): Promise<void> {
      await tx.query(end, [id, clock()])
      owners.forget(id)
    },

    /** Every session of this user. */
    async endAll(userId: number): Promise<void> {
      await db.query(
        'update user_session set ended_at = $2 where user_id = $1 and ended_at is null',
        [userId, clock()],
      )
      owners.forgetAll()
    },

    /** Whether there was such a session of this user. */
    async endOwn(id: number, userId: number): Promise<boolean> {
      const now = clock()
      const ended = await db.query(endOwn, [id, now, userId, idleSince(now)])
      owners.forget(id)
      return ended.length > 0
    },

    /** The user of a live session. */
    ownerOf(id: number): Promise<number | undefined> {
      return owners.get(id, async () => {
        const now = clock()
        const [row] = await db.query<Owner>(owner, [id, now, idleSince(now)])
        return row?.user_id
      })
    },
  }
}

export type Sessions = ReturnType<typeof createSessions>
