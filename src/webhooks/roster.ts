/** Which keys have webhooks: they are woken by what comes for them, by a reminder, and after a start. */
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
    if (this.#isStopped) return
    this.#options
      .find(apiKeyId)
      .then((actor) => this.#watch(apiKeyId, actor))
      .catch((err) => {
        this.#options.log.warn({ err, apiKeyId }, 'a key with a webhook could not be woken')
        this.#later(apiKeyId)
      })
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
      if (cause !== undefined) this.#later(apiKeyId)
    })
  }

  #later(apiKeyId: number) {
    const isKnown = [...this.#byCredential.values()].some((keys) => keys.has(apiKeyId))
    if (isKnown) setTimeout(() => this.wake(apiKeyId), AGAIN_MS).unref()
  }
}
