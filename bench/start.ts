/** Starting with many keys and credentials stored, and what one that idles costs in memory. */
import type { Memory } from './support/child.ts'
import { Connection, get } from './support/connection.ts'
import { below, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked } from './support/seed-sandbox.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { kilobytes, now, seconds } from './support/statistics.ts'

const CREDENTIALS = 2_000
const KEYS = 100_000

export async function start(stage: Stage): Promise<Finding[]> {
  const empty = await startOnce(stage, 0)
  const userId = await seedUser(stage)
  const { credentialIds } = await seedLinked(stage, userId, CREDENTIALS)
  const linked = await startOnce(stage, CREDENTIALS)
  await seedKeys(stage, userId, credentialIds, KEYS / CREDENTIALS)
  const full = await startOnce(stage, CREDENTIALS)

  const each = (memory: Memory, before: Memory, count: number) => ({
    heap: (memory.heap - before.heap) / count,
    rss: (memory.rss - before.rss) / count,
  })
  const credential = each(linked.memory, empty.memory, CREDENTIALS)
  const key = each(full.memory, linked.memory, KEYS)
  return [
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
  readonly ready: number
  readonly active: number
  readonly memory: Memory
  readonly liveKeys: number
}

/** Milliseconds from the start of the process, Postgres running already. */
async function startOnce(stage: Stage, credentials: number): Promise<Started> {
  const began = now()
  const service = await startService(stage)
  const connection = await Connection.open(service.port)
  await connection.request(get('/health/ready'))
  const ready = now() - began
  await service.ask('online', credentials)
  const active = now() - began
  connection.close()
  const memory = await service.memory()
  const liveKeys = await service.ask<number>('liveKeys')
  await service.stop()
  return { ready, active, memory, liveKeys }
}
