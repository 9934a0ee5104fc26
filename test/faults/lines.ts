/** What the fault test prints: a line for each fault, and the totals. */
import type { Outcome, Report } from './chaos.ts'
import type { RedisOutcome } from './redis-faults.ts'

const SHOWN = 20
const NAME = 42

const whole = (milliseconds: number) => `${Math.round(milliseconds)} ms`

export function outcomeLine({
  name,
  skipped,
  during,
  acknowledgedMs,
  caughtUpMs,
}: Outcome): string {
  const figures = skipped
    ? `skipped: ${skipped}`
    : `${during} meanwhile, acknowledged again after ${whole(acknowledgedMs)}, caught up after ${whole(caughtUpMs)}`
  return `${name.padEnd(NAME)}  ${figures}`
}

export function redisLine({ name, asked, lost, slowestMs, backMs }: RedisOutcome): string {
  const figures = `${asked} codes, ${lost} lost, slowest ${whole(slowestMs)}, in use again after ${whole(backMs)}`
  return `${name.padEnd(NAME)}  ${figures}`
}

/** The last line has the totals. */
export function totals(report: Report, redis: readonly RedisOutcome[]): string[] {
  const { outcomes, acknowledged, delivered, duplicates, lost, violations } = report
  const tried = outcomes.filter(({ skipped }) => skipped === undefined).length + redis.length
  const lostCodes = redis.reduce((sum, { lost }) => sum + lost, 0)
  return [
    ...violations.slice(0, SHOWN).map((violation) => `  ${violation}`),
    `${tried} faults, ${outcomes.length + redis.length - tried} skipped; ${acknowledged} acknowledged, ` +
      `${delivered} delivered, ${duplicates} again; ${lost + lostCodes} lost, ${violations.length} violations`,
  ]
}
