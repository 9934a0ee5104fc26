/** Which keys have webhooks: they are woken by what comes for them, when a rest is over, and after a start. */
import type { ApiKeyActor } from '../../actors/api-key.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'

export interface RosterOptions {
  readonly db: Database
  readonly log: Log
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
    const rows = await this.#options.db.query<Row>(
      `select k.id, k.credential_id, k.cursor < l.next_update_id - 1 as is_behind
         from webhook w
         join api_key k on k.id = w.api_key_id and k.revoked_at is null
         join credential_log l on l.credential_id = k.credential_id
        where w.sealed is not null and w.suspended_at is null`,
    )
    for (const row of rows) this.#add(row.credential_id, row.id)
    const behind = rows.filter(({ is_behind }) => is_behind)
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
        this.#options.log.warn({ err, apiKeyId }, 'a key with a webhook could not be woken')
        this.#later(apiKeyId)
      },
    )
  }

  /** Whoever sleeps though its rest is over: a queue that was lost, or was away, reminds nobody. */
  async wakeDue(): Promise<void> {
    const due = await this.#options.db.query<{ id: number }>(
      `select k.id from webhook w join api_key k on k.id = w.api_key_id
        where w.sealed is not null and w.suspended_at is null and w.due_at < $1
          and k.revoked_at is null and coalesce(k.expires_at > $1, true)`,
      [new Date()],
    )
    for (const { id } of due) if (!this.#options.peek(id)) this.wake(id)
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

  #later(apiKeyId: number) {
    const isKnown = [...this.#byCredential.values()].some((keys) => keys.has(apiKeyId))
    if (isKnown) this.#waking.add(apiKeyId)
    else this.#waking.delete(apiKeyId)
    const again = () => {
      this.#waking.delete(apiKeyId)
      this.wake(apiKeyId)
    }
    if (isKnown) setTimeout(again, AGAIN_MS).unref()
  }
}
