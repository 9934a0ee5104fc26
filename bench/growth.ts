/** The laws of growth: what a list, an update, a page or a message costs when there are thirty and a hundred times as many. */
import { setTimeout as pause } from 'node:timers/promises'
import { AccountNames, OpenedIdentities } from '../src/credentials/identity.ts'
import {
  type CredentialQuery,
  countCredentials,
  searchCredentials,
} from '../src/credentials/list.ts'
import type { RecordSource } from '../src/credentials/records.ts'
import { listRequests, upkeep } from '../src/observability/request-journal.ts'
import { seedUpdates } from './backlog.ts'
import { Connection, get, post, sendAll } from './support/connection.ts'
import type { Finding } from './support/finding.ts'
import { lawOf, type Point, pointsOf } from './support/law.ts'
import { Listeners } from './support/listeners.ts'
import { anyCredential } from './support/queries.ts'
import { FIRST_UPDATE, seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { type Service, startService } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { now, percentile } from './support/statistics.ts'

const ACCOUNTS = [1_000, 10_000, 30_000]
const REQUESTS = [3_000, 30_000, 100_000]
const BACKLOGS = [1_000, 10_000, 100_000]
const KEYS = [30, 300, 1_000]
const HELD = [100, 1_000, 3_000]
const CHATS = [100, 1_000, 3_000]
const TURNS = 7
const PAGE = 100

export async function growth(stage: Stage): Promise<Finding[]> {
  const found: Finding[] = []
  const laws = async (what: string, find: () => Promise<Finding[]>) => {
    const began = now()
    found.push(...(await find()))
    stage.note(`${what}: ${((now() - began) / 1_000).toFixed(0)} s`)
  }
  await laws('accounts in a list', () => ofLists(stage))
  await laws('requests in the log', () => ofRequests(stage))
  const scene = await open(stage)
  try {
    await laws('updates that wait', () => ofBacklogs(scene))
    await laws('keys on an account', () => ofKeys(scene))
    await laws('chats of an account', () => ofChats(scene))
    await laws('held polls', () => ofHeldPolls(scene))
  } finally {
    await scene.service.stop()
  }
  return found
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = now()
  await work()
  return now() - began
}

/** Each size is a user of its own in the same tables. */
async function ofLists(stage: Stage): Promise<Finding[]> {
  const subjects = []
  for (const size of ACCOUNTS) {
    const userId = await seedUser(stage)
    await stage.sql.query(
      `insert into credential (user_id, platform, native_id, account, state, last_event_at)
       select $1, 'test', n, jsonb_build_object('native', n::text, 'firstName', 'Person ' || n),
         case when n % 50 = 0 then 'reconnecting' else 'active' end, now() - n * interval '1 second'
       from generate_series(1, $2::int) n`,
      [userId, size],
    )
    subjects.push({ size, userId })
  }
  await stage.sql.query('vacuum analyze credential')
  const identities = new OpenedIdentities(stage.vault)
  const source: RecordSource = {
    db: stage.db,
    flush: async () => undefined,
    accountId: async (id) => id,
    identity: (row) => identities.of(row),
    names: new AccountNames(stage.db, (row) => identities.of(row)),
  }
  const page = (more: Partial<CredentialQuery>) => (userId: number) =>
    searchCredentials(source, userId, { ...anyCredential, ...more })
  const lists = {
    newest: page({}),
    'by last event': page({ sort: 'last_event' }),
    'a search for none': page({ search: 'nobody at all' }),
    'counts by state': (userId: number) => countCredentials(source, userId),
  }
  const findings: Finding[] = []
  for (const [what, list] of Object.entries(lists)) {
    const points = await pointsOf(subjects, TURNS, ({ userId }) => timed(() => list(userId)))
    findings.push(lawOf(`a list of accounts, ${what}`, points))
  }
  // The service would try to connect them.
  await stage.sql.query('delete from credential')
  return findings
}

async function ofRequests(stage: Stage): Promise<Finding[]> {
  const { db, sql } = stage
  await upkeep(db, 30)
  const subjects = []
  for (const size of REQUESTS) {
    const userId = await seedUser(stage)
    await sql.query(
      `insert into request_log (at, request_id, user_id, api_key_id, credential_id, method, status, error_code,
         duration_ms, request_bytes, response_bytes, ip)
       select now() - n * interval '3600 seconds' / $2::int, gen_random_uuid(), $1, $1, $1, 'sendMessage',
         case when n % 100 = 7 then 400 else 200 end, case when n % 100 = 7 then 400 end, 1.5, 100, 300, '127.0.0.1'
       from generate_series(0, $2::int - 1) n`,
      [userId, size],
    )
    subjects.push({ size, userId })
  }
  await sql.query('vacuum analyze request_log')
  const lists = {
    newest: (userId: number) => listRequests(db, { userId, limit: 50 }),
    'failed with a code': (userId: number) =>
      listRequests(db, { userId, limit: 50, errorCode: 400 }),
    'a method that there is not': (userId: number) =>
      listRequests(db, { userId, limit: 50, method: 'sendDice' }),
  }
  const findings: Finding[] = []
  for (const [what, list] of Object.entries(lists)) {
    const points = await pointsOf(subjects, TURNS, ({ userId }) => timed(() => list(userId)))
    findings.push(lawOf(`requests in the log, ${what}`, points))
  }
  return findings
}

interface Account {
  readonly size: number
  readonly credentialId: number
  readonly keys: readonly string[]
}

interface Sender {
  readonly size: number
  readonly key: string
  /** People to whom it has written. */
  readonly known: readonly number[]
}

interface Scene {
  readonly stage: Stage
  readonly service: Service
  readonly userId: number
  readonly late: readonly Account[]
  readonly shared: readonly Account[]
  readonly senders: readonly Sender[]
  readonly waiters: readonly Account[]
}

/** All accounts are seeded before the service begins. */
async function open(stage: Stage): Promise<Scene> {
  const userId = await seedUser(stage)
  const sizes = [...BACKLOGS, ...KEYS, ...Array<number>(Math.max(...HELD)).fill(1)]
  const ids = await seedChatter(stage, userId, sizes.length)
  const part = async (from: number, count: number, keysOf: (size: number) => number) => {
    const some = ids.slice(from, from + count)
    const owners = some.flatMap((id, n) => Array<number>(keysOf(sizes[from + n] ?? 0)).fill(id))
    const keys = await seedKeys(stage, userId, owners)
    return some.map((credentialId, n) => ({
      size: sizes[from + n] ?? 0,
      credentialId,
      keys: keys.filter((_, place) => owners[place] === credentialId),
    }))
  }
  const late = await part(0, BACKLOGS.length, () => 1)
  for (const { credentialId, size } of late) await seedUpdates(stage, credentialId, size)
  await stage.sql.query('vacuum analyze update_log')
  const shared = await part(BACKLOGS.length, KEYS.length, (size) => size)
  const waiters = await part(BACKLOGS.length + KEYS.length, Math.max(...HELD), () => 1)
  const { credentialIds } = await seedLinked(stage, userId, CHATS.length)
  const senderKeys = await seedKeys(stage, userId, credentialIds)
  const senders: Sender[] = []
  for (const [place, size] of CHATS.entries()) {
    const known = await seedPeople(stage, userId, size)
    senders.push({ size, key: senderKeys[place] ?? '', known })
  }
  const service = await startService(stage, { START_BUDGET: '100' })
  await service.ask('online', late.length + shared.length + waiters.length + senders.length)
  return { stage, service, userId, late, shared, senders, waiters }
}

/** The first page again and again, each time by another offset that confirms nothing. */
async function ofBacklogs({ service, late }: Scene): Promise<Finding[]> {
  const connection = await Connection.open(service.port)
  let asked = 0
  const pages = await pointsOf(late, 40, ({ keys: [key] }) =>
    timed(async () => {
      const path = `/bot${key}/getUpdates?limit=${PAGE}&offset=${++asked}`
      const { result } = JSON.parse(`${await connection.request(get(path))}`)
      if (result.length !== PAGE) throw new Error(`a page of ${result.length}`)
    }),
  )
  connection.close()
  return [lawOf(`a page of ${PAGE} of the updates that wait`, pages)]
}

const speech = (credentialId: number) => ({
  credentialIds: [credentialId],
  batch: 1,
  reports: 1,
  everyMs: 0,
})

/** Processor time of one update for all keys of an account, until each has it and its poll is held again. */
async function ofKeys({ service, shared }: Scene): Promise<Finding[]> {
  const points: Point[] = []
  for (const { size, credentialId, keys } of shared) {
    const listeners = await Listeners.open(service.port, keys, FIRST_UPDATE)
    await untilHeld(service, size)
    const costs: number[] = []
    for (let update = 0; update < 3 + TURNS; update++) {
      const before = await service.ask<number>('processor')
      const all = listeners.receive(size)
      await service.ask('speak', speech(credentialId))
      await all
      await untilHeld(service, size)
      if (update >= 3) costs.push((await service.ask<number>('processor')) - before)
    }
    listeners.close()
    while ((await service.ask<number>('waitingPolls')) > 0) await pause(50)
    points.push({ size, costs })
  }
  return [lawOf('an update for the keys of an account, processor time', points)]
}

async function untilHeld(service: Service, polls: number): Promise<void> {
  while ((await service.ask<number>('waitingPolls')) < polls) await pause(20)
}

const MESSAGES = 25
const AT_ONCE = 16

const messages = (key: string, people: readonly number[]) =>
  people.map((chat_id) => Buffer.from(post(`/bot${key}/sendMessage`, { chat_id, text: 'Hello!' })))

/** One message after another, so that each costs what a user waits for. */
async function ofChats({ stage, service, userId, senders }: Scene): Promise<Finding[]> {
  for (const { key, known } of senders) {
    const requests = messages(key, known)
    const lists = Array.from({ length: AT_ONCE }, (_, place) =>
      requests.filter((_, index) => index % AT_ONCE === place),
    )
    await sendAll(service.port, lists)
  }
  const half = async (requests: readonly Buffer[]) =>
    percentile(await sendAll(service.port, [requests]), 0.5)
  const known = await pointsOf(senders, TURNS, ({ key, known, size }) => {
    const some = Array.from({ length: MESSAGES }, (_, n) => known[(n * 37) % size] ?? 0)
    return half(messages(key, some))
  })
  const first = await pointsOf(senders, 3, async ({ key }) =>
    half(messages(key, await seedPeople(stage, userId, MESSAGES))),
  )
  return [
    lawOf('a message to one of the chats of an account', known),
    lawOf('a first message of an account with chats', first),
  ]
}

const UPDATES = { perSecond: 100, seconds: 2 }

/** What an update for one of a hundred polls costs while more and more others are held, and what all of these cost to open. */
async function ofHeldPolls({ service, waiters }: Scene): Promise<Finding[]> {
  const [opening, updates]: [Point[], Point[]] = [[], []]
  const few = waiters.slice(0, HELD[0])
  const rest = waiters.slice(HELD[0])
  const keysOf = (accounts: readonly Account[]) => accounts.flatMap(({ keys }) => keys)
  for (const size of HELD) {
    const others = keysOf(rest.slice(0, size - few.length))
    const spent: number[] = []
    const costs: number[] = []
    for (let turn = 0; turn < 4; turn++) {
      const before = await service.ask<number>('processor')
      const ours = await Listeners.open(service.port, keysOf(few))
      const theirs = await Listeners.open(service.port, others)
      await untilHeld(service, size)
      if (turn > 0) spent.push((await service.ask<number>('processor')) - before)
      const cost = await ofUpdates(service, ours, few)
      if (turn > 0) costs.push(cost)
      ours.close()
      theirs.close()
      while ((await service.ask<number>('waitingPolls')) > 0) await pause(50)
    }
    opening.push({ size, costs: spent })
    updates.push({ size, costs })
  }
  return [
    lawOf('an update for one of the held polls, processor time', updates),
    lawOf('opening all of the polls, processor time', opening),
  ]
}

/** Milliseconds of processor time for each update. */
async function ofUpdates(
  service: Service,
  listeners: Listeners | undefined,
  accounts: readonly Account[],
): Promise<number> {
  const count = UPDATES.perSecond * UPDATES.seconds
  const before = await service.ask<number>('processor')
  const all = listeners?.receive(count)
  const credentialIds = accounts.map(({ credentialId }) => credentialId)
  await service.ask('drizzle', { credentialIds, ...UPDATES })
  await all
  return ((await service.ask<number>('processor')) - before) / count
}
