/** Accounts that their owner shares with other users: invitations, what the shares allow, and how they end. */

import { failed, invalidField, readBack } from '../../machines/model/failure.ts'
import { parsePhone, phoneIndex } from '../accounts/phone.ts'
import { holdUser, phonePlaceOf } from '../accounts/users.ts'
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import { heldKeys, revokeHeld } from '../keys/changes.ts'
import type { ShareRecord } from '../records/account.ts'
import type { ReceivedShare } from '../records/credential.ts'
import { maskPhone } from '../security/redact.ts'
import type { Vault } from '../security/vault.ts'
import type { ShareRole } from './held-shares.ts'

const MOST_SHARES = 50
/** A phone may have another owner by then. */
const INVITED_DAYS = 30
const isFresh = `created_at > now() - interval '${INVITED_DAYS} days'`

const ofOwner = `
  select s.id, s.role, s.user_id, s.phone_sealed, s.created_at, s.accepted_at,
         s.user_id is not null or s.${isFresh} as is_open,
         array(select h.api_key_id from key_holder h join api_key k on k.id = h.api_key_id
                where h.user_id = s.user_id and h.holds and k.credential_id = s.credential_id
                  and k.revoked_at is null order by 1) as api_key_ids
    from account_share s where s.credential_id = $1 and s.owner_id = $2`

interface OwnerRow {
  readonly id: number
  readonly role: ShareRole
  readonly user_id: number | null
  readonly phone_sealed: Buffer
  readonly created_at: Date
  readonly accepted_at: Date | null
  readonly is_open: boolean
  readonly api_key_ids: number[]
}

/** Those that were accepted, and invitations: the phone of a user finds them. */
const received = `
  select s.id, s.role, s.user_id, s.owner_id, s.credential_id, s.created_at, s.accepted_at,
         c.platform, o.phone_sealed
    from account_share s
    join credential c on c.id = s.credential_id and c.user_id = s.owner_id and c.deleting_at is null
    join app_user o on o.id = s.owner_id and o.erasing_at is null
   where s.id = any(array(
           select id from account_share where user_id = $1
            union all
           select id from account_share
            where user_id is null and ${isFresh}
              and phone_index = (select phone_index from app_user where id = $1)))
     and ($2::bigint is null or s.id < $2)
   order by s.id desc limit $3`

interface ReceivedRow {
  readonly id: number
  readonly role: ShareRole
  readonly user_id: number | null
  readonly owner_id: number
  readonly credential_id: number
  readonly created_at: Date
  readonly accepted_at: Date | null
  readonly platform: string
  readonly phone_sealed: Buffer
}

/** An invitation that nobody took in time gives its place to the new one. */
const inviting = `
  insert into account_share (id, credential_id, owner_id, phone_index, phone_sealed, role)
  select $1, c.id, c.user_id, $4, $5, $6 from credential c
   where c.id = $2 and c.user_id = $3 and c.deleting_at is null for key share
  on conflict (credential_id, phone_index) do update
     set id = excluded.id, phone_sealed = excluded.phone_sealed, role = excluded.role, created_at = now()
   where account_share.user_id is null and not account_share.${isFresh}
  returning id`

const accepting = `
  update account_share s set user_id = u.id, accepted_at = now()
    from app_user u, credential c, app_user o
   where s.id = $2 and s.user_id is null and s.${isFresh}
     and u.id = $1 and u.phone_index = s.phone_index and u.erasing_at is null
     and c.id = s.credential_id and c.user_id = s.owner_id and c.deleting_at is null
     and o.id = s.owner_id and o.erasing_at is null
  returning s.owner_id, s.credential_id, s.role`

const leaving = `
  delete from account_share where id = $2 and (user_id = $1 or user_id is null and ${isFresh}
     and phone_index = (select phone_index from app_user where id = $1))
  returning owner_id, credential_id, role`

const ending = `
  delete from account_share where id = $1 and credential_id = $2 and owner_id = $3
  returning user_id, role`

const reading = `
  select user_id, role from account_share
   where id = $1 and credential_id = $2 and owner_id = $3 for update`

interface SharesOptions {
  readonly db: Database
  readonly vault: Pick<Vault, 'seal' | 'open' | 'derive'>
  /** A share of the account ended, or allows something else. */
  changed(credentialId: number): void
  /** These keys of an account were revoked in the table. */
  revoked(credentialId: number, apiKeyIds: readonly number[]): Promise<void>
}

const placeOf = (row: number) => ({ table: 'account_share', column: 'phone_sealed', row })

/** Which share of an account of an owner. */
interface OwnShare {
  readonly ownerId: number
  readonly credentialId: number
  readonly shareId: number
}

export class Shares {
  readonly #options: SharesOptions
  readonly #indexOf: ReturnType<typeof phoneIndex>

  constructor(options: SharesOptions) {
    this.#options = options
    this.#indexOf = phoneIndex(options.vault)
  }

  /** Newest first. */
  async list(
    ownerId: number,
    credentialId: number,
    page: { readonly before: number | undefined; readonly limit: number },
  ): Promise<ShareRecord[]> {
    const rows = await this.#options.db.query<OwnerRow>(
      `${ofOwner} and ($3::bigint is null or s.id < $3) order by s.id desc limit $4`,
      [credentialId, ownerId, page.before ?? null, page.limit],
    )
    return Promise.all(rows.map((row) => this.#recordOf(row)))
  }

  async find({ ownerId, credentialId, shareId }: OwnShare): Promise<ShareRecord> {
    const text = `${ofOwner} and s.id = $3`
    const [row] = await this.#options.db.query<OwnerRow>(text, [credentialId, ownerId, shareId])
    if (!row) throw failed('not_found')
    return this.#recordOf(row)
  }

  /** Invites whoever signs in with the phone. The answer does not tell whether somebody does already. */
  async invite(
    ownerId: number,
    credentialId: number,
    given: { readonly phone: string; readonly role: ShareRole },
  ): Promise<ShareRecord> {
    const { db, vault } = this.#options
    const { number } = parsePhone(given.phone)
    const index = this.#indexOf(number)
    const [next] = await db.query<{ id: number }>(`select nextval('account_share_id_seq') as id`)
    const shareId = next?.id ?? 0
    const sealed = await vault.seal(`user:${ownerId}`, placeOf(shareId), Buffer.from(number))
    await db.transaction(async (tx) => {
      await holdUser(tx, ownerId)
      await assertMay(tx, { ownerId, credentialId, index })
      const values = [shareId, credentialId, ownerId, index, sealed, given.role]
      if ((await tx.query(inviting, values)).length === 0) {
        throw invalidField('phone', 'has a share of this account, or an invitation', {
          reason: 'shared_already',
        })
      }
      const after = { share_id: shareId, role: given.role }
      await noteChange(tx, { target: ['account', credentialId], after })
    })
    return readBack(this.find({ ownerId, credentialId, shareId }))
  }

  /** `revokeKeys`: those that a developer holds, where the new role is less. */
  async change(of: OwnShare, role: ShareRole, revokeKeys: boolean): Promise<ShareRecord> {
    const { shareId, credentialId, ownerId } = of
    const revoked = await this.#options.db.transaction(async (tx) => {
      const [before] = await tx.query<Pick<OwnerRow, 'user_id' | 'role'>>(reading, [
        shareId,
        credentialId,
        ownerId,
      ])
      if (!before) throw failed('not_found')
      await tx.query('update account_share set role = $2 where id = $1', [shareId, role])
      await noteChange(tx, {
        target: ['account', credentialId],
        before: { share_id: shareId, user_id: before.user_id, role: before.role },
        after: { share_id: shareId, user_id: before.user_id, role },
      })
      const isMeant = revokeKeys && role === 'viewer' && before.user_id !== null
      return isMeant ? revokeHeld(tx, credentialId, before.user_id) : []
    })
    await this.#ended(credentialId, revoked)
    return readBack(this.find(of))
  }

  /** Resolves with the keys that it revoked. */
  async end(of: OwnShare, revokeKeys: boolean): Promise<number[]> {
    const { shareId, credentialId, ownerId } = of
    const revoked = await this.#options.db.transaction(async (tx) => {
      const [was] = await tx.query<Pick<OwnerRow, 'user_id' | 'role'>>(ending, [
        shareId,
        credentialId,
        ownerId,
      ])
      if (!was) throw failed('not_found')
      const before = await endOf(tx, { ...was, id: shareId, credential_id: credentialId })
      await noteChange(tx, { target: ['account', credentialId], before })
      return revokeKeys && was.user_id !== null ? revokeHeld(tx, credentialId, was.user_id) : []
    })
    await this.#ended(credentialId, revoked)
    return revoked
  }

  /** What this user was given or is offered, newest first, without the accounts. */
  async received(
    userId: number,
    page: { readonly before: number | undefined; readonly limit: number },
  ): Promise<Omit<ReceivedShare, 'credential'>[]> {
    const values = [userId, page.before ?? null, page.limit]
    const rows = await this.#options.db.query<ReceivedRow>(received, values)
    return Promise.all(
      rows.map(async (row) => ({
        share_id: row.id,
        role: row.role,
        state: row.user_id === null ? ('invited' as const) : ('active' as const),
        owner: { phone: await this.#maskedPhone(row.owner_id, row.phone_sealed) },
        platform: row.platform,
        credential_id: row.credential_id,
        created_at: row.created_at.toISOString(),
        accepted_at: row.accepted_at?.toISOString() ?? null,
      })),
    )
  }

  /** The invitation becomes a share. */
  async accept(userId: number, shareId: number): Promise<void> {
    await this.#options.db.transaction(async (tx) => {
      const [row] = await tx.query<ReceivedRow>(accepting, [userId, shareId])
      if (!row) throw failed('not_found')
      const after = { share_id: shareId, user_id: userId, role: row.role }
      await noteChange(tx, { ...ofItsOwner(row), after })
    })
  }

  /** By the user it was given to, or offered. */
  async leave(userId: number, shareId: number): Promise<void> {
    const credentialId = await this.#options.db.transaction(async (tx) => {
      const [row] = await tx.query<ReceivedRow>(leaving, [userId, shareId])
      if (!row) throw failed('not_found')
      const before = await endOf(tx, { ...row, id: shareId, user_id: userId })
      await noteChange(tx, { ...ofItsOwner(row), before })
      return row.credential_id
    })
    await this.#ended(credentialId, [])
  }

  async #ended(credentialId: number, revoked: readonly number[]): Promise<void> {
    this.#options.changed(credentialId)
    if (revoked.length > 0) await this.#options.revoked(credentialId, revoked)
  }

  async #maskedPhone(ownerId: number, sealed: Buffer): Promise<string> {
    return maskPhone((await this.#options.vault.open(phonePlaceOf(ownerId), sealed)).toString())
  }

  async #recordOf(row: OwnerRow): Promise<ShareRecord> {
    const isInvited = row.user_id === null
    const until = row.created_at.getTime() + INVITED_DAYS * 86_400_000
    return {
      share_id: row.id,
      role: row.role,
      state: !isInvited ? 'active' : row.is_open ? 'invited' : 'expired',
      phone: (await this.#options.vault.open(placeOf(row.id), row.phone_sealed)).toString(),
      user_id: row.user_id,
      created_at: row.created_at.toISOString(),
      accepted_at: row.accepted_at?.toISOString() ?? null,
      expires_at: isInvited ? new Date(until).toISOString() : null,
      api_key_ids: row.api_key_ids,
    }
  }
}

/** In the audit log of the owner, whoever has done it. */
const ofItsOwner = ({ owner_id, credential_id }: Pick<ReceivedRow, 'owner_id' | 'credential_id'>) =>
  ({ userId: owner_id, target: ['account', credential_id] }) as const

/** What ends, with the keys that go on opening the account: no list of a share has them any more. */
async function endOf(
  tx: Queryable,
  {
    id,
    user_id,
    credential_id,
    role,
  }: Pick<ReceivedRow, 'id' | 'user_id' | 'credential_id' | 'role'>,
) {
  const held = user_id === null ? [] : await heldKeys(tx, credential_id, user_id)
  return { share_id: id, user_id, role, ...(held.length > 0 && { api_key_ids: held }) }
}

interface Invited {
  readonly ownerId: number
  readonly credentialId: number
  readonly index: Buffer
}

/** Exact while the user's row is locked. Rejects with `not_found` where the account is not theirs. */
async function assertMay(tx: Queryable, { ownerId, credentialId, index }: Invited): Promise<void> {
  const [found] = await tx.query<{ is_own: boolean; shares: number }>(
    `select u.phone_index = $3 as is_own,
            (select count(*)::int from account_share s
              where s.credential_id = $2 and (s.user_id is not null or s.${isFresh})) as shares
       from app_user u join credential c on c.user_id = u.id
      where u.id = $1 and c.id = $2 and c.deleting_at is null`,
    [ownerId, credentialId, index],
  )
  if (!found) throw failed('not_found')
  if (found.is_own) throw invalidField('phone', 'is your own')
  if (found.shares < MOST_SHARES) return
  throw failed('bad_request', `an account has at most ${MOST_SHARES} shares`, {
    reason: 'shares_full',
    params: { count: MOST_SHARES },
  })
}

/** Removes invitations that nobody took in time. */
export async function forgetInvitations(db: Queryable): Promise<void> {
  await db.query(`delete from account_share where user_id is null and not (${isFresh})`)
}
