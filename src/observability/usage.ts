/** Usage by hour or day: counted as requests end, and read back as a series without holes. */
import type { FailureReason, Params } from '../../machines/model/reason.ts'
import type { Queryable } from '../database/database.ts'

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

/** The owner of the figures. Requests without a key or credential leave these out. */
export interface UsageOwner {
  readonly userId: number
  readonly credentialId?: number | undefined
  readonly apiKeyId?: number | undefined
}

/** The counters beside the requests themselves. */
export interface UsageCounts {
  readonly updatesReceived?: number
  readonly updatesDelivered?: number
  readonly webhookAttempts?: number
  readonly webhookFailures?: number
  readonly bytesIn?: number
  readonly bytesOut?: number
}

/** `request` is counted by method, `error` by code; the others have no label. */
type Measure =
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

export type UsageStep = 'hour' | 'day'

interface UsageFilter {
  readonly userId: number
  readonly credentialId?: number | undefined
  readonly apiKeyId?: number | undefined
  /** Inclusive, at the start of a step. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly step: UsageStep
}

interface UsageSum {
  readonly at: Date
  readonly measure: Measure
  readonly label: string
  readonly amount: number
}

const text = `
  select date_trunc($1, hour, 'UTC') as at, measure, label, sum(amount)::bigint as amount
  from usage_hour
  where user_id = $2 and hour >= $3 and hour < $4
    and ($5::bigint is null or credential_id = $5)
    and ($6::bigint is null or api_key_id = $6
      -- An account receives for all of its keys.
      or measure = 'updates_received' and credential_id = (
        select credential_id from api_key where id = $6 and user_id = $2))
  group by 1, 2, 3`

export function readUsage(database: Queryable, filter: UsageFilter): Promise<UsageSum[]> {
  const { step, userId, from, to, credentialId = null, apiKeyId = null } = filter
  return database.query<UsageSum>(text, [step, userId, from, to, credentialId, apiKeyId])
}

interface Usage {
  requests: number
  /** The part that bots called, and the part of the management API and the panel. */
  bot_requests: number
  management_requests: number
  requests_by_method: Record<string, number>
  errors: number
  errors_by_code: Record<string, number>
  updates_received: number
  updates_delivered: number
  webhook_attempts: number
  webhook_failures: number
  bytes_in: number
  bytes_out: number
}

interface UsagePoint extends Usage {
  /** Start of the hour or day, RFC 3339. */
  at: string
}

export const stepMs: Readonly<Record<UsageStep, number>> = { hour: 3_600_000, day: 86_400_000 }

const noUsage = (): Usage => ({
  requests: 0,
  bot_requests: 0,
  management_requests: 0,
  requests_by_method: {},
  errors: 0,
  errors_by_code: {},
  updates_received: 0,
  updates_delivered: 0,
  webhook_attempts: 0,
  webhook_failures: 0,
  bytes_in: 0,
  bytes_out: 0,
})

function add(usage: Usage, { measure, label, amount }: UsageSum): void {
  if (measure === 'request') {
    usage.requests += amount
    // A route is named by verb and path, a method of the bot API by its name.
    usage[/^[A-Z]+ \//.test(label) ? 'management_requests' : 'bot_requests'] += amount
    usage.requests_by_method[label] = (usage.requests_by_method[label] ?? 0) + amount
  } else if (measure === 'error') {
    usage.errors += amount
    usage.errors_by_code[label] = (usage.errors_by_code[label] ?? 0) + amount
  } else {
    usage[measure] += amount
  }
}

/** `from` is the start of a step, `to` is exclusive; both are milliseconds since 1970. */
export function usageSeries(
  sums: readonly UsageSum[],
  { from, to, step }: { readonly from: number; readonly to: number; readonly step: UsageStep },
): { totals: Usage; series: UsagePoint[] } {
  const totals = noUsage()
  const points = new Map<number, UsagePoint>()
  for (let at = from; at < to; at += stepMs[step]) {
    points.set(at, { at: new Date(at).toISOString(), ...noUsage() })
  }
  for (const sum of sums) {
    add(totals, sum)
    const point = points.get(sum.at.getTime())
    if (point) add(point, sum)
  }
  return { totals, series: [...points.values()] }
}
