/** Names of linked accounts, sealed at rest with a key of their user, so that one key opens a whole list. */

import { createHmac } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import type { Database } from '../database/database.ts'
import type { Vault } from '../security/vault.ts'

/** The columns of `credential` that hold it. */
export interface IdentityRow {
  readonly id: number
  /** Written by a version that did not seal. It may still write while this one starts, so it counts first. */
  readonly account: AccountIdentity | null
  readonly account_sealed: Buffer | null
}

export const identityColumns = 'id, account, account_sealed'

const placeOf = (credentialId: number) => ({
  table: 'credential',
  column: 'account',
  row: credentialId,
})

export const sealIdentity = (
  vault: Pick<Vault, 'seal'>,
  userId: number,
  credentialId: number,
  identity: AccountIdentity,
): Promise<Buffer> =>
  vault.seal(`user:${userId}`, placeOf(credentialId), Buffer.from(JSON.stringify(identity)))

/** Undefined once it was wiped. */
export async function openIdentity(
  vault: Pick<Vault, 'open'>,
  { id, account, account_sealed: sealed }: IdentityRow,
): Promise<AccountIdentity | undefined> {
  if (account !== null) return account
  if (sealed === null) return undefined
  return JSON.parse((await vault.open(placeOf(id), sealed)).toString()) as AccountIdentity
}

/** A keyed hash that finds an account when it is linked again, without naming it. */
export function nativeIndex(vault: Pick<Vault, 'derive'>, native: string): string {
  return createHmac('sha256', vault.derive('account-index')).update(native).digest('base64url')
}

const AT_ONCE = 500
const unsealed = `
  select id, user_id, native_id, account from credential
  where account is not null and id > $1 order by id limit ${AT_ONCE}`
const replace = `
  update credential c set account = null, account_sealed = fresh.sealed, native_id = fresh.native
    from unnest($1::bigint[], $2::bytea[], $3::text[]) as fresh (id, sealed, native)
   where c.id = fresh.id and c.account is not null`

interface Unsealed {
  readonly id: number
  readonly user_id: number
  readonly native_id: string
  readonly account: AccountIdentity
}

/** Seals names that older versions stored unencrypted; resolves with their number. It may be interrupted at any time. */
export async function sealIdentities(db: Database, vault: Vault): Promise<number> {
  let count = 0
  let after = 0
  for (;;) {
    const rows = await db.query<Unsealed>(unsealed, [after])
    if (rows.length === 0) return count
    const sealed: Buffer[] = []
    for (const { id, user_id, account } of rows) {
      sealed.push(await sealIdentity(vault, user_id, id, account))
    }
    const natives = rows.map(({ native_id }) => nativeIndex(vault, native_id))
    await db.query(replace, [rows.map(({ id }) => id), sealed, natives])
    count += rows.length
    after = rows.at(-1)?.id ?? after
  }
}

/** Some 300 bytes each. */
const MOST = 50_000
const LIVES_MS = 600_000

interface Opened {
  readonly sealed: Buffer
  readonly identity: AccountIdentity
}

/** Opened identities, kept for a while: lists are searched and sorted by what is sealed at rest. */
export class OpenedIdentities {
  readonly #vault: Pick<Vault, 'open'>
  readonly #opened = new LRUCache<number, Opened>({ max: MOST, ttl: LIVES_MS })

  constructor(vault: Pick<Vault, 'open'>) {
    this.#vault = vault
  }

  /** Undefined once it was wiped. An identity that was sealed again is opened again. */
  async of(row: IdentityRow): Promise<AccountIdentity | undefined> {
    const { id, account, account_sealed: sealed } = row
    if (account !== null || sealed === null) {
      this.#opened.delete(id)
      return openIdentity(this.#vault, row)
    }
    const known = this.#opened.get(id)
    if (known?.sealed.equals(sealed)) return known.identity
    const identity = await openIdentity(this.#vault, row)
    if (identity) this.#opened.set(id, { sealed, identity })
    return identity
  }
}
