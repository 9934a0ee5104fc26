/** Credentials in Postgres: claimed by a node, read for a session, wiped at the end. */

import { isDeepStrictEqual } from 'node:util'
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import type {
  CredentialFacts,
  CredentialStore,
  LostCredential,
  Owned,
  StoredAccount,
  Transition,
} from '../../actors/ports/ports.ts'
import { failed, OwnershipLost, SecretsUnreadable } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { Database } from '../database/database.ts'
import { arrayLiteral, type SharedStatements, sharedLookup } from '../database/write-behind.ts'
import { forgetLeft, keepLeft, sealOwn } from '../nodes/sign-outs.ts'
import { wipeAccount } from '../privacy/erase.ts'
import { UnreadableSecret, type Vault } from '../security/vault.ts'
import {
  claimOf,
  type Fenced,
  isFree,
  isKept,
  lockedLast,
  releaseOf,
  secretsWrites,
} from './fence.ts'
import { type HealthBuffer, Irregularities } from './health.ts'
import {
  type IdentityRow,
  identityColumns,
  OpenedIdentities,
  sealIdentity,
  sealSecrets,
  secretsOf,
} from './identity.ts'
import { storedReason } from './reasons.ts'
import { moveLines, type TimelineBuffer } from './timeline.ts'

interface ClaimedCredential extends CredentialFacts {
  readonly next: number
}

interface Row {
  readonly id: number
  readonly user_id: number
  readonly platform: string
  readonly machine_state: string
  readonly deleting_at: Date | null
  readonly reason: string | null
  readonly limited_until: Date | null
  readonly state_since: Date | null
  readonly include_self_updates: boolean
  readonly include_channel_updates: boolean
  readonly include_channel_update_recovery: boolean
  readonly include_deleted_updates: boolean
  readonly epoch: number
  readonly next_update_id: number
  /** The name of the node that had it before. */
  readonly former: string | null
  readonly released: boolean
}

/** This process, as the owner of credentials. */
interface ClaimingNode {
  readonly name: string
  /** Null if this process is no node: then other nodes may claim its credentials. */
  incarnation(): number | null
  /** Whether it gives its credentials to other nodes, or has no number of its own: no call may bring one back. */
  isLeaving?(): boolean
}

interface StoreOptions {
  readonly db: Database
  readonly vault: Vault
  readonly node: ClaimingNode
  readonly timeline: TimelineBuffer
  readonly health: HealthBuffer
  /** Called with the keys that ended with their credential. */
  keysRevoked(apiKeyIds: readonly number[]): Promise<void>
  /** Called with a credential that was claimed by itself, before the claim resolves. */
  claimed?(claimed: ClaimedCredential): void
  readonly fenced?: Fenced
}

const AT_ONCE = 200
/** A start opens accounts one after another: without a rest each statement would read two or three of them. */
const BETWEEN_READS_MS = 5
const KEPT = 'something else has locked the rows of the account'

interface AccountRow extends IdentityRow {
  readonly epoch: number
  readonly links: number
  readonly secrets: Buffer | null
  readonly checkpoint: Json
  readonly include_channel_update_recovery: boolean
}

export class PostgresCredentialStore implements CredentialStore {
  readonly #db: Database
  readonly #vault: Vault
  readonly #opened: OpenedIdentities
  readonly #node: ClaimingNode
  readonly #world: StoreOptions
  readonly #accounts: SharedStatements<number, AccountRow | undefined>
  readonly #claims: SharedStatements<number, ClaimedCredential | undefined>
  readonly #identities: SharedStatements<number, OwnedIdentityRow | undefined>
  readonly #secrets: ReturnType<typeof secretsWrites>
  /** Identities with which sessions are being opened. */
  readonly #read = new Map<number, AccountIdentity>()
  readonly irregularities = new Irregularities()

  constructor(world: StoreOptions) {
    this.#db = world.db
    this.#vault = world.vault
    this.#opened = new OpenedIdentities(world.vault)
    this.#node = world.node
    this.#world = world
    const { db } = world
    // A start opens all accounts, while calls ask for many of them.
    this.#accounts = sharedLookup(
      AT_ONCE,
      (ids) => db.query<AccountRow>(accountRows, [arrayLiteral(ids)]),
      ({ id }) => id,
      BETWEEN_READS_MS,
    )
    // Calls for other accounts do not wait for one whose row somebody has locked.
    const claimEach = (ids: readonly number[]) => this.#claimThese(ids, { waits: false })
    this.#claims = sharedLookup(AT_ONCE, claimEach, ({ credentialId }) => credentialId)
    // Bots call getMe as a sign of life: records of each call would cost more than all the rest of it.
    this.#identities = sharedLookup(
      AT_ONCE,
      (ids) => db.query<OwnedIdentityRow>(identityRows, [arrayLiteral(ids)]),
      ({ id }) => id,
    )
    this.#secrets = secretsWrites(db)
  }

  /** Rejects with `OwnershipLost` where another node that lives owns it; with `unavailable` where somebody keeps its rows locked. */
  async claim(credentialId: number): Promise<ClaimedCredential | undefined> {
    if (this.#node.isLeaving?.()) throw new OwnershipLost()
    const claimed =
      (await this.#claims.run(credentialId)) ??
      (await this.#claimLockedLast([credentialId], true))[0]
    if (claimed) {
      this.#world.claimed?.(claimed)
      return claimed
    }
    const [linked] = await this.#db.query<{ kept: boolean }>(isKept, [
      credentialId,
      this.#node.incarnation(),
    ])
    if (!linked) return undefined
    if (linked.kept) throw failed('unavailable', KEPT, { retryAfterSeconds: 1 })
    // Also where it is free by now: its owner has ended since the claim.
    throw new OwnershipLost()
  }

  /** The next page of linked credentials after `after` that belong to no node that lives. */
  async unowned(after: number, limit: number): Promise<number[]> {
    const rows = await this.#db.query<{ id: number }>(
      `select c.id from credential c join credential_log l on l.credential_id = c.id
        where c.id > $1 and c.deactivated_at is null and ${isFree} and l.owner is distinct from $2
        order by c.id limit $3`,
      [after, this.#node.incarnation(), limit],
    )
    return rows.map(({ id }) => id)
  }

  /**
   * Claims the given credentials that still have no owner, without those whose rows somebody keeps locked. A credential
   * that a call has already claimed for this node stays unchanged. `waits`: for seconds, for locked rows that become free.
   */
  async claimAll(credentialIds: readonly number[], waits = true): Promise<ClaimedCredential[]> {
    return this.#claimLockedLast(credentialIds, waits, 'l.owner is distinct from $2')
  }

  #claimLockedLast(ids: readonly number[], waits: boolean, which?: string) {
    return lockedLast(
      ids,
      (some, isWaiting) => this.#claimThese(some, { waits: isWaiting, which }),
      ({ credentialId }) => credentialId,
      waits,
    )
  }

  async #claimThese(
    ids: readonly number[],
    how: Parameters<typeof claimOf>[1],
  ): Promise<ClaimedCredential[]> {
    const { name, incarnation } = this.#node
    const values = [name, incarnation(), ids]
    return (await this.#db.query<Row>(claimOf(moveLines, how), values)).map(factsOf)
  }

  async account(credentialId: number): Promise<StoredAccount> {
    const row = await this.#accounts.run(credentialId)
    if (!row?.secrets) throw failed('not_found')
    const secrets = await this.#vault.open(secretsOf(credentialId), row.secrets).catch(toUnreadable)
    const identity = await this.identityOf(row).catch(toUnreadable)
    if (!identity) throw failed('not_found')
    this.#read.set(credentialId, identity)
    return {
      credentialId,
      epoch: row.epoch,
      link: row.links,
      identity,
      secrets: JSON.parse(secrets.toString()) as Json,
      checkpoint: row.checkpoint,
    }
  }

  async saveSecrets(owned: Owned, link: number, secrets: Json): Promise<void> {
    const { credentialId, epoch } = owned
    const sealed = await sealSecrets(this.#vault, credentialId, secrets)
    if (!(await this.#secrets.run({ owned: { credentialId, epoch }, link, sealed }))) {
      await this.#assertOwned(owned)
    }
  }

  /** A fenced write is silent, because nothing waits for it. */
  async saveIdentity({ credentialId, epoch }: Owned, identity: AccountIdentity): Promise<void> {
    // Most sessions report the identity that was just read for them, and no other code writes it.
    const read = this.#read.get(credentialId)
    this.#read.delete(credentialId)
    if (isDeepStrictEqual(read, identity)) return
    const found = await this.#identities.run(credentialId)
    const known = found && (await this.identityOf(found))
    if (!found || !known || isDeepStrictEqual(known, identity)) return
    const sealed = await sealIdentity(this.#vault, found.user_id, credentialId, identity)
    // A wiped identity stays wiped.
    await this.#db.query(
      `update credential set account = null, account_sealed = $3
        where id = $1 and epoch = $2 and (account is not null or account_sealed is not null)`,
      [credentialId, epoch, sealed],
    )
  }

  /** The account's identity; undefined once it was wiped. */
  async identity(credentialId: number): Promise<AccountIdentity | undefined> {
    const found = await this.#identities.run(credentialId)
    return found && (await this.identityOf(found))
  }

  identityOf(row: IdentityRow): Promise<AccountIdentity | undefined> {
    return this.#opened.of(row)
  }

  async saveDeletion(owned: Owned): Promise<void> {
    const saved = await this.#db.query(
      `update credential set deleting_at = coalesce(deleting_at, now())
        where id = $1 and epoch = $2 returning id`,
      [owned.credentialId, owned.epoch],
    )
    if (saved.length === 0) await this.#assertOwned(owned)
  }

  signedOut = (credentialId: number, link: number) => forgetLeft(this.#db, credentialId, link)

  /** The last statement marks the deletion as complete. */
  async deactivate(owned: Owned, isLeft: boolean): Promise<void> {
    const { credentialId, epoch } = owned
    const left = isLeft ? (await sealOwn(this.#db, this.#vault, credentialId))?.left : undefined
    const ended = await this.#db.query<{ key: number | null }>(
      `with old as (
         select * from credential where id = $1 and epoch = $2 and secrets is not null and $3::uuid is not null
       ), kept as (${keepLeft('$3', '$4', '$5')}
       ), ended as (
         update credential set secrets = null, account = null, account_sealed = null,
                native_id = '', deleting_at = coalesce(deleting_at, now()), state = 'deactivated',
                machine_state = 'deactivated', action = 'none', node = null, tags = '{}', pinned_node = null
          where id = $1 and epoch = $2 returning id
       ), revoked as (
         update api_key k set revoked_at = coalesce(revoked_at, now()) from ended
          where k.credential_id = ended.id returning k.id
       )
       select revoked.id as key from ended left join revoked on true`,
      [credentialId, epoch, left?.id, left?.secrets, this.#node.incarnation()],
    )
    if (ended.length === 0) return this.#assertOwned(owned)
    await this.#world.keysRevoked(ended.map(({ key }) => key).filter((key) => key !== null))
    await this.#vault.shred(`credential:${credentialId}`)
    await wipeAccount(this.#db, credentialId)
    this.irregularities.forget(credentialId)
    this.#world.health.forget([credentialId])
    this.#read.delete(credentialId)
    await this.#db.query(
      `update credential set deactivated_at = coalesce(deactivated_at, now())
        where id = $1 and epoch = $2`,
      [credentialId, epoch],
    )
  }

  /**
   * Releases the accounts that this node owns, without those whose rows somebody keeps locked. Its later writes for them are
   * fenced. `waits`: for seconds, for locked rows that become free.
   */
  async release(owned: readonly Owned[], waits = true): Promise<number[]> {
    const epochs = new Map(owned.map(({ credentialId, epoch }) => [credentialId, epoch]))
    const release = async (ids: readonly number[], isWaiting: boolean) => {
      const values = [ids, ids.map((id) => epochs.get(id))]
      const released = await this.#db.query<{ id: number }>(releaseOf(isWaiting), values)
      return released.map(({ id }) => id)
    }
    return lockedLast([...epochs.keys()], release, (id) => id, waits)
  }

  /**
   * Those of them that another node has claimed, in one statement. After a takeover the next owner uses the same session;
   * after a new link, a deletion or an erasure nobody does.
   */
  async fenced(owned: readonly Owned[]): Promise<LostCredential[]> {
    return this.#db.query<LostCredential>(
      {
        name: 'credential-fenced',
        text: `select o.id as "credentialId", o.epoch,
                      (c.linked_epoch > o.epoch or c.deleting_at is not null) is not false as "signsOut"
                 from unnest($1::bigint[], $2::bigint[]) as o (id, epoch)
                 left join credential c on c.id = o.id where c.epoch is distinct from o.epoch`,
      },
      // Of all accounts, each second: the driver makes a string of each element and escapes it.
      [
        arrayLiteral(owned.map(({ credentialId }) => credentialId)),
        arrayLiteral(owned.map(({ epoch }) => epoch)),
      ],
    )
  }

  async #assertOwned(owned: Owned): Promise<void> {
    const lost = await this.fenced([owned])
    if (lost.length === 0) return
    this.#world.fenced?.(lost)
    throw new OwnershipLost()
  }

  noteEvents(credentialId: number, happenings: readonly Happening[]): void {
    this.irregularities.add(credentialId, happenings)
  }

  record(transition: Transition): void {
    this.#world.timeline.add(transition)
  }

  /** Resolves once what was recorded so far can be read from the table; what was noted of health only for this credential. */
  async flush(credentialId?: number): Promise<void> {
    if (credentialId !== undefined) this.#world.health.release([credentialId])
    await Promise.all([this.#world.timeline.flush(), this.#world.health.flush()])
  }

  noteHealth(owned: Owned, health: Parameters<CredentialStore['noteHealth']>[1]): void {
    this.#world.health.add(owned, health)
  }
}

interface OwnedIdentityRow extends IdentityRow {
  readonly user_id: number
}

const identityRows = {
  name: 'identities',
  text: `select user_id, ${identityColumns} from credential where id = any($1::bigint[])`,
}

const accountRows = {
  name: 'accounts',
  text: `select c.id, c.epoch, c.links, c.account, c.account_sealed, c.secrets, c.include_channel_update_recovery, l.checkpoint
           from credential c join credential_log l on l.credential_id = c.id where c.id = any($1::bigint[])`,
}

/** Only what can never be read again ends an account: every other failure may pass. */
function toUnreadable(cause: unknown): never {
  throw cause instanceof UnreadableSecret ? new SecretsUnreadable({ cause }) : cause
}

const factsOf = (row: Row): ClaimedCredential => ({
  credentialId: row.id,
  userId: row.user_id,
  platform: row.platform,
  epoch: row.epoch,
  next: row.next_update_id,
  state: row.deleting_at ? 'deleting' : row.machine_state,
  reason: storedReason(row.reason),
  limitedUntil: row.limited_until?.getTime(),
  stateSince: row.state_since?.getTime(),
  ...(row.former !== null && { former: { name: row.former, hasReleased: row.released } }),
  settings: {
    includeSelfUpdates: row.include_self_updates,
    includeChannelUpdates: row.include_channel_updates,
    includeChannelUpdateRecovery: row.include_channel_update_recovery,
    includeDeletedUpdates: row.include_deleted_updates,
  },
})
