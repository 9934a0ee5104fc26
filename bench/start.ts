/** Starting with many keys and credentials stored, and what one that idles costs in memory. */
import type { Memory } from './support/child.ts'
import { below, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked } from './support/seed-sandbox.ts'
import type { Stage } from './support/stage.ts'
import { startTimed } from './support/starting.ts'
import { kilobytes, percentile, seconds } from './support/statistics.ts'

const CREDENTIALS = 2_000
const KEYS = 100_000
const TURNS = 5

export async function start(stage: Stage): Promise<Finding[]> {
  const empty = await startAgain(stage, 0)
  const userId = await seedUser(stage)
  const { credentialIds } = await seedLinked(stage, userId, CREDENTIALS)
  const linked = await startAgain(stage, CREDENTIALS)
  await seedKeys(stage, userId, credentialIds, KEYS / CREDENTIALS)
  const full = await startAgain(stage, CREDENTIALS)

  const each = (memory: Memory, before: Memory, count: number) => ({
    heap: (memory.heap - before.heap) / count,
    rss: (memory.rss - before.rss) / count,
  })
  const credential = each(linked.memory, empty.memory, CREDENTIALS)
  const key = each(full.memory, linked.memory, KEYS)
  return [
    {
      what: `process start to listening, ${KEYS} keys, ${CREDENTIALS} credentials (bare: none)`,
      ours: seconds(full.listening),
      bare: seconds(empty.listening),
      ...below(full.listening, 2_500, '2.5 s'),
    },
    {
      what: `process start to ready, ${KEYS} keys, ${CREDENTIALS} credentials (bare: none)`,
      ours: seconds(full.ready),
      bare: seconds(empty.ready),
      ...below(full.ready, 15_000, '15 s'),
    },
    {
      what: '  process start to all credentials active',
      ours: seconds(full.active),
    },
    {
      what: '  memory of an idle sandbox credential (heap)',
      ours: kilobytes(credential.heap),
      ...below(credential.heap, 30 * 1024, '30 KB'),
    },
    {
      what: '  the same, as the process grows (RSS)',
      ours: kilobytes(credential.rss),
      ...below(credential.rss, 30 * 1024, '30 KB'),
    },
    {
      what: '  memory of an idle key (heap; RSS)',
      ours: `${kilobytes(key.heap)}; ${kilobytes(key.rss)}`,
      target: '0, not live',
      met: full.liveKeys === 0,
    },
  ]
}

interface Started {
  readonly listening: number
  readonly ready: number
  readonly active: number
  readonly memory: Memory
  readonly liveKeys: number
}

/** The median of each figure. */
async function startAgain(stage: Stage, credentials: number): Promise<Started> {
  const turns: Started[] = []
  while (turns.length < TURNS) turns.push(await startOnce(stage, credentials))
  const median = (figure: (turn: Started) => number) => percentile(turns.map(figure), 0.5)
  return {
    listening: median((turn) => turn.listening),
    ready: median((turn) => turn.ready),
    active: median((turn) => turn.active),
    memory: { rss: median(({ memory }) => memory.rss), heap: median(({ memory }) => memory.heap) },
    liveKeys: Math.max(...turns.map(({ liveKeys }) => liveKeys)),
  }
}

async function startOnce(stage: Stage, credentials: number): Promise<Started> {
  const { service, listening, ready, active } = await startTimed(stage, credentials)
  const memory = await service.memory()
  const liveKeys = await service.ask<number>('liveKeys')
  await service.stop()
  return { listening, ready, active, memory, liveKeys }
}
