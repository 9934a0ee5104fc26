/** The keys that have webhooks. Wakes them for new updates, at the end of a rest, and after a start. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import type { Database } from '../database/database.ts'

interface RosterOptions {
  readonly db: Database
  readonly logger: Logger
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
  /** Keys that are waking now, or are tried again soon. */
  readonly #waking = new Set<number>()
  #isStopped = false

  constructor(options: RosterOptions) {
    this.#options = options
  }

  /** Wakes the keys that have updates to deliver; resolves with their number. */
  async start(): Promise<number> {
    return this.#take(undefined)
  }

  /** This node has claimed the credential: wakes its keys that have updates to deliver. */
  async begin(credentialId: number): Promise<void> {
    await this.#take(credentialId).catch((err) => {
      this.#options.logger.warn(
        { err, credentialId },
        'the webhooks of a credential were not looked for',
      )
    })
  }

  /** Another node has claimed the credential, and delivers its updates. */
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

  /** The webhook of a live key was set or deleted. */
  changed(actor: ApiKeyActor, hasWebhook: boolean): void {
    const { apiKeyId, credentialId } = actor.facts
    const keys = this.#byCredential.get(credentialId)
    if (hasWebhook && !keys?.has(apiKeyId)) {
      this.#add(credentialId, apiKeyId)
      this.#watch(apiKeyId, actor)
    } else if (!hasWebhook) keys?.delete(apiKeyId)
    if (keys?.size === 0) this.#byCredential.delete(credentialId)
  }

  /** Updates were stored: wakes sleeping keys. Keys that are awake listen to the log. */
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

  /** A rest is over. The reminder may come to any node; only the owner of the key acts on it. */
  remind(apiKeyId: number): void {
    if (this.#isKnown(apiKeyId)) this.wake(apiKeyId)
  }

  /** Wakes keys that sleep although their rest is over: a queue that was lost or away sends no reminders. */
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

  /** A key that crashes is woken again, because it may have more to deliver. */
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
