/** Ten thousand getUpdates that wait at once: what one costs, and how soon it is answered. */
import { setTimeout as pause } from 'node:timers/promises'
import { startBare } from './support/bare.ts'
import type { Memory } from './support/child.ts'
import { Connection, get } from './support/connection.ts'
import { atMost, below, type Finding } from './support/finding.ts'
import { Listeners } from './support/listeners.ts'
import { FIRST_UPDATE, seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { kilobytes, milliseconds, now, percentile, seconds } from './support/statistics.ts'

/** Each with a credential of its own: every update wakes exactly one. */
const WAITERS = 10_000
const ARRIVING = { perSecond: 1_000, seconds: 10 }
/** The one update that each has is confirmed, so that every first poll waits, as those of the bare server do. */
const OFFSET = FIRST_UPDATE + 1
/** Measuring memory throws compiled code away. */
const WARMING_UP = { perSecond: 1_000, seconds: 5 }

export async function waiting(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const credentialIds = await seedChatter(stage, userId, WAITERS)
  const keys = await seedKeys(stage, userId, credentialIds)
  const bare = await costOfHanging(stage, keys)

  const service = await startService(stage, { START_BUDGET: '100' })
  await service.ask('online', WAITERS)
  await speakOnce(service, credentialIds)
  const before = await service.memory()
  const [began, workedBefore] = [now(), await service.ask<number>('processor')]
  const listeners = await Listeners.open(service.port, keys, OFFSET)
  await untilHeld(service, 'waitingPolls')
  const opening = now() - began
  const opened = ((await service.ask<number>('processor')) - workedBefore) / WAITERS
  // Before anything arrives: what the log keeps of updates is not the waiters'.
  const ours = perWaiter(before, await service.memory())
  const drizzle = async (arriving: typeof ARRIVING) => {
    const received = listeners.receive(arriving.perSecond * arriving.seconds)
    const arrived = service.ask('drizzle', { credentialIds, ...arriving })
    return (await Promise.all([received, arrived]))[0]
  }
  await drizzle(WARMING_UP)
  const processor = await service.ask<number>('processor')
  const delays = await drizzle(ARRIVING)
  const worked = (await service.ask<number>('processor')) - processor
  listeners.close()
  await service.stop()

  const [median, slow] = [percentile(delays, 0.5), percentile(delays, 0.99)]
  return [
    {
      what: `opening ${WAITERS} first polls`,
      ours: seconds(opening),
      ...below(opening, 5_000, '5 s'),
    },
    {
      what: '  processor time of the service for each',
      ours: milliseconds(opened),
    },
    {
      what: `memory of a waiting poll, ${WAITERS} of them (heap)`,
      ours: kilobytes(ours.heap),
      bare: kilobytes(bare.heap),
      ...atMost(ours.heap, bare.heap, 2),
    },
    {
      what: '  the same, as the process grows (RSS)',
      ours: kilobytes(ours.rss),
      bare: kilobytes(bare.rss),
      ...atMost(ours.rss, bare.rss, 2),
    },
    {
      what: `  report to receipt, ${ARRIVING.perSecond} updates/s, each for one of ${WAITERS}`,
      ours: `p50 ${milliseconds(median)}, p99 ${milliseconds(slow)}`,
      ...below(slow, 50, '50 ms'),
    },
    {
      what: '  processor time of the service for each of these updates',
      ours: milliseconds(worked / delays.length),
    },
  ]
}

/** The same requests to a bare server whose answers hang. */
async function costOfHanging(stage: Stage, keys: readonly string[]): Promise<Memory> {
  const bare = await startBare(stage)
  const before = await bare.memory()
  const connections: Connection[] = []
  for (const key of keys) {
    const connection = await Connection.open(bare.port)
    connections.push(connection)
    // It ends with the connection.
    connection
      .request(get(`/bot${key}/getUpdates?timeout=50&offset=${OFFSET}`))
      .catch(() => undefined)
  }
  await untilHeld(bare, 'held')
  const cost = perWaiter(before, await bare.memory())
  for (const connection of connections) connection.close()
  await bare.stop()
  return cost
}

/** The first update of a credential costs a look at its log, which has nothing to do with who waits. */
async function speakOnce(service: Service, credentialIds: readonly number[]): Promise<void> {
  for (let at = 0; at < credentialIds.length; at += 200) {
    const some = credentialIds.slice(at, at + 200)
    await service.ask('speak', { credentialIds: some, batch: 1, reports: 1, everyMs: 0 })
  }
}

/** On a slow machine a few are always between two polls. */
async function untilHeld(server: Service, question: string): Promise<void> {
  while ((await server.ask<number>(question)) < 0.995 * WAITERS) await pause(100)
}

const perWaiter = (before: Memory, after: Memory): Memory => ({
  rss: (after.rss - before.rss) / WAITERS,
  heap: (after.heap - before.heap) / WAITERS,
})
