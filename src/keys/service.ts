/** Manages API keys: each change goes to the table first, then to the live actor. */
import { type ApiKeyActor, statePath } from '../../actors/api-key/actor.ts'
import type { Keeps } from '../../actors/ports/ports.ts'
import { keyStanding } from '../../machines/api-key/events.ts'
import { failed, RequestFailed, readBack } from '../../machines/model/failure.ts'
import type { Down } from '../../machines/supervision/machine.ts'
import { type Out, outError } from '../credentials/reasons.ts'
import type { RecordSource } from '../credentials/records.ts'
import type { Database } from '../database/database.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'
import { parseApiKey } from '../security/secrets.ts'
import {
  changeKey,
  createKey,
  holdKey,
  type KeyChange,
  type KeyLimits,
  type NewKey,
  revokeKey,
  rotateKey,
  type SharedBy,
} from './changes.ts'
import { type KeyGate, secretMatches } from './gate.ts'
import { findKey, type KeyQuery, listKeys, type StoredApiKey } from './records.ts'
import type { PostgresKeyStore } from './store.ts'

export interface KeyServiceOptions {
  readonly db: Database
  /** Reads what keys are shown with: the names of their accounts. */
  readonly source: Pick<RecordSource, 'db' | 'identity' | 'names'>
  readonly store: PostgresKeyStore
  /** The actor if it lives or is about to begin: one that begins later reads the table. */
  live(apiKeyId: number): Promise<ApiKeyActor | undefined>
  /** Which state of its supervision keeps the actor from beginning. */
  downOf?(apiKeyId: number): Down | undefined
  isSuspended?(userId: number): boolean
  readonly gate: KeyGate
  readonly limits: KeyLimits
  /** Has it deliver to its webhook. */
  wake(apiKeyId: number): void
  whyOut(credentialId: number): Out | undefined
  /** The keys of an account may want other updates now. */
  wantedChanged?(credentialId: number): void
  now(): number
}

export class KeyService {
  readonly #options: KeyServiceOptions
  readonly #refreshing = new Map<number, Promise<void>>()

  constructor(options: KeyServiceOptions) {
    this.#options = options
  }

  async list(userId: number, query: KeyQuery): Promise<ApiKeyRecord[]> {
    await this.#options.store.flush()
    const stored = await listKeys(this.#options.source, userId, query)
    return Promise.all(stored.map((key) => this.#withState(key, userId)))
  }

  /** Rejects with `not_found`, also for another user's key. */
  async find(userId: number, apiKeyId: number): Promise<ApiKeyRecord> {
    await this.#options.store.flush()
    const record = await findKey(this.#options.source, userId, apiKeyId)
    if (!record) throw failed('not_found')
    return this.#withState(record, userId)
  }

  /** As `find`; a revoked key can only be looked at. */
  async usable(userId: number, apiKeyId: number): Promise<ApiKeyRecord> {
    const record = await this.find(userId, apiKeyId)
    if (record.revoked_at !== null) throw failed('bad_request', 'the key is revoked')
    return record
  }

  /** Whether this is the key as its owner was shown it, or the one before while that still opens. */
  async matches(apiKeyId: number, key: string): Promise<boolean> {
    const given = parseApiKey(key)
    if (given?.id !== apiKeyId) return false
    return secretMatches(
      await this.#options.store.load(apiKeyId),
      given.secret,
      this.#options.now(),
    )
  }

  async create(key: NewKey): Promise<ApiKeyRecord & { key: string }> {
    const created = await createKey(this.#options.db, key, this.#options.limits)
    this.#options.gate.forget(created.id)
    this.#options.wantedChanged?.(key.credentialId)
    return { ...(await readBack(this.find(key.userId, created.id))), key: created.key }
  }

  async change(userId: number, apiKeyId: number, change: KeyChange): Promise<ApiKeyRecord> {
    const { credential_id, webhook } = await this.usable(userId, apiKeyId)
    await changeKey(this.#options.db, apiKeyId, change)
    this.#options.wantedChanged?.(credential_id)
    await this.#refresh(apiKeyId)
    // It may receive again, and no call starts the actor of a key with a webhook.
    if (webhook && !(await this.#options.live(apiKeyId))) this.#options.wake(apiKeyId)
    return readBack(this.find(userId, apiKeyId))
  }

  /** Sets which calls are kept with their parameters and answers. A revoked key has no calls. */
  async keepCalls(userId: number, apiKeyId: number, keepsCalls: Keeps): Promise<void> {
    await this.usable(userId, apiKeyId)
    const unchanged = { name: undefined, scopes: undefined, expiresAt: undefined }
    await changeKey(this.#options.db, apiKeyId, { ...unchanged, keepsCalls })
    await this.#refresh(apiKeyId)
  }

  async rotate(
    userId: number,
    apiKeyId: number,
    overlapSeconds: number,
    by?: SharedBy,
  ): Promise<ApiKeyRecord & { key: string }> {
    await this.usable(userId, apiKeyId)
    const key = await rotateKey(this.#options.db, apiKeyId, overlapSeconds, by)
    if (overlapSeconds === 0) await this.#turnCallersOut(apiKeyId)
    else await readBack(this.#refresh(apiKeyId))
    return { ...(await readBack(this.find(userId, apiKeyId))), key }
  }

  async revoke(userId: number, apiKeyId: number): Promise<void> {
    const { credential_id } = await this.find(userId, apiKeyId)
    if (!(await revokeKey(this.#options.db, apiKeyId))) throw failed('not_found')
    await this.revoked(credential_id, [apiKeyId])
  }

  /** These keys of one account were revoked in the table: their actors end. */
  async revoked(credentialId: number, apiKeyIds: readonly number[]): Promise<void> {
    this.#options.wantedChanged?.(credentialId)
    await endRevoked(apiKeyIds, (id) => this.#options.live(id))
  }

  /** From now on the key belongs to what the end of the share can revoke. */
  hold(apiKeyId: number, by: SharedBy): Promise<void> {
    return holdKey(this.#options.db, apiKeyId, by)
  }

  async #withState(key: StoredApiKey, userId: number): Promise<ApiKeyRecord> {
    const actor = await this.#options.live(key.api_key_id)
    const down = this.#options.downOf?.(key.api_key_id)
    const usable = keyState(key, actor, down, this.#options.now())
    const isSuspended = usable.startsWith('usable') && this.#options.isSuspended?.(userId)
    const state = isSuspended ? 'suspended' : usable
    const webhook = key.webhook && this.#asItStands(key.webhook, key.credential_id, actor)
    return { ...key, webhook, state }
  }

  /** Adds what only live actors know: that the delivery crashed, and that the account is out. */
  #asItStands(
    webhook: NonNullable<StoredApiKey['webhook']>,
    credentialId: number,
    actor: ApiKeyActor | undefined,
  ): StoredApiKey['webhook'] {
    const crashed = crashOf(actor)
    const out = this.#options.whyOut(credentialId)
    const error = out && outError(out)
    return {
      ...webhook,
      ...(crashed && { state: crashed }),
      ...(error && { last_error_date: error.at, last_error_message: error.message }),
    }
  }

  /** Every caller with the old secret is refused; the next call gets a new actor. */
  async #turnCallersOut(apiKeyId: number): Promise<void> {
    const actor = await this.#options.live(apiKeyId)
    if (!actor) return
    const { hasWebhook } = actor
    await unlessEnded(actor, actor.rotated())
    actor.stop()
    // No call starts the actor of a key with a webhook, but its updates must be delivered.
    if (hasWebhook) actor.settled.then(() => this.#options.wake(apiKeyId))
  }

  /** One after another, so that what was read from the table first does not arrive last. */
  #refresh(apiKeyId: number): Promise<void> {
    const before = this.#refreshing.get(apiKeyId) ?? Promise.resolve()
    const refreshing = before.then(
      () => this.#refreshNow(apiKeyId),
      () => this.#refreshNow(apiKeyId),
    )
    this.#refreshing.set(apiKeyId, refreshing)
    return refreshing.finally(() => {
      if (this.#refreshing.get(apiKeyId) === refreshing) this.#refreshing.delete(apiKeyId)
    })
  }

  async #refreshNow(apiKeyId: number): Promise<void> {
    const actor = await this.#options.live(apiKeyId)
    const facts = actor && (await this.#options.store.load(apiKeyId))
    if (facts) await unlessEnded(actor, actor.refresh(facts))
  }
}

/** The next actor of the key begins without crashes of its delivery. */
function crashOf(actor: ApiKeyActor | undefined): 'crashed' | 'failed' | undefined {
  const value = actor?.delivery?.snapshot.value
  return value === 'crashed' || value === 'failed' ? value : undefined
}

/** Ends the actors of keys that were revoked in the table; one that cannot end keeps no other one alive. */
export async function endRevoked(
  apiKeyIds: readonly number[],
  live: KeyServiceOptions['live'],
): Promise<void> {
  const end = async (id: number) => {
    const actor = await live(id)
    if (actor) await unlessEnded(actor, actor.revoke())
  }
  await Promise.all(apiKeyIds.map(end))
}

/** An actor that ended meanwhile needs no change: the table has it, and the next actor reads the table. */
const unlessEnded = (actor: ApiKeyActor, asked: Promise<void>): Promise<void> =>
  asked.catch((cause) => {
    const { value } = actor.snapshot
    if (actor.isActive && value !== 'revoked' && value !== 'rotated') throw cause
  })

/** Maps `unauthorized` to `bad_request`: the owner is signed in, the key has ended. */
export const asOwner = <Result>(asked: Promise<Result>): Promise<Result> =>
  asked.catch((cause) => {
    const isEnd = cause instanceof RequestFailed && cause.failure.code === 'unauthorized'
    throw isEnd ? failed('bad_request', 'the key is revoked or has expired') : cause
  })

/** The state of the key's machine: the live actor's, or the one in which the next actor would begin. */
function keyState(
  key: StoredApiKey,
  actor: Pick<ApiKeyActor, 'snapshot'> | undefined,
  down: Down | undefined,
  now: number,
): string {
  // A live key finds out at the next call that it has expired.
  const standing = keyStanding(key, now)
  if (standing !== 'usable') return standing
  if (down) return down
  if (actor) return statePath(actor.snapshot.value)
  return key.webhook ? 'usable.webhook' : 'usable.quiet'
}
