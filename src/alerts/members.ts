/** The accounts and keys that an incident of a user concerns now. Those of an incident of the service belong to others and are not shown. */
import { failed } from '../../machines/model/failure.ts'
import type { Queryable } from '../database/database.ts'
import { BY_ACCOUNT, MEMBERS, type Rule, SERVICE } from './rules.ts'

interface Asked {
  readonly userId: number
  /** Whose incidents this user sees. */
  readonly owners: readonly number[]
  readonly id: number
  readonly now: Date
}

interface Member {
  readonly credential_id: number
  /** Null where the incident concerns the account itself. */
  readonly api_key_id: number | null
  readonly key_name: string | null
  readonly since: Date | null
}

interface Found {
  readonly rule: Rule
  readonly subject: string
  readonly has_members: boolean
}

/** Rejects with `not_found`, also for an incident of another user. */
async function incidentOf(db: Queryable, { owners, id }: Asked): Promise<Found> {
  const [found] = await db.query<Found>(
    `select rule, subject, resolved_at is null and user_id <> ${SERVICE} as has_members from incident
      where id = $1 and user_id = any($2)`,
    [id, owners],
  )
  if (!found) throw failed('not_found')
  return found
}

const accounts = `
  select i.user_id, c.id as credential_id, null::bigint as api_key_id, c.troubled_since as since
    from incident i join incident_account m on m.incident_id = i.id join credential c on c.id = m.credential_id
   where i.rule = $1 and i.subject = $2 and i.resolved_at is null and m.left_at is null and c.deleting_at is null`

/** The statement that finds the members of all users, with its values; undefined where there are none. */
function membersOf({ rule, subject, has_members: hasMembers }: Found, now: Date) {
  if (!hasMembers) return undefined
  if (BY_ACCOUNT.includes(rule)) return { text: accounts, values: [rule, subject] }
  const text = MEMBERS[rule]
  return text && { text, values: [now] }
}

interface Page extends Asked {
  /** Below this id of a key, or of an account where it has no key. */
  readonly before: number | undefined
  readonly limit: number
}

export async function listMembers(db: Queryable, page: Page): Promise<Member[]> {
  const members = membersOf(await incidentOf(db, page), page.now)
  if (!members) return []
  const from = members.values.length
  return db.query<Member>(
    `select m.credential_id, m.api_key_id, k.name as key_name, m.since
       from (${members.text}) m left join api_key k on k.id = m.api_key_id
      where m.user_id = $${from + 1}
        and ($${from + 2}::bigint is null or coalesce(m.api_key_id, m.credential_id) < $${from + 2})
      order by coalesce(m.api_key_id, m.credential_id) desc limit $${from + 3}`,
    [...members.values, page.userId, page.before ?? null, page.limit],
  )
}

/** The accounts, each once. */
export async function accountsOf(db: Queryable, asked: Asked): Promise<number[]> {
  const members = membersOf(await incidentOf(db, asked), asked.now)
  if (!members) return []
  const rows = await db.query<{ id: number }>(
    `select distinct credential_id as id from (${members.text}) m
      where user_id = $${members.values.length + 1}`,
    [...members.values, asked.userId],
  )
  return rows.map(({ id }) => id)
}
