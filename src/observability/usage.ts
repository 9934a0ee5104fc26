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

/** `request` is counted by method, errors of bots and of the management API by code; the others have no label. */
type Measure =
  | 'request'
  | 'error'
  | 'management_error'
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

const HOUR_MS = 3_600_000

/** A route is named by verb and path, a method of the bot API by its name. */
const isOfManagement = (method: string) => /^[A-Z]+ \//.test(method)

const measures: Readonly<Record<keyof UsageCounts, Measure>> = {
  updatesReceived: 'updates_received',
  updatesDelivered: 'updates_delivered',
  webhookAttempts: 'webhook_attempts',
  webhookFailures: 'webhook_failures',
  bytesIn: 'bytes_in',
  bytesOut: 'bytes_out',
}

type Owner = Pick<UsageRow, 'userId' | 'credentialId' | 'apiKeyId'>

/** The figures of one owner in one hour, by measure and label. */
class OwnerHour {
  readonly hour: number
  readonly #owner: Owner
  readonly #rows = new Map<Measure, Map<string, UsageRow>>()

  constructor(hour: number, owner: Owner) {
    this.hour = hour
    this.#owner = owner
  }

  /** Returns the row if it is a new one. */
  add(measure: Measure, label: string, amount: number): UsageRow | undefined {
    const known = this.#rows.get(measure)
    const row = known?.get(label)
    if (row) {
      row.amount += amount
      return undefined
    }
    const { userId, credentialId, apiKeyId } = this.#owner
    const begun = { userId, credentialId, apiKeyId, hour: this.hour, measure, label, amount }
    if (known) known.set(label, begun)
    else this.#rows.set(measure, new Map([[label, begun]]))
    return begun
  }
}

/** By numbers: a text that names user, account, key, hour and measure would be made several times for each request. */
type Owners = Map<number, Map<number, Map<number, OwnerHour>>>

function inner<Inner>(outer: Map<number, Map<number, Inner>>, key: number): Map<number, Inner> {
  const known = outer.get(key)
  if (known) return known
  const begun = new Map<number, Inner>()
  outer.set(key, begun)
  return begun
}

export class UsageTally {
  #rows: UsageRow[] = []
  #owners: Owners = new Map()

  get size(): number {
    return this.#rows.length
  }

  count(owner: UsageOwner, counts: UsageCounts, at: number): void {
    const hour = this.#hourOf(owner, at)
    for (const name of Object.keys(counts) as (keyof UsageCounts)[]) {
      this.#add(hour, measures[name], '', counts[name] ?? 0)
    }
  }

  countRequest(record: RequestRecord): void {
    const { userId, method, errorCode } = record
    if (userId === null) return
    const credentialId = record.credentialId ?? undefined
    const apiKeyId = record.apiKeyId ?? undefined
    const hour = this.#hourOf({ userId, credentialId, apiKeyId }, record.at)
    this.#add(hour, 'request', method, 1)
    if (errorCode !== null) {
      const measure = isOfManagement(method) ? 'management_error' : 'error'
      this.#add(hour, measure, String(errorCode), 1)
    }
    this.#add(hour, 'bytes_in', '', record.requestBytes)
    this.#add(hour, 'bytes_out', '', record.responseBytes)
  }

  /** Hands out everything counted so far and starts anew. */
  take(): UsageRow[] {
    const taken = this.#rows
    this.#rows = []
    this.#owners = new Map()
    return taken
  }

  #hourOf({ userId, credentialId = 0, apiKeyId = 0 }: UsageOwner, at: number): OwnerHour {
    const hour = at - (at % HOUR_MS)
    const keys = inner(inner(this.#owners, userId), credentialId)
    const known = keys.get(apiKeyId)
    if (known?.hour === hour) return known
    const begun = new OwnerHour(hour, { userId, credentialId, apiKeyId })
    keys.set(apiKeyId, begun)
    return begun
  }

  #add(hour: OwnerHour, measure: Measure, label: string, amount: number): void {
    const begun = amount === 0 ? undefined : hour.add(measure, label, amount)
    if (begun) this.#rows.push(begun)
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
  /** Milliseconds since 1970. A month of hours is tens of thousands of rows, and dates take long to read. */
  readonly at: number
  readonly measure: Measure
  readonly label: string
  readonly amount: number
}

/** Not "extract": its result is numeric, which costs more than all the rest. */
const millisecondsOf = (time: string) => `1000 * date_part('epoch', ${time})`

const ofUser: Readonly<Record<UsageStep, string>> = {
  hour: `
    select ${millisecondsOf('hour')} as at, measure, label, amount
    from usage_total where user_id = $1 and hour >= $2 and hour < $3`,
  day: `
    select ${millisecondsOf('day')} as at, measure, label, amount from (
      select date_bin('1 day', hour, 'epoch') as day, measure, label, sum(amount)::bigint as amount
      from usage_total where user_id = $1 and hour >= $2 and hour < $3
      group by 1, 2, 3) as days`,
}

/** Hour by hour, since all accounts of an hour lie together: a range of hours would read those of others, too. */
const ofCredential = `
  select ${millisecondsOf("date_trunc($1, u.hour, 'UTC')")} as at, measure, label,
    sum(amount)::bigint as amount
  from generate_series($3::timestamptz, $4::timestamptz - interval '1 hour', interval '1 hour') h
    cross join lateral (
      select hour, measure, label, amount from usage_hour
      where user_id = $2 and hour = h.h and credential_id = $5
        -- An account receives for all of its keys.
        and ($6::bigint is null or api_key_id = $6 or measure = 'updates_received')
      -- Keeps the planner from reading all hours at once.
      offset 0) u
  group by 1, 2, 3`

/** Without a filter, reads the totals of the user: a few rows an hour for any number of accounts. */
export async function readUsage(database: Queryable, filter: UsageFilter): Promise<UsageSum[]> {
  const { step, userId, from, to, credentialId, apiKeyId = null } = filter
  if (apiKeyId === null && credentialId === undefined) {
    return database.query(ofUser[step], [userId, from, to])
  }
  const account = apiKeyId === null ? credentialId : await accountOf(database, userId, apiKeyId)
  if (account === undefined || (credentialId ?? account) !== account) return []
  return database.query(ofCredential, [step, userId, from, to, account, apiKeyId])
}

/** Rows of keys stay when keys are revoked. */
async function accountOf(database: Queryable, userId: number, apiKeyId: number) {
  const [key] = await database.query<{ credential_id: number }>(
    'select credential_id from api_key where id = $1 and user_id = $2',
    [apiKeyId, userId],
  )
  return key?.credential_id
}

/** A year and a month lets a user compare with the same month a year ago. */
const KEPT_DAYS = 400
/** Hours are kept for a little longer than the longest range that is shown by hours. */
const HOURS_DAYS = 35

/** From when on there are figures by hours, in milliseconds since 1970. */
export const hoursSince = (now: number): number => {
  const since = now - HOURS_DAYS * stepMs.day
  return since - (since % stepMs.day)
}

const ROWS_AT_ONCE = 10_000

/** Adds old hours up to days, and removes what is too old, in steps of one transaction each. */
export async function retainUsage(
  database: Queryable,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<{ added: number; removed: number }> {
  const untilDone = async (text: string, days: number) => {
    for (let total = 0; ; ) {
      const [step] = await database.query<{ rows: number }>(text, [days, rowsAtOnce])
      total += step?.rows ?? 0
      if ((step?.rows ?? 0) < rowsAtOnce) return total
    }
  }
  let added = 0
  let removed = 0
  for (const [table, columns] of Object.entries(columnsBeside)) {
    added += await untilDone(addUpDays(table, columns), HOURS_DAYS)
    removed += await untilDone(removeOld(table), KEPT_DAYS)
  }
  return { added, removed }
}

/** The columns of each table after the user and the hour. */
const columnsBeside = {
  usage_hour: 'credential_id, api_key_id, measure, label',
  usage_total: 'measure, label',
}

const oldest = "date_trunc('day', now() - make_interval(days => $1), 'UTC')"

/**
 * One statement: after a crash either the hours are there or their day has them. It holds the users, so that the erasure
 * of one of them begins before it or finds the days.
 */
const addUpDays = (table: string, columns: string) => `
  with chosen as materialized (
    select ctid, user_id from ${table}
     where hour < ${oldest} and extract(hour from hour at time zone 'UTC') <> 0
       and exists (select from app_user where app_user.id = user_id and erasing_at is null)
     order by hour limit $2 for update
  ), users as materialized (
    select id from app_user
     where id in (select user_id from chosen) and erasing_at is null for share
  ), gone as (
    delete from ${table} where ctid = any(array(
      select ctid from chosen where user_id in (select id from users)))
    returning *
  ), added as (
    select user_id, date_trunc('day', hour, 'UTC') as hour, ${columns}, sum(amount) as amount
      from gone group by user_id, date_trunc('day', hour, 'UTC'), ${columns}
  ), days as (
    insert into ${table} (user_id, hour, ${columns}, amount)
    select user_id, hour, ${columns}, amount from added order by user_id, hour, ${columns}
    on conflict (user_id, hour, ${columns})
    do update set amount = ${table}.amount + excluded.amount
  )
  select count(*)::int as rows from gone`

const removeOld = (table: string) => `
  with gone as (
    delete from ${table} where ctid = any(array(
      select ctid from ${table} where hour < ${oldest} limit $2))
    returning 1
  )
  select count(*)::int as rows from gone`

interface Usage {
  requests: number
  /** The part that bots called, and the part of the management API and the panel. */
  bot_requests: number
  management_requests: number
  requests_by_method: Record<string, number>
  errors: number
  errors_by_code: Record<string, number>
  /** The part that bots were answered with. */
  bot_errors: number
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
  bot_errors: 0,
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
    usage[isOfManagement(label) ? 'management_requests' : 'bot_requests'] += amount
    usage.requests_by_method[label] = (usage.requests_by_method[label] ?? 0) + amount
  } else if (measure === 'error' || measure === 'management_error') {
    usage.errors += amount
    if (measure === 'error') usage.bot_errors += amount
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
    const point = points.get(sum.at)
    if (point) add(point, sum)
  }
  return { totals, series: [...points.values()] }
}
