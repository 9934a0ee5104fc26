/** Usage figures on their way to the database, summed up by owner, hour and measure. */
import type { RequestRecord } from './request-record.ts'

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

export interface UsageTally {
  readonly size: number
  count(owner: UsageOwner, counts: UsageCounts, at: number): void
  countRequest(record: RequestRecord): void
  /** Hands out everything counted so far and starts anew. */
  take(): UsageRow[]
}

export function createUsageTally(): UsageTally {
  let rows = new Map<string, UsageRow>()

  const add = (owner: UsageOwner, at: number, measure: Measure, label: string, amount: number) => {
    if (amount === 0) return
    const { userId, credentialId = 0, apiKeyId = 0 } = owner
    const hour = at - (at % hourMs)
    const key = `${userId} ${credentialId} ${apiKeyId} ${hour} ${measure} ${label}`
    const row = rows.get(key)
    if (row) row.amount += amount
    else rows.set(key, { userId, credentialId, apiKeyId, hour, measure, label, amount })
  }

  return {
    get size() {
      return rows.size
    },
    count(owner, counts, at) {
      for (const name of Object.keys(counts) as (keyof UsageCounts)[]) {
        add(owner, at, measures[name], '', counts[name] ?? 0)
      }
    },
    countRequest({ at, userId, credentialId, apiKeyId, ...record }) {
      if (userId === null) return
      const owner = {
        userId,
        credentialId: credentialId ?? undefined,
        apiKeyId: apiKeyId ?? undefined,
      }
      add(owner, at, 'request', record.method, 1)
      if (record.errorCode !== null) add(owner, at, 'error', String(record.errorCode), 1)
      add(owner, at, 'bytes_in', '', record.requestBytes)
      add(owner, at, 'bytes_out', '', record.responseBytes)
    },
    take() {
      const taken = [...rows.values()]
      rows = new Map()
      return taken
    },
  }
}
