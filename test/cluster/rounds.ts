/** Runs a suite on a stage of its own, and tells what it came to. */
import { type Stage, setStage, type Testing } from './stage.ts'
import { type Round, type SuiteName, suites } from './suites.ts'

export interface Plan {
  readonly suite: SuiteName
  readonly rounds: number
  readonly nodes: number
  readonly accounts: number
  /** Accounts beside those, without load. */
  readonly idle: number
  readonly perSecond: number
  readonly seed: number
  /** Called after each round. */
  done?(round: number): void
}

export interface SuiteReport {
  readonly suite: SuiteName
  readonly rounds: number
  readonly violations: readonly string[]
  /** Answers that callers were promised not to get. */
  readonly failed: readonly string[]
  /** Answers that told of a fault, where that is all that is promised. */
  readonly told: number
  /** Calls whose connection was lost under them. */
  readonly cut: number
  readonly calls: number
  readonly recoveries: readonly number[]
}

/** mulberry32: the same rounds for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

export async function runSuite(plan: Plan): Promise<SuiteReport> {
  await using opened = new AsyncDisposableStack()
  const t: Testing = { teardown: (work) => void opened.defer(async () => work()) }
  const suite = suites[plan.suite]
  const stage = await setStage(t, { ...plan, redis: suite.redis === true })
  await stage.settled()
  const random = randomOf(plan.seed)
  const rounds: Round[] = []
  for (let n = 1; n <= plan.rounds; n++) {
    rounds.push(await suite.round(stage, random))
    plan.done?.(n)
  }
  const violations = await stage.verdict()
  return reportOf(plan, rounds, [...violations, ...unpromised(suite.cuts, rounds, stage)], stage)
}

function* unpromised(cuts: boolean, rounds: readonly Round[], { balancer }: Stage) {
  const needless = rounds.reduce((sum, round) => sum + round.needless, 0)
  if (needless > 0) yield `${needless} accounts changed their owner for nothing`
  if (!cuts && balancer.cut > 0) yield `${balancer.cut} connections were lost under a call`
}

function reportOf(
  { suite, rounds: count }: Plan,
  rounds: readonly Round[],
  violations: readonly string[],
  { balancer }: Stage,
): SuiteReport {
  const { promisesCalls } = suites[suite]
  const answers = balancer.failed.map(
    ({ at, call, status, description }) =>
      `${new Date(at).toISOString()} ${call}: ${status} ${description}`,
  )
  // What people write in the sandbox is the test's own means; bots are promised something.
  const ofBots = answers.filter((answer) => promisesCalls && answer.includes('/bot'))
  return {
    suite,
    rounds: count,
    violations,
    failed: ofBots,
    told: answers.length - ofBots.length,
    cut: balancer.cut,
    calls: balancer.calls,
    recoveries: rounds.flatMap(({ recoveries }) => recoveries).toSorted((a, b) => a - b),
  }
}

const SHOWN = 10

export function linesOf(report: SuiteReport): string[] {
  const { suite, rounds, violations, failed, told, cut, calls, recoveries } = report
  const at = (share: number) =>
    Math.round(
      recoveries[Math.min(recoveries.length - 1, Math.floor(share * recoveries.length))] ?? 0,
    )
  return [
    `${suites[suite].name}: ${rounds} rounds, ${calls} calls, ${cut} cut, ${told} told of a fault`,
    `  back after  p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms (${recoveries.length})`,
    ...violations.slice(0, SHOWN).map((violation) => `  violation: ${violation}`),
    ...failed.slice(0, SHOWN).map((call) => `  failed: ${call}`),
  ]
}

/** The last line of every form of the command. */
export function totalOf(reports: readonly SuiteReport[]): string {
  const sum = (count: (report: SuiteReport) => number) =>
    reports.reduce((total, report) => total + count(report), 0)
  const rounds = sum((report) => report.rounds)
  const violations = sum((report) => report.violations.length)
  return `${rounds} rounds, ${violations} violations, ${sum(({ failed }) => failed.length)} failed calls`
}
