/** Runs suites on one stage, and tells what they came to. */
import { type BotCounts, type BotKind, kindsMissing } from './bots.ts'
import { randomOf } from './random.ts'
import { type Stage, type StagePlan, setStage, type Testing } from './stage.ts'
import type { Recovery, Round, Suite } from './suite.ts'
import { type SuiteName, suites } from './suites.ts'

export interface Plan extends StagePlan {
  /** On one stage, one after the other, with the number of rounds of each. */
  readonly suites: readonly (readonly [SuiteName, number])[]
  /** No round of a suite begins later than this after its first one. */
  readonly forMs?: number
  /** Called after each round. */
  done?(suite: SuiteName, round: number): void
}

export interface SuiteReport {
  readonly suite: SuiteName
  readonly rounds: number
  /** What only this suite promises not to happen. */
  readonly violations: readonly string[]
  /** Answers that callers were promised not to get. */
  readonly failed: readonly string[]
  /** Answers that told of a fault, where that is all that is promised. */
  readonly told: readonly string[]
  /** Calls whose connection was lost under them. */
  readonly cut: number
  readonly calls: number
  /** Texts that were written, and those that bots sent; and what the load could not do in time. */
  readonly written: number
  readonly sent: number
  readonly skipped: number
  readonly seconds: number
  readonly recoveries: readonly (readonly Recovery[])[]
}

export interface Report {
  readonly suites: readonly SuiteReport[]
  /** What the histories of the accounts show, after all suites. */
  readonly violations: readonly string[]
  /** Bots that could not take part, with the reason. */
  readonly missing: readonly string[]
}

export async function runSuites(plan: Plan): Promise<Report> {
  await using opened = new AsyncDisposableStack()
  const t: Testing = { teardown: (work) => void opened.defer(async () => work()) }
  const missing = await kindsMissing()
  const here = Object.entries(plan.bots).filter(([kind]) => !missing.has(kind as BotKind))
  const bots = Object.fromEntries(here) as BotCounts
  const needs = Object.assign({}, ...plan.suites.map(([suite]) => (suites[suite] as Suite).needs))
  const stage = await setStage(t, { ...plan, bots }, needs)
  await stage.settled()
  const random = randomOf(plan.seed)
  const reports: SuiteReport[] = []
  for (const [suite, count] of plan.suites) {
    const report = await runRounds(stage, [suite, count], random, plan)
    reports.push(report)
    // An account that is not back would be waited for in every later round.
    if (report.recoveries.flat().some(isAway)) break
  }
  return {
    suites: reports,
    violations: await stage.verdict(),
    missing: [...missing]
      .filter(([kind]) => (plan.bots[kind] ?? 0) > 0)
      .map(([kind, reason]) => `${plan.bots[kind]} ${kind}: ${reason}`),
  }
}

async function runRounds(
  stage: Stage,
  [suite, count]: Plan['suites'][number],
  random: () => number,
  { done, forMs = Number.POSITIVE_INFINITY }: Plan,
): Promise<SuiteReport> {
  const { balancer } = stage
  const before = countsOf(stage)
  const firstAnswer = balancer.failed.length
  const began = performance.now()
  const rounds: Round[] = []
  for (let n = 1; n <= count && performance.now() - began < forMs; n++) {
    rounds.push(await suites[suite].round(stage, random))
    done?.(suite, n)
  }
  const seconds = (performance.now() - began) / 1_000
  const after = countsOf(stage)
  const counts = Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - before[name as keyof Counts]]),
  ) as unknown as Counts
  const answers = balancer.failed
    .slice(firstAnswer)
    .map(
      ({ at, node = 'balancer', call, status, description }) =>
        `${new Date(at).toISOString()} ${node} ${call}: ${status} ${description}`,
    )
  // What people write in the sandbox is the test's own means; bots are promised something.
  const isFailure = (answer: string) => suites[suite].promisesCalls && answer.includes('/bot')
  return {
    suite,
    rounds: rounds.length,
    violations: [...unpromised(suites[suite], rounds, counts)],
    failed: answers.filter(isFailure),
    told: answers.filter((answer) => !isFailure(answer)),
    ...counts,
    seconds,
    recoveries: rounds.map(({ recoveries }) => recoveries),
  }
}

type Counts = Pick<SuiteReport, 'cut' | 'calls' | 'written' | 'sent' | 'skipped'>

function countsOf({ balancer, load }: Stage): Counts {
  const sumOf = (of: 'written' | 'sent') =>
    load.traffic.reduce((sum, traffic) => sum + traffic[of].length, 0)
  const { cut, calls } = balancer
  return { cut, calls, written: sumOf('written'), sent: sumOf('sent'), skipped: load.skipped }
}

function* unpromised(
  { cuts }: Suite,
  rounds: readonly Round[],
  { cut, written, sent }: Pick<Counts, 'cut' | 'written' | 'sent'>,
) {
  // Without load nothing can be lost.
  if (written === 0 || sent === 0) yield `${written} texts were written, and ${sent} sent`
  const needless = rounds.reduce((sum, round) => sum + round.needless, 0)
  if (needless > 0) yield `${needless} accounts changed their owner for nothing`
  if (!cuts && cut > 0) yield `${cut} connections were lost under a call`
  const away = rounds.flatMap(({ recoveries }) => recoveries).filter(isAway)
  for (const { account } of away) yield `account ${account} was not back in time`
}

const isAway = ({ ms }: Recovery) => ms === Number.POSITIVE_INFINITY

const SHOWN = 10

export const linesOf = ({ suites: reports, violations, missing }: Report): string[] => [
  ...reports.flatMap(linesOfSuite),
  ...missing.map((reason) => `skipped: ${reason}`),
  ...violations.slice(0, SHOWN).map((violation) => `violation: ${violation}`),
]

function linesOfSuite(report: SuiteReport): string[] {
  const { suite, rounds, violations, failed, told, cut, calls } = report
  const { name, goal } = suites[suite]
  const sorted = report.recoveries.flatMap((round) => round.map(({ ms }) => ms)).sort(byValue)
  const at = (share: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)
  const rate = (count: number) => (count / report.seconds).toFixed(1)
  const met = goal && (at(goal.share) < goal.ms ? 'met' : 'NOT met')
  return [
    `${name}: ${rounds} rounds, ${calls} calls, ${cut} cut, ${told.length} told of a fault`,
    `  ${rate(report.written)} written and ${rate(report.sent)} sent a second, ${report.skipped} skipped`,
    `  back after  p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms (${sorted.length} accounts)`,
    ...(goal ? [`  goal: ${100 * goal.share} % within ${goal.ms} ms, ${met}`] : []),
    ...violations.slice(0, SHOWN).map((violation) => `  violation: ${violation}`),
    ...failed.slice(0, SHOWN).map((call) => `  failed: ${call}`),
  ]
}

const byValue = (a: number, b: number) => a - b

/** Everything that was promised not to happen. */
export const violationsIn = (report: Report): readonly string[] => [
  ...report.suites.flatMap(({ violations }) => violations),
  ...report.violations,
]

/** The last line of every form of the command. */
export function totalOf(reports: readonly Report[]): string {
  const ran = reports.flatMap((report) => report.suites)
  const rounds = ran.reduce((sum, suite) => sum + suite.rounds, 0)
  const violations = reports.reduce((sum, report) => sum + violationsIn(report).length, 0)
  const failed = ran.reduce((sum, suite) => sum + suite.failed.length, 0)
  return `${rounds} rounds, ${violations} violations, ${failed} failed calls`
}
