/** Reads the audit log: a page of it, all of it line by line; and removes what is older than 400 days. */
import type { Queryable } from '../database/database.ts'
import type { AuditRecord } from '../records/audit.ts'
import { asOneLine } from '../security/redact.ts'

export interface AuditQuery {
  readonly userId: number
  /** Those of the service, too. */
  readonly withService: boolean
  readonly action: string | undefined
  readonly target: string | undefined
  readonly targetId: string | undefined
  readonly since: Date | undefined
  readonly until: Date | undefined
  readonly before: number | undefined
  readonly limit: number
}

type Row = Omit<AuditRecord, 'at'> & { readonly at: Date }

/** `action` may be the part before the dot. */
const page = `
  select id, at, action, via, author_id, session_id, token_id, ip, request_id, target, target_id, before, after
    from audit_log
   where (user_id = $1 or $2 and user_id is null)
     and ($3::bigint is null or id < $3)
     and ($4::text is null or action = $4 or split_part(action, '.', 1) = $4)
     and ($5::text is null or target = $5) and ($6::text is null or target_id = $6)
     and ($7::timestamptz is null or at >= $7) and ($8::timestamptz is null or at < $8)
   order by id desc limit $9`

/** The newest first. */
export async function listChanges(db: Queryable, query: AuditQuery): Promise<AuditRecord[]> {
  const { userId, withService, action, target, targetId, since, until, before, limit } = query
  const rows = await db.query<Row>(page, [
    ...[userId, withService, before ?? null, action ?? null, target ?? null, targetId ?? null],
    ...[since ?? null, until ?? null, limit],
  ])
  return rows.map((row) => ({ ...row, at: row.at.toISOString() }))
}

const AT_ONCE = 500

/** A line of JSON for each change, the newest first. `read` is asked for one page after the other. */
export async function* exportChanges(
  read: (query: AuditQuery) => Promise<AuditRecord[]>,
  query: Omit<AuditQuery, 'before' | 'limit'>,
): AsyncGenerator<string> {
  for (let before: number | undefined; ; ) {
    const changes = await read({ ...query, before, limit: AT_ONCE })
    yield changes.map((change) => `${asOneLine(JSON.stringify(change))}\n`).join('')
    before = changes.at(-1)?.id
    if (before === undefined || changes.length < AT_ONCE) return
  }
}

const REMOVED_AT_ONCE = 5_000

/** Ids grow with time, so the oldest are looked at and no others. */
const removing = `
  delete from audit_log where id in (
    select id from (select id, at from audit_log order by id limit ${REMOVED_AT_ONCE}) oldest
     where at < now() - interval '400 days') returning 1`

export async function retainChanges(db: Queryable): Promise<void> {
  for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE; ) {
    removed = (await db.query(removing)).length
  }
}
