/** One key with many chats, delivered to flat out: in short turns with bare loops that post the same to the same receiver. */
import { join } from 'node:path'
import { bareTables, type Posting, type Storing } from './support/bare-backlog.ts'
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
import { FIRST_UPDATE } from './support/seed.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, perSecond } from './support/statistics.ts'

// Enough that the first page and the widening to all connections do not count.
export const UPDATES = 20_000
const CHATS = 200
const CONNECTIONS = 40
const TURNS = 9

/** Those with which a delivery is compared: commands of the poster. */
const bareWays = ['post', 'store', 'log', 'pour'] as const
type Way = 'ours' | (typeof bareWays)[number]

/** The same backlog again and again. */
export async function flatOut(scene: Scene, key: string, credentialId: number): Promise<Finding[]> {
  const { service, stage, origin } = scene
  const posting: Posting = {
    origin,
    headers: HEADERS,
    body: bodyOf(FIRST_UPDATE, 1),
    posts: UPDATES,
    connections: CONNECTIONS,
  }
  const after = FIRST_UPDATE - 1
  const storing: Storing = { ...posting, databaseUrl: stage.databaseUrl, credentialId, after }
  const apiKeyId = Number(key.split(':')[0])
  const replay = () => service.ask('replay', { apiKeyId, after })
  const turns: Record<Way, Turn[]> = { ours: [], post: [], store: [], log: [], pour: [] }
  const posters = bareWays.map((way) => ({ way, poster: startPoster() }))
  await stage.sql.query(bareTables)
  await deliveriesTake(scene, UPDATES, () =>
    setWebhooks(scene, [key], () => `${origin}/hook`, CONNECTIONS),
  )
  for (const { way, poster } of posters) await poster.ask(way, storing)
  for (let turn = 0; turn < TURNS; turn++) {
    turns.ours.push(await timed(service, () => deliveriesTake(scene, UPDATES, replay)))
    for (const { way, poster } of posters) {
      turns[way].push(await timed(poster, () => poster.ask<number>(way, storing)))
    }
  }
  for (const { poster } of posters) await poster.stop()
  return findingsOf(turns)
}

function findingsOf({ ours, post, store, log, pour }: Readonly<Record<Way, Turn[]>>): Finding[] {
  const rate = rateOf(ours, UPDATES)
  const rates = (what: string, bare: readonly Turn[]) => ({
    what,
    ours: perSecond(rate, 'deliveries'),
    bare: perSecond(rateOf(bare, UPDATES), 'posts'),
    ratio: rate / rateOf(bare, UPDATES),
  })
  const cost = processorOf(ours, UPDATES)
  const costs = (what: string, bare: readonly Turn[]) => ({
    what,
    ours: microseconds(cost),
    bare: microseconds(processorOf(bare, UPDATES)),
    ratio: cost / processorOf(bare, UPDATES),
  })
  return [
    {
      ...rates(`webhook deliveries, ${CHATS} chats over ${CONNECTIONS} connections`, post),
      ...atLeast(rate, rateOf(post, UPDATES), 0.75),
    },
    rates('  beside a bare sender that reads and stores its progress as we do', store),
    rates('  beside one that stores a row of each post, too', log),
    costs('  processor time of the sending process for each', post),
    costs('  the same with pages and progress', store),
    costs('  the same with a row of each, too', log),
    costs('  the same by sockets alone, without an HTTP client', pour),
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
