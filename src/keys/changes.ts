/** How API keys are made, changed, rotated and revoked in the table. */

import type { Keeps } from '../../actors/ports/ports.ts'
import type { Scope } from '../../machines/api-key/events.ts'
import { failed } from '../../machines/model/failure.ts'
import { holdUser } from '../accounts/users.ts'
import { noteChange, noteIn } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import { ApiKey, databaseNow, forUpdate } from '../database/entities.ts'
import { formatApiKey, hashSecret, newApiKeySecret } from '../security/secrets.ts'

export interface NewKey {
  readonly userId: number
  readonly credentialId: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly expiresAt: Date | undefined
  /** Addresses and networks; empty: it may be used from anywhere. */
  readonly allowedIps?: readonly string[]
  /** Absent: the owner makes it. */
  readonly by?: SharedBy | undefined
}

/** Whom the account of a key is shared with, as a developer, and by which share. */
export interface SharedBy {
  readonly shareId: number
  readonly userId: number
}

const developing = `
  select from account_share where id = $1 and user_id = $2 and role = 'developer' for share`

const holding = `
  insert into key_holder (api_key_id, user_id, has_made) values ($1, $2, $3)
  on conflict (api_key_id, user_id) do update set holds = true`

/**
 * Within a transaction, before other locks of the key: the end of the share waits for it, and then finds the key among those
 * that this user holds. Rejects with `not_found` once the share has ended.
 */
async function holdShare(tx: Queryable, { shareId, userId }: SharedBy): Promise<void> {
  if ((await tx.query(developing, [shareId, userId])).length === 0) throw failed('not_found')
}

/** What is delivered for the key goes where this user wants it. */
export async function holdKey(db: Database, apiKeyId: number, by: SharedBy): Promise<void> {
  await db.transaction(async (tx) => {
    await holdShare(tx, by)
    await tx.query(holding, [apiKeyId, by.userId, false])
  })
}

const whichAreHeld = `credential_id = $1 and revoked_at is null
     and id in (select api_key_id from key_holder where user_id = $2 and holds)`

/** The keys of an account that this user holds, within the transaction that ends their share. */
export async function heldKeys(
  tx: Queryable,
  credentialId: number,
  userId: number,
): Promise<number[]> {
  const text = `select id from api_key where ${whichAreHeld} order by id`
  return (await tx.query<{ id: number }>(text, [credentialId, userId])).map(({ id }) => id)
}

const revoking = `update api_key set revoked_at = now() where ${whichAreHeld} returning id`

/** Revokes the keys of an account that this user holds, within the transaction that ends their share. */
export async function revokeHeld(
  tx: Queryable,
  credentialId: number,
  userId: number,
): Promise<number[]> {
  const revoked = (await tx.query<{ id: number }>(revoking, [credentialId, userId])).map(
    ({ id }) => id,
  )
  for (const id of revoked) await noteChange(tx, { target: ['key', id], action: 'key.revoked' })
  return revoked
}

export interface KeyLimits {
  readonly perCredential: number
  readonly perUser: number
}

/** Rejects when the limit is reached. Exact while the user's row is locked. */
async function assertRoom(tx: Queryable, key: NewKey, limits: KeyLimits): Promise<void> {
  const [count] = await tx.query<{ of_user: number; of_credential: number }>(
    `select (select count(*)::integer from (
               select from api_key where user_id = $1 and revoked_at is null limit $3) of_user) as of_user,
            (select count(*)::integer from (
               select from api_key where credential_id = $2 and revoked_at is null limit $4) of_one) as of_credential`,
    [key.userId, key.credentialId, limits.perUser, limits.perCredential],
  )
  if (!count) return
  const full = (most: number, whose: string) =>
    failed('bad_request', `there are ${most} API keys of this ${whose} already; revoke one first`)
  if (count.of_credential >= limits.perCredential) throw full(limits.perCredential, 'account')
  if (count.of_user >= limits.perUser) throw full(limits.perUser, 'user')
}

/** SQL, since one statement reads the log's position and locks the credential. */
const insert = `
  insert into api_key (user_id, credential_id, name, scopes, secret_hash, key_hint, expires_at, allowed_ips, cursor)
  select $1, $2, $3, $4, $5, $6, $7, $8, l.next_update_id - 1
    from credential_log l join credential c on c.id = l.credential_id
   where l.credential_id = $2 and c.deleting_at is null
     for share of c returning id`

/** Resolves with the id and the key itself, which is nowhere to be read again. Updates count from here on. */
export async function createKey(
  db: Database,
  key: NewKey,
  limits: KeyLimits,
): Promise<{ id: number; key: string }> {
  const secret = newApiKeySecret()
  const { userId, credentialId, name, scopes, expiresAt = null, allowedIps = [] } = key
  const hashes = [hashSecret(secret), hintOf(secret)]
  const [row] = await db.transaction(async (tx) => {
    await holdUser(tx, userId)
    if (key.by) await holdShare(tx, key.by)
    await assertRoom(tx, key, limits)
    const values = [userId, credentialId, name, [...scopes], ...hashes, expiresAt, allowedIps]
    const rows = await tx.query<{ id: number }>(insert, values)
    const [made] = rows
    if (made && key.by) await tx.query(holding, [made.id, key.by.userId, true])
    if (made) await noteChange(tx, { target: ['key', made.id], after: termsOf(key) })
    return rows
  })
  if (!row) throw failed('not_found')
  return { id: row.id, key: formatApiKey({ id: row.id, secret }) }
}

export interface KeyChange {
  readonly name: string | undefined
  readonly scopes: readonly Scope[] | undefined
  /** Null takes the expiry away. */
  readonly expiresAt: Date | null | undefined
  readonly allowedIps?: readonly string[] | undefined
  readonly keepsCalls?: Keeps
}

export async function changeKey(db: Database, apiKeyId: number, change: KeyChange): Promise<void> {
  const { name, scopes, expiresAt, allowedIps, keepsCalls } = change
  const changed = {
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes: [...scopes] }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(allowedIps !== undefined && { allowedIps: [...allowedIps] }),
    ...(keepsCalls !== undefined && { keepsCalls }),
  }
  if (Object.keys(changed).length === 0) return
  await db.records((em) =>
    em.transactional(async (tx) => {
      const before = await tx.findOne(ApiKey, { id: apiKeyId }, forUpdate)
      if (!before) throw failed('not_found')
      await noteIn(tx, { before: among(changed, before), after: among(changed, changed) })
      await tx.nativeUpdate(ApiKey, { id: apiKeyId }, changed)
    }),
  )
}

/** As the API names them. */
const NAMES = {
  name: 'name',
  scopes: 'scopes',
  expiresAt: 'expires_at',
  allowedIps: 'allowed_ips',
  keepsCalls: 'keep',
} as const

/** Of these values those that `changed` has. */
function among(changed: object, values: object) {
  const names = (Object.keys(NAMES) as (keyof typeof NAMES)[]).filter((name) => name in changed)
  return Object.fromEntries(names.map((name) => [NAMES[name], Reflect.get(values, name)]))
}

const termsOf = ({ name, credentialId, scopes, expiresAt, allowedIps = [] }: NewKey) => ({
  name,
  credential_id: credentialId,
  scopes,
  expires_at: expiresAt ?? null,
  allowed_ips: allowedIps,
})

/** Who had a secret that opens nothing more. A webhook may be theirs, whoever has rotated the key since. */
const letGo = `
  update key_holder set holds = false
   where api_key_id = $1 and not exists (
     select from webhook where api_key_id = $1 and sealed is not null)`

/**
 * A new secret; the old one opens the key for `overlapSeconds` more, or for nobody. SQL, since it copies a column of the
 * row.
 */
export async function rotateKey(
  db: Database,
  apiKeyId: number,
  overlapSeconds: number,
  by?: SharedBy,
): Promise<string> {
  const secret = newApiKeySecret()
  const values = [apiKeyId, hashSecret(secret), hintOf(secret), overlapSeconds]
  await db.transaction(async (tx) => {
    if (by) await holdShare(tx, by)
    await tx.query(
      `update api_key
        set old_secret_hash = case when $4 > 0 then secret_hash end,
            old_secret_until = case when $4 > 0 then now() + make_interval(secs => $4) end,
            secret_hash = $2, key_hint = $3 where id = $1`,
      values,
    )
    if (overlapSeconds === 0) await tx.query(letGo, [apiKeyId])
    if (by) await tx.query(holding, [apiKeyId, by.userId, false])
    await noteChange(tx, { after: { key_hint: hintOf(secret), overlap_seconds: overlapSeconds } })
  })
  return formatApiKey({ id: apiKeyId, secret })
}

/** False when it was revoked before. */
export async function revokeKey(db: Database, apiKeyId: number): Promise<boolean> {
  const live = { id: apiKeyId, revokedAt: null }
  const revoked = { revokedAt: databaseNow() }
  return db.records((em) =>
    em.transactional(async (tx) => {
      if ((await tx.nativeUpdate(ApiKey, live, revoked)) === 0) return false
      await noteIn(tx)
      return true
    }),
  )
}

const hintOf = (secret: string) => `…${secret.slice(-4)}`
