/** API keys as the management API shows them, one by one and as a list that is searched and filtered. */

import { receivesAt, type Scope } from '../../machines/api-key/events.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import type { Progress } from '../../machines/webhook/progress.ts'
import { behindSince, mayReceiveAt, polledWithinDay } from '../alerts/rules.ts'
import { folded, type IdentityRow } from '../credentials/identity.ts'
import type { RecordSource } from '../credentials/records.ts'
import type { Database } from '../database/database.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'
import { countEachPending } from '../updates/pending.ts'
import { type WebhookColumns, webhookObject, webhookRecord } from '../webhooks/record.ts'

/** The part of the record that is in the table. */
export type StoredApiKey = Omit<ApiKeyRecord, 'state'>

interface Row {
  readonly id: number
  readonly name: string
  readonly credential_id: number
  readonly account: IdentityRow['account']
  readonly account_sealed: IdentityRow['account_sealed']
  readonly scopes: Scope[]
  readonly key_hint: string
  readonly allowed_ips: string[]
  readonly polls: boolean | null
  readonly cursor: number
  readonly filter: Filter
  readonly dropped_updates: number
  readonly dropped_at: Date | null
  readonly last_used_at: Date | null
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly made_by: number | null
  readonly next_update_id: number
  readonly webhook_progress: Progress | null
  readonly webhook: WebhookColumns | null
}

const selectFrom = `select k.*, ${polledWithinDay('now()')} as polls, l.next_update_id, c.account, c.account_sealed,
    (select h.user_id from key_holder h where h.api_key_id = k.id and h.has_made) as made_by,
    ${webhookObject} as webhook
  from api_key k
  join credential c on c.id = k.credential_id
  join credential_log l on l.credential_id = k.credential_id
  left join webhook w on w.api_key_id = k.id and w.sealed is not null`

type KeyTrouble = 'webhook' | 'backlog'

export interface KeyQuery {
  readonly credentialId: number | undefined
  /** In names and hints of keys, and in what names their accounts. */
  readonly search: string | undefined
  /** The search looks at accounts as they are shown to staff. */
  readonly isMasked?: boolean
  readonly trouble: KeyTrouble | undefined
  readonly isRevoked: boolean | undefined
  readonly limit: number
  readonly before: number | undefined
}

/**
 * As `folded` makes it of names in Latin and Persian letters, and the hint. The index `api_key_searched` has it: most names
 * are plain, and folding the others costs time.
 */
const searchedIn = (
  name: string,
) => `(left(case when octet_length(${name}) = length(${name}) then lower(${name})
  else translate(lower(regexp_replace(normalize(${name}, NFKD), '[\\u0300-\\u036f\\u064b-\\u065f\\u0670]', '', 'g')),
                 '۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩', '01234567890123456789') end, 500)
  || chr(31) || replace(lower(key_hint), '…', '...'))`
const SEARCHED = searchedIn('name')
/** As staff sees it while addresses are masked, or the search would tell their names letter by letter. */
const SHOWN = searchedIn(
  `regexp_replace(name, '([^\\s"''<>()@:/,;])[^\\s"''<>()@:/,;]*(?=@[^\\s@])', '\\1***', 'g')`,
)

const whereWanted = `k.user_id = $1 and ($3::bigint is null or k.id < $3)
  and ($4::bigint is null or k.credential_id = $4)
  and ($5::boolean is null or (k.revoked_at is not null) = $5)
  and ($6::text is null or k.credential_id = any($7::bigint[])
    or (strpos(${SEARCHED}, $6) > 0 and (not $8::boolean or strpos(${SHOWN}, $6) > 0)))`

const newest = 'order by k.id desc limit $2'

/** The ids of a page. */
const picked = `select k.id from api_key k where ${whereWanted} ${newest}`

const troubled: Readonly<Record<KeyTrouble, string>> = {
  webhook: `select k.id from api_key k where ${whereWanted} and ${mayReceiveAt('now()')} and k.id in (
    select w.api_key_id from webhook w where w.sealed is not null
       and (w.failing_since is not null or w.due_at is not null or w.suspended_at is not null)) ${newest}`,
  // As the rule says, which looks into the log. One pass over the keys and logs spares that look those that have read
  // everything; the rest are asked newest first, until the page is full.
  backlog: `with unread as materialized (
      select k.* from api_key k join credential_log l on l.credential_id = k.credential_id
       where ${whereWanted} and k.revoked_at is null and ${polledWithinDay('now()')}
         and k.cursor < l.next_update_id - 1)
    select k.id from (select * from unread order by id desc offset 0) k
     where exists (${behindSince('now()')}) ${newest}`,
}

type KeySource = Pick<RecordSource, 'db' | 'identity' | 'names'>

export async function listKeys(
  source: KeySource,
  userId: number,
  { search, isMasked = false, trouble, ...query }: KeyQuery,
): Promise<StoredApiKey[]> {
  const accounts =
    search === undefined ? null : await (await source.names.of(userId)).find(search, isMasked)
  const rows = await source.db.query<Row>(
    `${selectFrom} where k.id = any(array(${trouble ? troubled[trouble] : picked})) order by k.id desc`,
    [
      userId,
      query.limit,
      query.before ?? null,
      query.credentialId ?? null,
      query.isRevoked ?? null,
      search === undefined ? null : folded(search),
      accounts,
      isMasked,
    ],
  )
  return recordsOf(source, rows)
}

export async function findKey(
  source: KeySource,
  userId: number,
  apiKeyId: number,
): Promise<StoredApiKey | undefined> {
  const rows = await source.db.query<Row>(`${selectFrom} where k.user_id = $1 and k.id = $2`, [
    userId,
    apiKeyId,
  ])
  const [record] = await recordsOf(source, rows)
  return record
}

/** Counts the pending updates of all keys with one question. */
async function recordsOf(source: KeySource, rows: readonly Row[]): Promise<StoredApiKey[]> {
  const pending = await pendingOf(source.db, rows)
  return Promise.all(
    rows.map(async (row, place) => recordOf(row, await nameOf(source, row), pending[place] ?? 0)),
  )
}

/** Null once the account was deleted. */
async function nameOf(
  source: KeySource,
  { credential_id: id, account, account_sealed }: Row,
): Promise<StoredApiKey['account']> {
  const identity = await source.identity({ id, account, account_sealed })
  if (!identity) return null
  const { firstName, lastName, username } = identity
  return {
    first_name: firstName,
    ...(lastName !== undefined && { last_name: lastName }),
    ...(username !== undefined && { username }),
  }
}

function recordOf(row: Row, account: StoredApiKey['account'], pending: number): StoredApiKey {
  const isRevoked = row.revoked_at !== null
  const webhook = isRevoked ? null : row.webhook
  const { scopes, filter } = row
  const receives = receivesAt({ scopes, expiresAt: row.expires_at?.getTime() }, Date.now())
  return {
    api_key_id: row.id,
    name: row.name,
    credential_id: row.credential_id,
    account,
    scopes,
    key_hint: row.key_hint,
    allowed_ips: row.allowed_ips,
    made_by: row.made_by,
    receive_mode: webhook ? 'webhook' : row.polls && !isRevoked ? 'polling' : 'none',
    webhook: webhook && webhookRecord(webhook, { pending, filter, receives }),
    cursor: row.cursor,
    pending_update_count: pending,
    dropped_update_count: row.dropped_updates,
    dropped_at: row.dropped_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }
}

/** A revoked key has no backlog and no deliveries. */
async function pendingOf(db: Database, rows: readonly Row[]): Promise<number[]> {
  const unread = await countEachPending(
    db,
    rows.map((row) => ({
      credentialId: row.credential_id,
      apiKeyId: row.id,
      cursor:
        row.revoked_at === null
          ? (row.webhook_progress?.head ?? row.cursor)
          : Number.POSITIVE_INFINITY,
      filter: row.filter,
      next: row.next_update_id,
    })),
  )
  return rows.map(({ revoked_at, webhook_progress }, place) =>
    revoked_at === null ? (webhook_progress?.waiting ?? 0) + (unread[place] ?? 0) : 0,
  )
}
