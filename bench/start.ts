/** Starting with many keys and credentials stored, and what one that idles costs in memory. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Memory } from './support/child.ts'
import { Connection, get } from './support/connection.ts'
import { below, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked } from './support/seed-sandbox.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { kilobytes, now, percentile, seconds } from './support/statistics.ts'

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

/** Milliseconds from the start of the process, Postgres running already. */
async function startOnce(stage: Stage, credentials: number): Promise<Started> {
  const port = await freePort()
  const began = now()
  const starting = startService(stage, { PORT: `${port}` })
  const listening = untilAlive(port).then(() => now() - began)
  const service = await starting
  const connection = await Connection.open(service.port)
  await connection.request(get('/health/ready'))
  const ready = now() - began
  await service.ask('online', credentials)
  const active = now() - began
  connection.close()
  const memory = await service.memory()
  const liveKeys = await service.ask<number>('liveKeys')
  await service.stop()
  return { listening: await listening, ready, active, memory, liveKeys }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function untilAlive(port: number): Promise<void> {
  const live = () => fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined)
  while (!(await live())?.ok) await pause(20)
}
