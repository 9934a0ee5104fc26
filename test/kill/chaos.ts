/** The kill test: a writer, the service, a database and consumers, while the two in the middle are killed. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { examine } from '../support/amcheck.ts'
import { until } from '../support/client.ts'
import { drained, stored } from './drained.ts'
import { type Stage, setStage } from './stage.ts'
import { judge } from './verdict.ts'

export interface Plan {
  readonly serviceKills: number
  readonly postgresKills: number
  /** Events that each account writes in a second. */
  readonly perSecond: number
  readonly acknowledgesEarly?: boolean
  readonly webhookConnections?: number
}

export interface Report {
  readonly serviceKills: number
  readonly postgresKills: number
  readonly acknowledged: number
  readonly delivered: number
  readonly duplicates: number
  readonly lost: number
  readonly violations: readonly string[]
  /** Milliseconds from each kill to the first acknowledgement after it. */
  readonly recoveries: { readonly service: readonly number[]; readonly postgres: readonly number[] }
}

type Victim = 'service' | 'postgres'

/** How long the load runs between the first acknowledgement and the next kill, and what each account gets done. */
const CALM_MS = [150, 400] as const
const CALM_EVENTS = 30
const RECOVERY_MS = 60_000

export async function runChaos(plan: Plan, onKill: (count: number) => void): Promise<Report> {
  const { perSecond, acknowledgesEarly = false, webhookConnections } = plan
  const byWebhook = webhookConnections === undefined ? {} : { webhookConnections }
  const stage = await setStage({ perSecond, acknowledgesEarly, ...byWebhook })
  try {
    const recoveries: Record<Victim, number[]> = { service: [], postgres: [] }
    stage.spool.write()
    await acknowledgement(stage)
    for (const [index, victim] of victims(plan).entries()) {
      await pause(CALM_MS[0] + Math.random() * (CALM_MS[1] - CALM_MS[0]))
      await until(() => stage.spool.hasFlowed(CALM_EVENTS), RECOVERY_MS)
      const began = performance.now()
      await kill(stage, victim)
      // Every other time the bots start anew as well, and ask where they were.
      if (index % 2 === 0) for (const consumer of stage.consumers) consumer.forget()
      await acknowledgement(stage)
      recoveries[victim].push(performance.now() - began)
      onKill(index + 1)
    }
    stage.spool.stopWriting()
    await drained(stage)
    return await reportOn(stage, plan, recoveries)
  } finally {
    await stage.close()
  }
}

/** In random order. */
function victims({ serviceKills, postgresKills }: Plan): Victim[] {
  const all: Victim[] = [
    ...Array.from({ length: serviceKills }, () => 'service' as const),
    ...Array.from({ length: postgresKills }, () => 'postgres' as const),
  ]
  return all
    .map((victim) => ({ victim, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ victim }) => victim)
}

/** Resolves once what was there is gone: what is acknowledged from then on, its successor has stored. */
async function kill({ service, postgres, spool }: Stage, victim: Victim): Promise<void> {
  if (victim === 'service') {
    await service.kill()
    await until(() => spool.accounts.every(({ connection }) => connection === undefined))
    return
  }
  await postgres.crash()
}

const acknowledgement = ({ spool }: Stage) =>
  once(spool, 'acknowledged', { signal: AbortSignal.timeout(RECOVERY_MS) })

async function reportOn(
  stage: Stage,
  { serviceKills, postgresKills }: Plan,
  recoveries: Report['recoveries'],
): Promise<Report> {
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
  return {
    serviceKills,
    postgresKills,
    acknowledged: spool.acknowledged,
    delivered,
    duplicates: consumers.reduce((sum, { duplicates }) => sum + duplicates, 0),
    lost,
    violations: [
      ...violations,
      ...damages,
      ...spool.violations,
      ...consumers.flatMap(({ violations }) => violations),
      ...(inLog.updates === delivered
        ? []
        : [`${inLog.updates} in the log, ${delivered} delivered`]),
      ...(inLog.events === inLog.updates
        ? []
        : [`${inLog.events} events are in the log more than once`]),
      ...(service.failures <= postgresKills
        ? []
        : [`the service ended by itself ${service.failures} times`]),
    ],
    recoveries,
  }
}
