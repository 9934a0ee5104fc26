/** Wakes the keys that have webhooks: for new updates, at the end of a rest, and after a claim. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Logger } from '../../actors/ports/ports.ts'
import { latestDue } from '../../machines/webhook/progress.ts'
import type { Database } from '../database/database.ts'

interface WebhookWakerOptions {
  readonly db: Database
  readonly logger: Logger
  /** The credentials that this node owns. */
  readonly owned: { has(credentialId: number): boolean; keys(): Iterable<number> }
  peek(apiKeyId: number): unknown
  find(apiKeyId: number): Promise<ApiKeyActor>
}

interface WebhookRow {
  readonly id: number
  readonly credential_id: number
  readonly is_behind: boolean
}

const RETRY_MS = 1_000

export class WebhookWaker {
  readonly #options: WebhookWakerOptions
  readonly #byCredential = new Map<number, Set<number>>()
  /** Keys that are waking now, or are tried again soon. */
  readonly #waking = new Set<number>()
  /** Credentials whose webhooks are looked for again when the timer is over. */
  readonly #missed = new Set<number>()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(options: WebhookWakerOptions) {
    this.#options = options
  }

  /** This node has claimed them: wakes their keys that have updates to deliver, and resolves with the number of those. */
  async wakeBehind(credentialIds: readonly number[]): Promise<number> {
    if (credentialIds.length === 0) return 0
    const rows = await this.#options.db.query<WebhookRow>(
      `select k.id, k.credential_id, k.cursor < l.next_update_id - 1 as is_behind
         from webhook w
         join api_key k on k.id = w.api_key_id and k.revoked_at is null
         join credential_log l on l.credential_id = k.credential_id
        where w.sealed is not null and w.suspended_at is null and k.credential_id = any($1::bigint[])`,
      [credentialIds],
    )
    const owned = rows.filter((row) => this.#options.owned.has(row.credential_id))
    for (const row of owned) this.#add(row.credential_id, row.id)
    const behind = owned.filter(({ is_behind }) => is_behind)
    for (const { id } of behind) this.wake(id)
    return behind.length
  }

  /** This node has claimed the credential: wakes its keys that have updates to deliver, once the database names them. */
  async claimed(credentialId: number): Promise<void> {
    if (this.#isStopped || !this.#options.owned.has(credentialId)) return
    await this.#look([credentialId])
  }

  /** Updates have waited while the user was suspended: wakes the keys that may deliver them now. */
  async resumed(credentialIds: readonly number[]): Promise<void> {
    if (!this.#isStopped) await this.#look(credentialIds)
  }

  async #look(credentialIds: readonly number[]): Promise<void> {
    await this.wakeBehind(credentialIds).catch((err) => {
      const credentials = credentialIds.length
      this.#options.logger.warn(
        { err, credentials },
        'the webhooks of credentials were not looked for yet',
      )
      for (const id of credentialIds) this.#missed.add(id)
      this.#timer ??= setTimeout(() => void this.#lookAgain(), RETRY_MS).unref()
    })
  }

  /** All that were missed are looked for together: the database may just be coming back. */
  async #lookAgain(): Promise<void> {
    this.#timer = undefined
    if (this.#isStopped) return
    const owned = [...this.#missed].filter((id) => this.#options.owned.has(id))
    this.#missed.clear()
    await this.#look(owned)
  }

  /** Another node has claimed the credential, and delivers its updates. */
  forget(credentialId: number): void {
    this.#byCredential.delete(credentialId)
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
        this.#retryLater(apiKeyId)
      },
    )
  }

  /** A rest is over. The reminder may come to any node: false at one that does not own the key. */
  remind(apiKeyId: number): boolean {
    const isKnown = this.#isKnown(apiKeyId)
    if (isKnown) this.wake(apiKeyId)
    return isKnown
  }

  /**
   * Wakes keys that sleep although their rest is over: a queue that was lost or away sends no reminders. A rest that ends later
   * than any may was told by a clock that was ahead.
   */
  async wakeDue(): Promise<void> {
    const owned = [...this.#options.owned.keys()]
    if (owned.length === 0) return
    const now = Date.now()
    const due = await this.#options.db.query<{ id: number }>(
      `select k.id from webhook w join api_key k on k.id = w.api_key_id
        where w.sealed is not null and w.suspended_at is null and (w.due_at < $1 or w.due_at > $3)
          and k.revoked_at is null and coalesce(k.expires_at > $1, true)
          and k.credential_id = any($2::bigint[])`,
      [new Date(now), owned, new Date(latestDue(now))],
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

  /** A key that crashes is woken again, because it may have more to deliver. */
  #watch(apiKeyId: number, actor: ApiKeyActor) {
    if (actor.snapshot.value === 'revoked') this.changed(actor, false)
    actor.closed.then((cause) => {
      if (cause !== undefined && !this.#waking.has(apiKeyId)) this.#retryLater(apiKeyId)
    })
  }

  #isKnown(apiKeyId: number): boolean {
    for (const keys of this.#byCredential.values()) if (keys.has(apiKeyId)) return true
    return false
  }

  #retryLater(apiKeyId: number) {
    if (!this.#isKnown(apiKeyId)) {
      this.#waking.delete(apiKeyId)
      return
    }
    this.#waking.add(apiKeyId)
    const retry = () => {
      this.#waking.delete(apiKeyId)
      this.wake(apiKeyId)
    }
    setTimeout(retry, RETRY_MS).unref()
  }
}
