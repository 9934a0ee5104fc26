/** Which keys have webhooks: they are woken by what comes for them, when a rest is over, and after a start. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'

export interface RosterOptions {
  readonly db: Database
  readonly logger: Log
  /** Whether this node owns the credential. */
  owns(credentialId: number): boolean
  peek(apiKeyId: number): unknown
  find(apiKeyId: number): Promise<ApiKeyActor>
}

interface Row {
  readonly id: number
  readonly credential_id: number
  readonly is_behind: boolean
}

const AGAIN_MS = 1_000

export class Roster {
  readonly #options: RosterOptions
  readonly #byCredential = new Map<number, Set<number>>()
  /** Those that are just coming to life, or are tried again in a moment. */
  readonly #waking = new Set<number>()
  #isStopped = false

  constructor(options: RosterOptions) {
    this.#options = options
  }

  /** Resolves with how many keys have something to deliver; those are woken. */
  async start(): Promise<number> {
    return this.#take(undefined)
  }

  /** The credential was claimed by itself: its keys that have something to deliver are woken. */
  async begin(credentialId: number): Promise<void> {
    await this.#take(credentialId).catch((err) => {
      this.#options.logger.warn(
        { err, credentialId },
        'the webhooks of a credential were not looked for',
      )
    })
  }

  /** Another node has claimed the credential, and delivers for it. */
  forget(credentialId: number): void {
    this.#byCredential.delete(credentialId)
  }

  async #take(credentialId: number | undefined): Promise<number> {
    const rows = await this.#options.db.query<Row>(
      `select k.id, k.credential_id, k.cursor < l.next_update_id - 1 as is_behind
         from webhook w
         join api_key k on k.id = w.api_key_id and k.revoked_at is null
         join credential_log l on l.credential_id = k.credential_id
        where w.sealed is not null and w.suspended_at is null
          and ($1::bigint is null or k.credential_id = $1)`,
      [credentialId ?? null],
    )
    const owned = rows.filter((row) => this.#options.owns(row.credential_id))
    for (const row of owned) this.#add(row.credential_id, row.id)
    const behind = owned.filter(({ is_behind }) => is_behind)
    for (const { id } of behind) this.wake(id)
    return behind.length
  }

  /** A live key was given a webhook, or has none any more. */
  changed(actor: ApiKeyActor, hasWebhook: boolean): void {
    const { apiKeyId, credentialId } = actor.facts
    const keys = this.#byCredential.get(credentialId)
    if (hasWebhook && !keys?.has(apiKeyId)) {
      this.#add(credentialId, apiKeyId)
      this.#watch(apiKeyId, actor)
    } else if (!hasWebhook) keys?.delete(apiKeyId)
    if (keys?.size === 0) this.#byCredential.delete(credentialId)
  }

  /** Updates were stored: keys that sleep are woken; those awake hear it themselves. */
  received(credentialId: number): void {
    for (const apiKeyId of this.#byCredential.get(credentialId) ?? []) {
      if (!this.#options.peek(apiKeyId)) this.wake(apiKeyId)
    }
  }

  wake(apiKeyId: number): void {
    if (this.#isStopped || this.#waking.has(apiKeyId)) return
    this.#waking.add(apiKeyId)
    this.#options.find(apiKeyId).then(
      (actor) => {
        this.#waking.delete(apiKeyId)
        this.#watch(apiKeyId, actor)
      },
      (err) => {
        this.#options.logger.warn({ err, apiKeyId }, 'a key with a webhook could not be woken')
        this.#later(apiKeyId)
      },
    )
  }

  /** The time of a rest is over: the reminder may come to any node, and only the owner has something to do. */
  remind(apiKeyId: number): void {
    if (this.#isKnown(apiKeyId)) this.wake(apiKeyId)
  }

  /** Whoever sleeps though its rest is over: a queue that was lost, or was away, reminds nobody. */
  async wakeDue(): Promise<void> {
    const due = await this.#options.db.query<{ id: number; credential_id: number }>(
      `select k.id, k.credential_id from webhook w join api_key k on k.id = w.api_key_id
        where w.sealed is not null and w.suspended_at is null and w.due_at < $1
          and k.revoked_at is null and coalesce(k.expires_at > $1, true)`,
      [new Date()],
    )
    for (const { id, credential_id } of due) {
      if (this.#options.owns(credential_id) && !this.#options.peek(id)) this.wake(id)
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  #add(credentialId: number, apiKeyId: number) {
    const keys = this.#byCredential.get(credentialId) ?? new Set()
    this.#byCredential.set(credentialId, keys.add(apiKeyId))
  }

  /** One that crashes has not delivered everything. */
  #watch(apiKeyId: number, actor: ApiKeyActor) {
    if (actor.snapshot.value === 'revoked') this.changed(actor, false)
    actor.closed.then((cause) => {
      if (cause !== undefined && !this.#waking.has(apiKeyId)) this.#later(apiKeyId)
    })
  }

  #isKnown(apiKeyId: number): boolean {
    for (const keys of this.#byCredential.values()) if (keys.has(apiKeyId)) return true
    return false
  }

  #later(apiKeyId: number) {
    const isKnown = this.#isKnown(apiKeyId)
    if (isKnown) this.#waking.add(apiKeyId)
    else this.#waking.delete(apiKeyId)
    const again = () => {
      this.#waking.delete(apiKeyId)
      this.wake(apiKeyId)
    }
    if (isKnown) setTimeout(again, AGAIN_MS).unref()
  }
}
