/** sendMessage on the sandbox, against a bare route that validates the same body and inserts one row. */
import { startBare } from './support/bare.ts'
import { Connection, post } from './support/connection.ts'
import { atLeast, type Finding } from './support/finding.ts'
import { seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { milliseconds, now, percentile, perSecond } from './support/statistics.ts'

const BOTS = 16
const CONNECTIONS = 64
const WARM_UP_MS = 4_000
const MEASURED_MS = 8_000

export async function send(stage: Stage): Promise<Finding[]> {
  const userId = await seedUser(stage)
  const { credentialIds } = await seedLinked(stage, userId, BOTS)
  const keys = await seedKeys(stage, userId, credentialIds)
  const people = await seedPeople(stage, CONNECTIONS)
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
  await service.ask('online', BOTS)
  const ours = await load(service.port, requests)
  await service.stop()
  const bareServer = await startBare(stage)
  const bare = await load(bareServer.port, requests)
  await bareServer.stop()

  const times = ({ delays }: Loaded) =>
    `p50 ${milliseconds(percentile(delays, 0.5))}, p99 ${milliseconds(percentile(delays, 0.99))}`
  return [
    {
      what: `sendMessage on the sandbox, ${CONNECTIONS} connections, ${BOTS} bots`,
      ours: perSecond(ours.perSecond, 'requests'),
      bare: perSecond(bare.perSecond, 'requests'),
      ...atLeast(ours.perSecond, bare.perSecond, 0.5),
    },
    { what: '  request to answer', ours: times(ours), bare: times(bare) },
  ]
}

interface Loaded {
  readonly perSecond: number
  readonly delays: readonly number[]
}

/** Every connection asks again as soon as it is answered. */
async function load(port: number, requests: readonly Buffer[]): Promise<Loaded> {
  const delays: number[] = []
  const from = now() + WARM_UP_MS
  const until = from + MEASURED_MS
  const ask = async (request: Buffer) => {
    const connection = await Connection.open(port)
    for (let began = now(); began < until; ) {
      await connection.request(request)
      const ended = now()
      if (began >= from && ended <= until) delays.push(ended - began)
      began = ended
    }
    connection.close()
  }
  await Promise.all(requests.map(ask))
  return { perSecond: (1000 * delays.length) / MEASURED_MS, delays }
}
