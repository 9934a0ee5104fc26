/** From a platform's report through the log to a waiting getUpdates, against bare INSERTs of the same rows. */
import { insertAgain } from './support/bare-inserts.ts'
import type { Speech } from './support/chatter.ts'
import { atLeast, type Finding, reaches } from './support/finding.ts'
import { Listeners } from './support/listeners.ts'
import { committedGroups } from './support/metrics.ts'
import { seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, milliseconds, now, percentile, perSecond } from './support/statistics.ts'

const CREDENTIALS = 256
const SEVERAL = 20
const TURNS = 5

interface Measured {
  readonly updatesPerSecond: number
  readonly delays: readonly number[]
  /** Milliseconds of processor time of the service. */
  readonly processor: number
}

export async function ingest(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const credentialIds = await seedChatter(stage, userId, CREDENTIALS)
  const keys = await seedKeys(stage, userId, credentialIds)
  const service = await startService(stage, { START_BUDGET: '100' })
  await service.ask('online', CREDENTIALS)
  const listeners = await Listeners.open(service.port, keys)
  const bench = { stage, service, listeners }
  const several = credentialIds.slice(0, SEVERAL)
  const one = credentialIds.slice(0, 1)
  const found: Finding[] = []
  try {
    await measure(bench, { credentialIds, batch: 20, reports: 5, everyMs: 0 })
    const loads: readonly Load[] = [
      { credentialIds: several, batch: 50, reports: 20, share: 0.6 },
      { credentialIds: one, batch: 100, reports: 80, share: 0.6 },
      // What networks do: one message a report. Nobody waits for the report before.
      { credentialIds: one, batch: 1, reports: 6_000, inFlight: 64, floor: 3_000 },
      { credentialIds, batch: 1, reports: 100, inFlight: 16, floor: 12_000 },
      // The same where each report waits until the one before is stored.
      { credentialIds: one, batch: 1, reports: 1_000 },
      { credentialIds, batch: 1, reports: 40 },
    ]
    for (const load of loads) found.push(...(await compare(bench, load)))
    return found
  } finally {
    listeners.close()
    await service.stop()
  }
}

interface Bench {
  readonly stage: Stage
  readonly service: Service
  readonly listeners: Listeners
}

interface Load extends Omit<Speech, 'everyMs'> {
  /** Of the bare rate. */
  readonly share?: number
  /** Updates per second. */
  readonly floor?: number
}

/** As fast as it goes, in turn with the same rows by bare statements; then at half the rate, for the times. */
async function compare(bench: Bench, load: Load): Promise<Finding[]> {
  const { credentialIds, batch, inFlight = 1, share, floor } = load
  const turns: Turn[] = []
  for (let turn = 0; turn < TURNS; turn++) turns.push(await takeTurn(bench, load))
  const median = (figure: (turn: Turn) => number) => percentile(turns.map(figure), 0.5)
  const [ours, bare] = [median(({ fast }) => fast.updatesPerSecond), median((turn) => turn.bare)]
  const group = Math.round(median((turn) => turn.group))

  const everyMs = (2000 * batch * credentialIds.length) / ours
  const calm = await measure(bench, { ...load, everyMs })
  const times = (delays: readonly number[]) =>
    `p50 ${milliseconds(percentile(delays, 0.5))}, p99 ${milliseconds(percentile(delays, 0.99))}`
  const size = `credentials: ${credentialIds.length}, ${batch} a report, ${inFlight} under way`
  const ratio = median((turn) => turn.fast.updatesPerSecond / turn.bare)
  return [
    {
      what: `ingest, ${size}, ${group} a commit`,
      ours: perSecond(ours, 'updates'),
      bare: perSecond(bare, 'rows'),
      ratio,
      ...(share !== undefined && atLeast(ratio, 1, share)),
      ...(floor !== undefined && reaches(ours, floor, perSecond(floor, 'updates'))),
    },
    {
      what: '  processor time of an update, flat out',
      ours: microseconds(median(({ fast }) => fast.processor / fast.delays.length)),
    },
    {
      what: '  report to receipt, flat out',
      ours: times(turns.flatMap(({ fast }) => fast.delays)),
    },
    { what: '  report to receipt, at half the rate', ours: times(calm.delays) },
  ]
}

interface Turn {
  readonly fast: Measured
  /** Rows per second. */
  readonly bare: number
  /** Updates of a commit. */
  readonly group: number
}

async function takeTurn(bench: Bench, load: Load): Promise<Turn> {
  const { stage, service } = bench
  const before = await committedGroups(service.port)
  const fast = await measure(bench, { ...load, everyMs: 0 })
  const after = await committedGroups(service.port)
  const updates = after.updates - before.updates
  const group = Math.max(1, Math.round(updates / (after.commits - before.commits)))
  return { fast, group, bare: await insertAgain(stage, load.credentialIds, updates, group) }
}

async function measure({ service, listeners }: Bench, speech: Speech): Promise<Measured> {
  const { credentialIds, batch, reports } = speech
  const received = listeners.receive(credentialIds.length * batch * reports)
  const before = await service.ask<number>('processor')
  const began = now()
  await service.ask('speak', speech)
  const delays = await received
  const took = now() - began
  const processor = (await service.ask<number>('processor')) - before
  return { updatesPerSecond: (1000 * delays.length) / took, delays, processor }
}
