/** Answered requests as the log keeps them, and usage figures on their way to the database, summed up by owner and hour. */
import type { FailureReason, Params } from '../../machines/model/reason.ts'

/** One answered request as the log keeps it: what its owner may see, nothing secret. */
export interface RequestRecord {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly requestId: string
  readonly userId: number | null
  readonly apiKeyId: number | null
  readonly credentialId: number | null
  /** A bot method's name, or the verb and route pattern of a management call. */
  readonly method: string
  readonly status: number
  readonly errorCode: number | null
  readonly description: string | null
  /** Why it failed, where the error code alone does not say it. */
  readonly reason: FailureReason | null
  readonly params: Params | null
  readonly durationMs: number
  readonly requestBytes: number
  readonly responseBytes: number
  readonly ip: string
  readonly userAgent: string | null
}

/** Whose figures they are. What belongs to no key or no credential leaves it out. */
export interface UsageOwner {
  readonly userId: number
  readonly credentialId?: number | undefined
  readonly apiKeyId?: number | undefined
}

/** What is counted beside the requests themselves. */
export interface UsageCounts {
  readonly updatesReceived?: number
  readonly updatesDelivered?: number
  readonly webhookAttempts?: number
  readonly webhookFailures?: number
  readonly bytesIn?: number
  readonly bytesOut?: number
}

/** `request` is counted by method, `error` by code; the others have no label. */
export type Measure =
  | 'request'
  | 'error'
  | 'updates_received'
  | 'updates_delivered'
  | 'webhook_attempts'
  | 'webhook_failures'
  | 'bytes_in'
  | 'bytes_out'

export interface UsageRow {
  readonly userId: number
  readonly credentialId: number
  readonly apiKeyId: number
  /** Milliseconds since 1970. */
  readonly hour: number
  readonly measure: Measure
  readonly label: string
  amount: number
}

const hourMs = 3_600_000

const measures: Readonly<Record<keyof UsageCounts, Measure>> = {
  updatesReceived: 'updates_received',
  updatesDelivered: 'updates_delivered',
  webhookAttempts: 'webhook_attempts',
  webhookFailures: 'webhook_failures',
  bytesIn: 'bytes_in',
  bytesOut: 'bytes_out',
}

export class UsageTally {
  #rows = new Map<string, UsageRow>()

  get size(): number {
    return this.#rows.size
  }

  count(owner: UsageOwner, counts: UsageCounts, at: number): void {
    for (const name of Object.keys(counts) as (keyof UsageCounts)[]) {
      this.#add(owner, at, measures[name], '', counts[name] ?? 0)
    }
  }

  countRequest({ at, userId, credentialId, apiKeyId, ...record }: RequestRecord): void {
    if (userId === null) return
    const owner = {
      userId,
      credentialId: credentialId ?? undefined,
      apiKeyId: apiKeyId ?? undefined,
    }
    this.#add(owner, at, 'request', record.method, 1)
    if (record.errorCode !== null) this.#add(owner, at, 'error', String(record.errorCode), 1)
    this.#add(owner, at, 'bytes_in', '', record.requestBytes)
    this.#add(owner, at, 'bytes_out', '', record.responseBytes)
  }

  /** Hands out everything counted so far and starts anew. */
  take(): UsageRow[] {
    const taken = [...this.#rows.values()]
    this.#rows = new Map()
    return taken
  }

  #add(owner: UsageOwner, at: number, measure: Measure, label: string, amount: number): void {
    if (amount === 0) return
    const { userId, credentialId = 0, apiKeyId = 0 } = owner
    const hour = at - (at % hourMs)
    const key = `${userId} ${credentialId} ${apiKeyId} ${hour} ${measure} ${label}`
    const row = this.#rows.get(key)
    if (row) row.amount += amount
    else this.#rows.set(key, { userId, credentialId, apiKeyId, hour, measure, label, amount })
  }
}
