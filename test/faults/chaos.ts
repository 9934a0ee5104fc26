/** The fault test: the stage of the kill test, on which one thing after the other goes wrong under load. */
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { drained, stored } from '../kill/drained.ts'
import { type Stage, setStage } from '../kill/stage.ts'
import { judge } from '../kill/verdict.ts'
import { examine } from '../support/amcheck.ts'
import { until } from '../support/client.ts'
import { mounted } from '../support/mounted.ts'
import type { Toxiproxy } from '../support/toxiproxy.ts'
import { databaseFaults } from './database-faults.ts'
import type { Fault } from './fault.ts'
import { clockOf, machineFaults } from './machine-faults.ts'
import { toxicFaults } from './toxic-faults.ts'

export interface Plan {
  readonly perSecond: number
  readonly seconds: number
  /** Only faults whose name has this. */
  readonly only?: RegExp
  /** What Toxiproxy does, one thing for each seed; or why there is none. */
  readonly toxics?: { readonly toxiproxy: Toxiproxy | string; readonly seeds: readonly number[] }
}

export interface Outcome {
  readonly name: string
  readonly skipped?: string
  /** Events acknowledged while it lasted. */
  readonly during: number
  /** Milliseconds from its end to the next acknowledgement, and until every bot had what was written before. */
  readonly acknowledgedMs: number
  readonly caughtUpMs: number
}

export interface Report {
  readonly outcomes: readonly Outcome[]
  readonly acknowledged: number
  readonly delivered: number
  readonly duplicates: number
  readonly lost: number
  readonly violations: readonly string[]
}

const CALM_EVENTS = 30
const RECOVERY_MS = 120_000
/** With the write-ahead log that a server keeps. */
const DISK = '400m'

export async function runFaults(plan: Plan, told: (outcome: Outcome) => void): Promise<Report> {
  await using opened = new AsyncDisposableStack()
  const disk = await mounted({ teardown: (work) => void opened.defer(work) }, DISK)
  const folder = await mkdtemp(join(tmpdir(), 'chapar-faults-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  const clock = join(folder, 'clock')
  await writeFile(clock, '+0')
  const { toxiproxy = '', seeds = [] } = plan.toxics ?? {}
  const faults = [
    ...databaseFaults,
    ...machineFaults(disk?.path, clock),
    ...toxicFaults(toxiproxy, seeds),
  ].filter(({ name }) => plan.only?.test(name) ?? true)
  const stage = await setStage({
    perSecond: plan.perSecond,
    acknowledgesEarly: false,
    environment: clockOf(clock),
    ...(disk && { parent: disk.path }),
    ...(typeof toxiproxy !== 'string' && { way: (name, port) => toxiproxy.leadTo(name, port) }),
  })
  opened.defer(() => stage.close())
  stage.spool.write()
  const outcomes: Outcome[] = []
  for (const fault of faults) {
    const outcome = await suffer(stage, fault, plan.seconds)
    outcomes.push(outcome)
    told(outcome)
  }
  stage.spool.stopWriting()
  await drained(stage)
  return { outcomes, ...(await verdict(stage, faults)) }
}

async function suffer(stage: Stage, fault: Fault, seconds: number): Promise<Outcome> {
  const { name, missing } = fault
  const none = { name, during: 0, acknowledgedMs: 0, caughtUpMs: 0 }
  if (missing !== undefined) return { ...none, skipped: missing }
  const { spool } = stage
  const calm = spool.acknowledged + CALM_EVENTS * spool.accounts.length
  await until(() => spool.acknowledged >= calm && spool.hasFlowed(CALM_EVENTS), RECOVERY_MS)
  const before = spool.acknowledged
  const end = await fault.begin(stage)
  await pause(seconds * 1000)
  const during = spool.acknowledged - before
  await end()
  const ended = performance.now()
  const written = spool.accounts.map(({ events }) => events.length)
  await once(spool, 'acknowledged', { signal: AbortSignal.timeout(RECOVERY_MS) })
  const acknowledgedMs = performance.now() - ended
  await until(
    () => stage.consumers.every(({ delivered }, at) => delivered.size >= (written[at] ?? 0)),
    RECOVERY_MS,
  )
  return { name, during, acknowledgedMs, caughtUpMs: performance.now() - ended }
}

async function verdict(stage: Stage, faults: readonly Fault[]): Promise<Omit<Report, 'outcomes'>> {
  const { spool, consumers, service } = stage
  const histories = spool.accounts.map((account, index) => ({
    name: account.name,
    acknowledged: spool.acknowledgedTexts(account),
    delivered: consumers[index]?.delivered ?? new Map(),
  }))
  const { lost, violations } = judge(histories)
  const delivered = histories.reduce((sum, { delivered }) => sum + delivered.size, 0)
  const inLog = await stored(stage)
  const { damages } = await examine(stage.postgres.url())
  const all = [
    ...violations,
    ...damages,
    ...spool.violations,
    ...consumers.flatMap(({ violations }) => violations),
    ...(inLog.updates === delivered ? [] : [`${inLog.updates} in the log, ${delivered} delivered`]),
    ...(inLog.events === inLog.updates ? [] : ['an event is in the log more than once']),
    ...(service.failures === 0 ? [] : [`the service ended by itself ${service.failures} times`]),
    ...(faults.length > 0 ? [] : ['no fault was tried']),
  ]
  return {
    acknowledged: spool.acknowledged,
    delivered,
    duplicates: consumers.reduce((sum, { duplicates }) => sum + duplicates, 0),
    lost,
    violations: all,
  }
}
