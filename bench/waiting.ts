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
const TURNS = 5
const ARRIVING = { perSecond: 1_000, seconds: 10 }
/** So that the code is compiled. */
const WARMING_UP = { perSecond: 1_000, seconds: 5 }
const HEAP_BYTES = 9 * 1024
const RECEIPT_MS = 20

interface Turn {
  readonly bare: Memory
  readonly ours: Memory
  /** Milliseconds until all first polls wait, and of processor time for each. */
  readonly opening: number
  readonly opened: number
  readonly delays: readonly number[]
  /** How often the whole heap was collected meanwhile. */
  readonly collections: number
  /** Milliseconds of processor time for each update. */
  readonly worked: number
}

const slowOf = (turn: Turn) => percentile(turn.delays, 0.99)
const slowest = (turns: readonly Turn[]) =>
  turns.map((turn) => milliseconds(slowOf(turn))).join(', ') || 'none'

export async function waiting(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const credentialIds = await seedChatter(stage, userId, WAITERS)
  const keys = await seedKeys(stage, userId, credentialIds)
  const turns: Turn[] = []
  for (let turn = 1; turn <= TURNS; turn++) {
    turns.push(await takeTurn(stage, credentialIds, keys))
    stage.note(`turn ${turn} of ${TURNS}`)
  }
  const median = (figure: (turn: Turn) => number) => percentile(turns.map(figure), 0.5)
  const heap = median(({ ours }) => ours.heap)
  const opening = median((turn) => turn.opening)
  const slow = median(slowOf)
  return [
    {
      what: `opening ${WAITERS} first polls`,
      ours: seconds(opening),
      ...below(opening, 5_000, '5 s'),
    },
    {
      what: '  processor time of the service for each',
      ours: milliseconds(median(({ opened }) => opened)),
    },
    {
      what: `memory of a waiting poll, ${WAITERS} of them (heap)`,
      ours: kilobytes(heap),
      bare: kilobytes(median(({ bare }) => bare.heap)),
      ratio: median(({ ours, bare }) => ours.heap / bare.heap),
      ...below(heap, HEAP_BYTES, kilobytes(HEAP_BYTES)),
    },
    {
      what: '  the same, as the process grows (RSS)',
      ours: kilobytes(median(({ ours }) => ours.rss)),
      bare: kilobytes(median(({ bare }) => bare.rss)),
      ...atMost(
        median(({ ours, bare }) => ours.rss / bare.rss),
        1,
        2,
      ),
    },
    {
      what: `  report to receipt, ${ARRIVING.perSecond} updates/s, each for one of ${WAITERS}`,
      ours: `p50 ${milliseconds(median(({ delays }) => percentile(delays, 0.5)))}, p99 ${milliseconds(slow)}`,
      ...below(slow, RECEIPT_MS, `${RECEIPT_MS} ms`),
    },
    {
      what: '  p99 of each turn with a collection of the whole heap meanwhile',
      ours: slowest(turns.filter(({ collections }) => collections > 0)),
    },
    {
      what: '  of each without one',
      ours: slowest(turns.filter(({ collections }) => collections === 0)),
    },
    {
      what: '  processor time of the service for each of these updates',
      ours: milliseconds(median(({ worked }) => worked)),
    },
  ]
}

/** Each service is begun anew: a key that has polled once takes less for its next poll. */
async function takeTurn(
  stage: Stage,
  credentialIds: readonly number[],
  keys: readonly string[],
): Promise<Turn> {
  const bare = await costOfHanging(stage, keys)
  const ours = await costOfHolding(stage, credentialIds, keys)
  return { bare, ours, ...(await arrivals(stage, credentialIds, keys)) }
}

/** What each has so far is confirmed, so that every first poll waits, as those of the bare server do. */
async function beginning(stage: Stage, credentialIds: readonly number[]) {
  const service = await startService(stage, { START_BUDGET: '100' })
  await service.ask('online', WAITERS)
  await speakOnce(service, credentialIds)
  return { service, offsets: await nextUpdates(stage, credentialIds) }
}

/** Before anything arrives: what the log keeps of updates is not the waiters'. */
async function costOfHolding(
  stage: Stage,
  credentialIds: readonly number[],
  keys: readonly string[],
): Promise<Memory> {
  const { service, offsets } = await beginning(stage, credentialIds)
  const before = await service.memory()
  const listeners = await Listeners.open(service.port, keys, offsets)
  await untilHeld(service, 'waitingPolls')
  const cost = perWaiter(before, await service.memory())
  listeners.close()
  await service.stop()
  return cost
}

/**
 * In a service whose memory nobody has measured: a heap that was collected by force may grow by a tenth, not by several
 * times, until it is collected as a whole again, and everybody waits meanwhile.
 */
async function arrivals(stage: Stage, credentialIds: readonly number[], keys: readonly string[]) {
  const { service, offsets } = await beginning(stage, credentialIds)
  const [began, workedBefore] = [now(), await service.ask<number>('processor')]
  const listeners = await Listeners.open(service.port, keys, offsets)
  await untilHeld(service, 'waitingPolls')
  const opening = now() - began
  const opened = ((await service.ask<number>('processor')) - workedBefore) / WAITERS
  const drizzle = async (arriving: typeof ARRIVING) => {
    const received = listeners.receive(arriving.perSecond * arriving.seconds)
    const arrived = service.ask('drizzle', { credentialIds, ...arriving })
    return (await Promise.all([received, arrived]))[0]
  }
  await drizzle(WARMING_UP)
  await service.ask('collections', 'begin')
  const processor = await service.ask<number>('processor')
  const delays = await drizzle(ARRIVING)
  const worked = ((await service.ask<number>('processor')) - processor) / delays.length
  const collections = await service.ask<number>('collections', 'end')
  listeners.close()
  await service.stop()
  return { opening, opened, delays, collections, worked }
}

/** The id that each log gives next. */
async function nextUpdates({ sql }: Stage, credentialIds: readonly number[]): Promise<number[]> {
  const { rows } = await sql.query(
    `select next_update_id as next from credential_log
      where credential_id = any($1) order by array_position($1, credential_id)`,
    [credentialIds],
  )
  return rows.map(({ next }) => next)
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
      .request(get(`/bot${key}/getUpdates?timeout=50&offset=${FIRST_UPDATE}`))
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
