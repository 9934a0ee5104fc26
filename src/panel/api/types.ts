/** The records of the management API, as far as the panel shows them. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_before: string | null
}

export interface User {
  readonly user_id: number
  readonly phone: string
  readonly created_at: string
}

export type Settings = Readonly<
  Record<
    | 'include_self_updates'
    | 'include_channel_updates'
    | 'include_channel_update_recovery'
    | 'include_deleted_updates',
    boolean
  >
>

export interface Credential {
  readonly credential_id: number
  readonly platform: string
  readonly state: string
  readonly reason: string | null
  readonly action: string
  readonly account: {
    readonly id: number
    readonly first_name: string
    readonly last_name?: string
    readonly username?: string
    readonly phone?: string
  }
  readonly settings: Settings
  readonly health: {
    readonly healthy: boolean | null
    readonly checked_at: string | null
    readonly last_event_at: string | null
    readonly latency_ms: number | null
  }
  readonly created_at: string
  readonly online_since: string | null
  readonly node: string | null
}

export interface Summary {
  readonly total: number
  readonly by_state: Readonly<Record<string, number>>
  readonly by_platform: Readonly<Record<string, number>>
  readonly needing_action: number
}

/** Of the stream of all credentials. */
export interface Change {
  readonly credential_id: number
  readonly at: string
  readonly from: string
  readonly to: string
  readonly event: string
  readonly reason: string | null
  readonly state: string
  readonly action: string
}

/** Of the stored timeline. */
export interface Transition {
  readonly at: string
  readonly from: string
  readonly to: string
  readonly event: string
  readonly reason: string | null
  readonly actor: string
  readonly node: string
  readonly duration_ms: number
  /** How often it happened in one loop of reconnects, and when for the last time. */
  readonly count: number
  readonly last_at: string
}

export interface LiveTransition extends Omit<Transition, 'count' | 'last_at'> {
  readonly state: string
  /** It has been told in this loop of reconnects before. */
  readonly repeats: boolean
  readonly action: string
}

export interface ChartState {
  readonly path: string
  readonly parent: string | null
  readonly type: string
  readonly initial: boolean
  readonly meta: Readonly<Record<string, unknown>>
  readonly invokes: readonly string[]
}

export interface ChartTransition {
  readonly from: string | null
  readonly to: string | null
  readonly event: string
  readonly guard: string | null
}

export interface Chart {
  readonly name: string
  readonly states: readonly ChartState[]
  readonly transitions: readonly ChartTransition[]
}

export interface HealthReport {
  readonly healthy: boolean
  readonly state: string
  readonly checked_at: string
  readonly checks: readonly {
    readonly check: string
    readonly ok: boolean | null
    readonly latency_ms: number | null
    readonly detail: string
    readonly code: string | null
    readonly remedy: string | null
  }[]
}

export interface Webhook {
  readonly url: string
  readonly has_custom_certificate: boolean
  readonly pending_update_count: number
  readonly last_error_date?: number
  readonly last_error_message?: string
  readonly max_connections?: number
  readonly allowed_updates?: readonly string[]
  readonly state: 'delivering' | 'resting' | 'suspended' | 'crashed' | 'failed'
  readonly next_attempt_at?: string
}

export interface ApiKey {
  readonly api_key_id: number
  readonly name: string
  readonly credential_id: number
  readonly scopes: readonly string[]
  readonly key_hint: string
  /** Where its machine is, as a path. */
  readonly state: string
  readonly receive_mode: 'none' | 'polling' | 'webhook'
  readonly webhook: Webhook | null
  readonly cursor: number
  readonly pending_update_count: number
  readonly dropped_update_count: number
  readonly dropped_at: string | null
  readonly last_used_at: string | null
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

export interface Backlog {
  readonly pending_update_count: number
  readonly oldest_at: string | null
  /** The hours in which something came that still waits. */
  readonly series: readonly { readonly at: string; readonly updates: number }[]
}

export interface LinkField {
  readonly name: string
  readonly label: string
  readonly secret: boolean
  readonly required: boolean
}

export interface Platform {
  readonly platform: string
  readonly name: string
  readonly available: boolean
  readonly unavailable_reason?: string
  readonly link: readonly { readonly method: string; readonly fields: readonly LinkField[] }[]
}

export interface LinkSession {
  readonly session_id: string
  readonly platform: string
  readonly state: string
  readonly method: string
  readonly expires_in: number
  readonly resend_in: number | null
  readonly sent_via?: string
  readonly code_length: number | null
  readonly password_hint: string | null
  readonly show?: { readonly form: string; readonly value: string; readonly expires_in: number }
  readonly attempts_left: number
  readonly reason?: string
  readonly credential: Credential | null
}
