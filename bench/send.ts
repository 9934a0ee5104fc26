/** sendMessage on the sandbox, against a bare route that validates the same body and inserts one row. */
import { startBare } from './support/bare.ts'
import { load, post } from './support/connection.ts'
import { atLeast, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { milliseconds, percentile, perSecond } from './support/statistics.ts'

const BOTS = 16
const CONNECTIONS = 64
const WARM_UP_MS = 3_000
const TURNS = 6
const TURN_MS = 1_500

export async function send(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const { credentialIds } = await seedLinked(stage, userId, BOTS)
  const keys = await seedKeys(stage, userId, credentialIds)
  const people = await seedPeople(stage, userId, CONNECTIONS)
  await stage.sql.query(`create table bare_message (id bigint generated always as identity
    primary key, chat_id bigint not null, text text not null, at timestamptz not null default now())`)
  // Each connection is a bot that writes to one person; several of them share a bot.
  const requests = people.map((chat_id, index) =>
    Buffer.from(
      post(`/bot${keys[index % BOTS]}/sendMessage`, {
        chat_id,
        text: 'The quick brown fox jumps over the lazy dog.',
      }),
    ),
  )
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
  await service.stop()
  await bareServer.stop()

  const rate = (delays: readonly number[]) => (1000 * delays.length) / (TURNS * TURN_MS)
  const times = (delays: readonly number[]) =>
    `p50 ${milliseconds(percentile(delays, 0.5))}, p99 ${milliseconds(percentile(delays, 0.99))}`
  return [
    {
      what: `sendMessage on the sandbox, ${CONNECTIONS} connections, ${BOTS} bots`,
      ours: perSecond(rate(ours), 'requests'),
      bare: perSecond(rate(bare), 'requests'),
      ...atLeast(rate(ours), rate(bare), 0.5),
    },
    { what: '  request to answer', ours: times(ours), bare: times(bare) },
  ]
}
