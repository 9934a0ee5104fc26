/** One key with many chats, delivered to flat out: in short turns with bare loops that post the same to the same receiver. */
import { join } from 'node:path'
import { startChild } from './support/child.ts'
import { atLeast, type Finding } from './support/finding.ts'
import {
  deliveriesTake,
  processorOf,
  rateOf,
  type Scene,
  setWebhooks,
  type Turn,
  timed,
} from './support/hooks.ts'
import type { Posting } from './support/poster-process.ts'
import { FIRST_UPDATE } from './support/seed.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, perSecond } from './support/statistics.ts'

// Enough that the first page and the widening to all connections do not count.
export const UPDATES = 20_000
const CHATS = 200
const CONNECTIONS = 40
const TURNS = 9

/** The same backlog again and again. */
export async function flatOut(scene: Scene, key: string): Promise<Finding[]> {
  const { service, origin } = scene
  const [poster, floor] = [startPoster(), startPoster()]
  const posting: Posting = {
    origin,
    headers: HEADERS,
    body: bodyOf(FIRST_UPDATE, 1),
    posts: UPDATES,
    connections: CONNECTIONS,
  }
  const apiKeyId = Number(key.split(':')[0])
  const replay = () => service.ask('replay', { apiKeyId, after: FIRST_UPDATE - 1 })
  const ours: Turn[] = []
  const bare: Turn[] = []
  const sockets: Turn[] = []
  await deliveriesTake(scene, UPDATES, () =>
    setWebhooks(scene, [key], () => `${origin}/hook`, CONNECTIONS),
  )
  await poster.ask('post', posting)
  await floor.ask('pour', posting)
  for (let turn = 0; turn < TURNS; turn++) {
    ours.push(await timed(service, () => deliveriesTake(scene, UPDATES, replay)))
    bare.push(await timed(poster, () => poster.ask<number>('post', posting)))
    sockets.push(await timed(floor, () => floor.ask<number>('pour', posting)))
  }
  await poster.stop()
  await floor.stop()
  const [rate, bareRate] = [rateOf(ours, UPDATES), rateOf(bare, UPDATES)]
  const [cost, bareCost] = [processorOf(ours, UPDATES), processorOf(bare, UPDATES)]
  return [
    {
      what: `webhook deliveries, ${CHATS} chats over ${CONNECTIONS} connections`,
      ours: perSecond(rate, 'deliveries'),
      bare: perSecond(bareRate, 'posts'),
      ...atLeast(rate, bareRate, 0.75),
    },
    {
      what: '  processor time of the sending process for each',
      ours: microseconds(cost),
      bare: microseconds(bareCost),
      ratio: cost / bareCost,
    },
    {
      what: '  the same by sockets alone, without an HTTP client',
      ours: microseconds(cost),
      bare: microseconds(processorOf(sockets, UPDATES)),
      ratio: cost / processorOf(sockets, UPDATES),
    },
  ]
}

const startPoster = () => startChild(join(import.meta.dirname, 'support/poster-process.ts'))

/** What a delivery to a key without signing keys has. */
const HEADERS = {
  'content-type': 'application/json',
  'accept-encoding': 'gzip, deflate',
  'user-agent': 'Chapar',
  'webhook-id': `100000-${FIRST_UPDATE}`,
  'webhook-timestamp': '1700000000',
}

const bodyOf = (updateId: number, chat: number) =>
  `{"update_id":${updateId},\n"message":${messageOf(updateId, chat)}}`

const messageOf = (id: number, chat: number) =>
  JSON.stringify({
    message_id: id,
    date: 1_700_000_000,
    chat: { id: chat, type: 'private', first_name: 'Ada' },
    from: { id: chat, is_bot: false, first_name: 'Ada' },
    text: 'the quick brown fox jumps over the lazy dog and runs into the forest',
  })

/** As the log would hold them; the service must not run yet. */
export async function seedUpdates({ sql }: Stage, credentialId: number): Promise<void> {
  const numbers = Array.from({ length: UPDATES }, (_, index) => index)
  await sql.query(
    `insert into update_log (credential_id, update_id, source_key, kind, chat_id, payload)
     select $1, ${FIRST_UPDATE} + n, 'seed:' || n, 0, chat, payload
       from unnest($2::int[], $3::bigint[], $4::text[]) as u (n, chat, payload)`,
    [
      credentialId,
      numbers,
      numbers.map((number) => number % CHATS),
      numbers.map((number) => `"message":${messageOf(number, number % CHATS)}`),
    ],
  )
  await sql.query('update credential_log set next_update_id = $2 where credential_id = $1', [
    credentialId,
    FIRST_UPDATE + UPDATES,
  ])
}
