/** Where keys are managed: the table is changed first, then the live actor is told. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import { failed, RequestFailed } from '../../machines/model/failure.ts'
import { type Out, outError } from '../credentials/out-error.ts'
import type { Database } from '../database/database.ts'
import type { ApiKeyRecord } from '../records/api-key.ts'
import { parseApiKey } from '../security/secrets.ts'
import {
  changeKey,
  createKey,
  type KeyChange,
  type KeyLimits,
  type NewKey,
  revokeKey,
  rotateKey,
} from './changes.ts'
import type { KeyGate } from './gate.ts'
import { opens } from './opens.ts'
import { findKey, listKeys, type StoredApiKey } from './records.ts'
import { keyState } from './state.ts'
import type { PostgresKeyStore } from './store.ts'

export interface KeyDeskOptions {
  readonly db: Database
  readonly store: PostgresKeyStore
  /** The actor if it lives or is just waking: a sleeping one reads the table when it wakes. */
  live(apiKeyId: number): Promise<ApiKeyActor | undefined>
  readonly gate: KeyGate
  readonly limits: KeyLimits
  /** Has it deliver to its webhook. */
  wake(apiKeyId: number): void
  whyOut(credentialId: number): Out | undefined
  now(): number
}

export class KeyDesk {
  readonly #options: KeyDeskOptions
  readonly #telling = new Map<number, Promise<void>>()

  constructor(options: KeyDeskOptions) {
    this.#options = options
  }

  async list(
    userId: number,
    page: { limit: number; before: number | undefined },
  ): Promise<ApiKeyRecord[]> {
    await this.#options.store.flush()
    const stored = await listKeys(this.#options.db, userId, page)
    return Promise.all(stored.map((key) => this.#withState(key)))
  }

  /** Rejects with `not_found`, also for another user's key. */
  async find(userId: number, apiKeyId: number): Promise<ApiKeyRecord> {
    await this.#options.store.flush()
    const record = await findKey(this.#options.db, userId, apiKeyId)
    if (!record) throw failed('not_found')
    return this.#withState(record)
  }

  /** As `find`; a revoked key can only be looked at. */
  async usable(userId: number, apiKeyId: number): Promise<ApiKeyRecord> {
    const record = await this.find(userId, apiKeyId)
    if (record.revoked_at !== null) throw failed('bad_request', 'the key is revoked')
    return record
  }

  /** Whether this is the key as its owner was shown it, or the one before while that still opens. */
  async opens(apiKeyId: number, key: string): Promise<boolean> {
    const given = parseApiKey(key)
    if (given?.id !== apiKeyId) return false
    return opens(await this.#options.store.load(apiKeyId), given.secret, this.#options.now())
  }

  async create(key: NewKey): Promise<ApiKeyRecord & { key: string }> {
    const created = await createKey(this.#options.db, key, this.#options.limits)
    this.#options.gate.forget(created.id)
    return { ...(await this.find(key.userId, created.id)), key: created.key }
  }

  async change(userId: number, apiKeyId: number, change: KeyChange): Promise<ApiKeyRecord> {
    await this.usable(userId, apiKeyId)
    await changeKey(this.#options.db, apiKeyId, change)
    await this.#tell(apiKeyId)
    return this.find(userId, apiKeyId)
  }

  async rotate(
    userId: number,
    apiKeyId: number,
    overlapSeconds: number,
  ): Promise<ApiKeyRecord & { key: string }> {
    await this.usable(userId, apiKeyId)
    const key = await rotateKey(this.#options.db, apiKeyId, overlapSeconds)
    if (overlapSeconds === 0) await this.#turnCallersOut(apiKeyId)
    else await this.#tell(apiKeyId)
    return { ...(await this.find(userId, apiKeyId)), key }
  }

  async revoke(userId: number, apiKeyId: number): Promise<void> {
    await this.find(userId, apiKeyId)
    if (!(await revokeKey(this.#options.db, apiKeyId))) throw failed('not_found')
    const actor = await this.#options.live(apiKeyId)
    if (actor) await told(actor, actor.revoke())
  }

  async #withState(key: StoredApiKey): Promise<ApiKeyRecord> {
    const actor = await this.#options.live(key.api_key_id)
    const state = keyState(key, actor, this.#options.now())
    const webhook = key.webhook && this.#asItStands(key.webhook, key.credential_id, actor)
    return { ...key, webhook, state }
  }

  /** What is known to those who live: that its delivery crashed, and that its account is out. */
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

  /** Every caller with the old secret is turned out; the next call gets a new actor. */
  async #turnCallersOut(apiKeyId: number): Promise<void> {
    const actor = await this.#options.live(apiKeyId)
    if (!actor) return
    const { hasWebhook } = actor
    await told(actor, actor.rotated())
    actor.stop()
    // No call wakes a key with a webhook, whose updates have to be delivered all the same.
    if (hasWebhook) actor.settled.then(() => this.#options.wake(apiKeyId))
  }

  /** One after another: who read the table first must not be the last to tell of it. */
  #tell(apiKeyId: number): Promise<void> {
    const before = this.#telling.get(apiKeyId) ?? Promise.resolve()
    const telling = before.then(
      () => this.#tellNow(apiKeyId),
      () => this.#tellNow(apiKeyId),
    )
    this.#telling.set(apiKeyId, telling)
    return telling.finally(() => {
      if (this.#telling.get(apiKeyId) === telling) this.#telling.delete(apiKeyId)
    })
  }

  async #tellNow(apiKeyId: number): Promise<void> {
    const actor = await this.#options.live(apiKeyId)
    const facts = actor && (await this.#options.store.load(apiKeyId))
    if (facts) await told(actor, actor.refresh(facts))
  }
}

/** The next actor of the key begins with nothing against its delivery. */
function crashOf(actor: ApiKeyActor | undefined): 'crashed' | 'failed' | undefined {
  const value = actor?.delivery?.snapshot.value
  return value === 'crashed' || value === 'failed' ? value : undefined
}

/** The table has it already: an actor that ended meanwhile need not know, and the next one reads the table. */
const told = (actor: ApiKeyActor, telling: Promise<void>): Promise<void> =>
  telling.catch((cause) => {
    const { value } = actor.snapshot
    if (actor.isActive && value !== 'revoked' && value !== 'rotated') throw cause
  })

/** What an owner asks of a key's actor: that the key has ended does not make them a stranger. */
export const asOwner = <Result>(asked: Promise<Result>): Promise<Result> =>
  asked.catch((cause) => {
    const isEnd = cause instanceof RequestFailed && cause.failure.code === 'unauthorized'
    throw isEnd ? failed('bad_request', 'the key is revoked or has expired') : cause
  })
