/** From a platform's report through the log to a waiting getUpdates, against bare INSERTs of the same rows. */
import { insertAgain } from './support/bare-inserts.ts'
import type { Speech } from './support/chatter.ts'
import { atLeast, type Finding } from './support/finding.ts'
import { Listeners } from './support/listeners.ts'
import { committedGroups } from './support/metrics.ts'
import { seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { milliseconds, now, percentile, perSecond } from './support/statistics.ts'

const CREDENTIALS = 20
const TURNS = 4

interface Measured {
  readonly updatesPerSecond: number
  readonly delays: readonly number[]
}

export async function ingest(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const credentialIds = await seedChatter(stage, userId, CREDENTIALS)
  const keys = await seedKeys(stage, userId, credentialIds)
  const service = await startService(stage, { START_BUDGET: '100' })
  await service.ask('online', CREDENTIALS)
  const listeners = await Listeners.open(service.port, keys)
  const bench = { stage, service, listeners }
  try {
    await measure(bench, { credentialIds, batch: 20, reports: 20, everyMs: 0 })
    return [
      ...(await compare(bench, { credentialIds, batch: 50, reports: 20 })),
      ...(await compare(bench, {
        credentialIds: credentialIds.slice(0, 1),
        batch: 100,
        reports: 80,
      })),
    ]
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

type Load = Omit<Speech, 'everyMs'>

/** As fast as it goes, in turn with the same rows by bare statements; then at half the rate, for the times. */
async function compare(bench: Bench, load: Load): Promise<Finding[]> {
  const { credentialIds, batch } = load
  const turns: Turn[] = []
  for (let turn = 0; turn < TURNS; turn++) turns.push(await takeTurn(bench, load))
  const mean = (figure: (turn: Turn) => number) =>
    TURNS / turns.reduce((sum, turn) => sum + 1 / figure(turn), 0)
  const [ours, bare] = [mean(({ fast }) => fast.updatesPerSecond), mean((turn) => turn.bare)]
  const group = Math.round(mean((turn) => turn.group))

  const everyMs = (2000 * batch * credentialIds.length) / ours
  const calm = await measure(bench, { ...load, everyMs })
  const times = (delays: readonly number[]) =>
    `p50 ${milliseconds(percentile(delays, 0.5))}, p99 ${milliseconds(percentile(delays, 0.99))}`
  return [
    {
      what: `ingest, credentials: ${credentialIds.length}, ${batch} a report, ${group} a commit`,
      ours: perSecond(ours, 'updates'),
      bare: perSecond(bare, 'rows'),
      ...atLeast(ours, bare, 0.4),
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
  const group = Math.round(updates / (after.commits - before.commits))
  return { fast, group, bare: await insertAgain(stage, load.credentialIds, updates, group) }
}

async function measure({ service, listeners }: Bench, speech: Speech): Promise<Measured> {
  const { credentialIds, batch, reports } = speech
  const received = listeners.receive(credentialIds.length * batch * reports)
  const began = now()
  await service.ask('speak', speech)
  const delays = await received
  return { updatesPerSecond: (1000 * delays.length) / (now() - began), delays }
}
