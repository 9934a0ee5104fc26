/** sendMessage on the sandbox, against a bare route that validates the same body and inserts one row. */
import { startBare } from './support/bare.ts'
import { load, post, sendAll } from './support/connection.ts'
import { atLeast, atMost, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, milliseconds, now, percentile, perSecond } from './support/statistics.ts'

const BOTS = 16
const CONNECTIONS = 64
const WARM_UP_MS = 3_000
const TURNS = 6
const TURN_MS = 1_500
/** Messages of a turn to chats that are not open yet. */
const CONTACTS = 4_096
const CONTACTS_ONE_BY_ONE = 300

export async function send(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const { credentialIds } = await seedLinked(stage, userId, BOTS)
  const keys = await seedKeys(stage, userId, credentialIds)
  const people = await seedPeople(stage, userId, CONNECTIONS)
  await stage.sql.query(`create table bare_message (id bigint generated always as identity
    primary key, chat_id bigint not null, text text not null, at timestamptz not null default now())`)
  // Each connection is a bot that writes to one person; several of them share a bot.
  const requests = people.map((chat_id, index) => requestFor(keys[index % BOTS] ?? '', chat_id))
  const service = await startService(stage, { START_BUDGET: '100' })
  const bareServer = await startBare(stage)
  await service.ask('online', BOTS)
  await load(service.port, requests, WARM_UP_MS)
  await load(bareServer.port, requests, WARM_UP_MS)
  const [ours, bare]: [number[], number[]] = [[], []]
  // In turn, so that whatever else the machine does meets both alike.
  for (let turn = 0; turn < TURNS; turn++) {
    ours.push(...(await load(service.port, requests, TURN_MS)))
    bare.push(...(await load(bareServer.port, requests, TURN_MS)))
  }
  await bareServer.stop()
  const scene = { stage, service, userId, keys }
  const contacts = [
    ...(await firstMessages(scene, CONTACTS, CONNECTIONS)),
    ...(await firstMessages(scene, CONTACTS_ONE_BY_ONE, 1)),
  ]
  await service.stop()

  const rate = (delays: readonly number[]) => (1000 * delays.length) / (TURNS * TURN_MS)
  const times = (delays: readonly number[]) =>
    `p50 ${milliseconds(percentile(delays, 0.5))}, p99 ${milliseconds(percentile(delays, 0.99))}`
  return [
    {
      what: `sendMessage on the sandbox, ${CONNECTIONS} connections, ${BOTS} bots`,
      ours: perSecond(rate(ours), 'requests'),
      bare: perSecond(rate(bare), 'requests'),
      ...atLeast(rate(ours), rate(bare), 0.7),
    },
    { what: '  request to answer', ours: times(ours), bare: times(bare) },
    ...contacts,
  ]
}

const requestFor = (key: string, chat_id: number) =>
  Buffer.from(
    post(`/bot${key}/sendMessage`, {
      chat_id,
      text: 'The quick brown fox jumps over the lazy dog.',
    }),
  )

interface Scene {
  readonly stage: Stage
  readonly service: Service
  readonly userId: number
  readonly keys: readonly string[]
}

/** The first message to each of so many people, and then another one to each. */
async function firstMessages(
  { stage, service, userId, keys }: Scene,
  count: number,
  connections: number,
): Promise<Finding[]> {
  const turns: { readonly first: Pass; readonly warm: Pass }[] = []
  for (let turn = 0; turn < TURNS; turn++) {
    const people = await seedPeople(stage, userId, count)
    const requests = people.map((id, index) => requestFor(keys[index % BOTS] ?? '', id))
    const lists = Array.from({ length: connections }, (_, place) =>
      requests.filter((_, index) => index % connections === place),
    )
    turns.push({ first: await pass(service, lists), warm: await pass(service, lists) })
  }
  const median = (figure: (turn: (typeof turns)[number]) => number) =>
    percentile(turns.map(figure), 0.5)
  const [first, warm] = [median((turn) => turn.first.took), median((turn) => turn.warm.took)]
  const p50 = (delays: readonly number[]) => percentile(delays, 0.5)
  return [
    {
      what: `first message to a chat (bare: the next one), ${connections} connections`,
      ours: microseconds(first / count),
      bare: microseconds(warm / count),
      ...atMost(
        median((turn) => turn.first.took / turn.warm.took),
        1,
        2,
      ),
    },
    {
      what: '  request to answer, p50',
      ours: milliseconds(median((turn) => p50(turn.first.delays))),
      bare: milliseconds(median((turn) => p50(turn.warm.delays))),
    },
    {
      what: '  processor time of the service',
      ours: microseconds(median((turn) => turn.first.processor) / count),
      bare: microseconds(median((turn) => turn.warm.processor) / count),
    },
  ]
}

/** Milliseconds: of all, of each request, of the service's processor. */
interface Pass {
  readonly took: number
  readonly delays: readonly number[]
  readonly processor: number
}

async function pass(service: Service, lists: readonly (readonly Buffer[])[]): Promise<Pass> {
  const before = await service.ask<number>('processor')
  const began = now()
  const delays = await sendAll(service.port, lists)
  const took = now() - began
  return { took, delays, processor: (await service.ask<number>('processor')) - before }
}
