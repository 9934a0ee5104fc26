/** What a run came to, in lines. */
import type { Report } from './chaos.ts'

const SHOWN = 20

export function summary(report: Report): string[] {
  const { recoveries, violations } = report
  return [
    `kills         ${report.serviceKills} of the service, ${report.postgresKills} of Postgres`,
    `acknowledged  ${report.acknowledged}`,
    `delivered     ${report.delivered}, ${report.duplicates} of them again around a kill`,
    `lost          ${report.lost}`,
    `violations    ${violations.length}`,
    ...violations.slice(0, SHOWN).map((violation) => `  ${violation}`),
    `first acknowledgement after a kill of the service   ${spread(recoveries.service)}`,
    `first acknowledgement after a kill of Postgres      ${spread(recoveries.postgres)}`,
  ]
}

function spread(milliseconds: readonly number[]): string {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) return '–'
  return `p50 ${Math.round(middle)} ms, max ${Math.round(sorted.at(-1) ?? 0)} ms`
}
