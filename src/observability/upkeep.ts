/** Keeps the tables of the request log in shape: partitions ahead of time, no rows beyond their time. */
import type { Queryable } from '../database/database.ts'

/** Partitions are made two days ahead, so that any hour will do. */
export const upkeepEveryMs = 3_600_000

/** Hourly figures are small; a year and a month lets a user compare with the same month a year ago. */
const usageDays = 400

export async function upkeep(database: Queryable, retentionDays: number): Promise<void> {
  await database.query('select request_log_upkeep(make_interval(days => $1))', [retentionDays])
  await database.query('delete from usage_hour where hour < now() - make_interval(days => $1)', [
    usageDays,
  ])
}
