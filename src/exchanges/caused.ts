/** The updates that one call caused, each with the attempts of all keys of the user to deliver it. */
import type { Database } from '../database/database.ts'
import { updateSince } from '../updates/read.ts'
import { nameOf } from '../updates/wanted.ts'

interface Asked {
  readonly userId: number
  readonly credentialId: number
  /** The id of the request, which its updates carry. */
  readonly traceId: string
  readonly answeredAt: Date
}

interface Caused {
  readonly update_id: number
  readonly at: Date
  readonly kind: string
  readonly chat_id: number | null
}

interface Attempt {
  readonly api_key_id: number
  readonly update_id: number
  readonly at: Date
  readonly attempt: number
  readonly status: number | null
  readonly error: string | null
}

/** A call may take so long, and its updates may come so long after its answer. */
const AROUND_MS = 120_000
/** The updates that are looked at, and the attempts that are shown, at most. */
const LOOKED = 10_000
const ATTEMPTS = 100

/** Nothing of updates that are no longer stored. */
export async function updatesCausedBy(
  db: Database,
  { userId, credentialId, traceId, answeredAt }: Asked,
): Promise<(Caused & { readonly attempts: Attempt[] })[]> {
  const around = (milliseconds: number) => new Date(answeredAt.getTime() + milliseconds)
  const first = await updateSince(db, credentialId, around(-AROUND_MS))
  if (first === undefined) return []
  const caused = await db.query<Caused>(
    `select update_id, at, ${nameOf('looked')} as kind, chat_id
       from (select * from update_log where credential_id = $1 and update_id >= $2
              order by update_id limit ${LOOKED}) looked
      where trace_id = $3 and at <= $4 order by update_id`,
    [credentialId, first, traceId, around(AROUND_MS)],
  )
  if (caused.length === 0) return []
  const attempts = await db.query<Attempt>(
    `select api_key_id, update_id, at, attempt, status, error from webhook_delivery
      where user_id = $1 and update_id = any($2::bigint[]) and at >= $3
        and api_key_id in (select id from api_key where credential_id = $4)
      order by at limit ${ATTEMPTS}`,
    [userId, caused.map(({ update_id }) => update_id), around(-AROUND_MS), credentialId],
  )
  return caused.map((one) => ({
    ...one,
    attempts: attempts.filter(({ update_id }) => update_id === one.update_id),
  }))
}
