/** What a user feels: one sendMessage after another, and the way of a person's message to a bot, at rates from rare to busy. */
import { join } from 'node:path'
import { startBare } from './support/bare.ts'
import type { BareWriting } from './support/bare-process.ts'
import { type Child, startChild } from './support/child.ts'
import { post, sendAll } from './support/connection.ts'
import { below, type Finding } from './support/finding.ts'
import { setWebhooks } from './support/hooks.ts'
import { Listeners } from './support/listeners.ts'
import type { Pace } from './support/load.ts'
import { FIRST_UPDATE, seedKeys, seedUser } from './support/seed.ts'
import { seedLinked, seedPeople } from './support/seed-sandbox.ts'
import { type Service, startService } from './support/service.ts'
import type { Writing } from './support/service-process.ts'
import { asksFor, type Stage } from './support/stage.ts'
import { microseconds, milliseconds, percentile } from './support/statistics.ts'

const TURNS = 5
const SENDS = 400
const SEND = { p50: 1.2, p99: 6 }
/** So many accounts, each with a bot; messages go to them in turn. */
const BOTS = 50
const WRITERS = 20
/** `messages` of a turn, at `perSecond`; the times that are asked for. The rarest are too few for a bare counterpart. */
const loads = [
  { perSecond: 1, messages: 6, p50: 4, p99: 15, besideBare: false },
  { perSecond: 20, messages: 120, p50: 4, p99: 15, besideBare: true },
  { perSecond: 100, messages: 400, p50: 4, p99: 15, besideBare: true },
  { perSecond: 1_000, messages: 3_000, p50: undefined, p99: 60, besideBare: true },
] as const
const WARMING_UP = { perSecond: 200, messages: 1_000 }

interface Scene {
  readonly stage: Stage
  readonly service: Service
  readonly userId: number
  readonly people: readonly number[]
}

/** Delivers so many messages at this rate; resolves with the milliseconds of each. */
type Way = (load: Pace) => Promise<readonly number[]>

interface Part {
  readonly what: string
  readonly way: Way
  /** The same messages to the bare server. */
  readonly bareWay?: Way | undefined
  readonly load: (typeof loads)[number]
  readonly turns: Sent[]
  readonly bareTurns: Sent[]
}

/** `--loads sends,polls-1,hooks-1000` measures these alone. */
export async function light(stage: Stage): Promise<Finding[]> {
  const receiver = startChild(join(import.meta.dirname, 'support/receiver-process.ts'))
  const userId = await seedUser(stage)
  const polled = await seedLinked(stage, userId, BOTS)
  const hooked = await seedLinked(stage, userId, BOTS)
  const pollKeys = await seedKeys(stage, userId, polled.credentialIds)
  const hookKeys = await seedKeys(stage, userId, hooked.credentialIds)
  const people = await seedPeople(stage, userId, WRITERS)
  await stage.sql.query(`create table bare_message (id bigint generated always as identity
    primary key, chat_id bigint not null, text text not null, at timestamptz not null default now())`)
  const service = await startService(stage, { START_BUDGET: '100' })
  const bare = await startBare(stage)
  const listeners = await Listeners.open(service.port, pollKeys, FIRST_UPDATE)
  const tokens = Array.from({ length: BOTS }, (_, index) => `${index + 1}`)
  await bare.ask('receive', tokens)
  const bareListeners = await Listeners.open(bare.port, tokens)
  try {
    await service.ask('online', 2 * BOTS)
    const scene = { stage, service, userId, people }
    const origin = `http://127.0.0.1:${await receiver.ask<number>('start')}`
    await setWebhooks({ ...scene, receiver, origin }, hookKeys, () => `${origin}/timed`, 1)
    const sends = asksFor(stage, 'sends') ? await oneByOne(scene, bare, hookKeys[0] ?? '') : []
    const bareWay = toBare(bare, bareListeners, tokens)
    const way = toPolls(scene, listeners, polled.people)
    const parts = [
      ...partsOf(stage, 'polls', 'a held getUpdates', way, bareWay),
      ...partsOf(stage, 'hooks', 'a webhook', toHooks(scene, receiver, hooked.people)),
    ]
    return [...sends, ...(await arrivals(scene, bare, parts))]
  } finally {
    listeners.close()
    bareListeners.close()
    await service.stop()
    await bare.stop()
    await receiver.stop()
  }
}

/** One connection, each request after the answer to the one before. */
async function oneByOne({ service, people }: Scene, bare: Service, key: string) {
  const [chat_id = 0] = people
  const body = { chat_id, text: 'The quick brown fox jumps over the lazy dog.' }
  const requests = Array<Buffer>(SENDS).fill(Buffer.from(post(`/bot${key}/sendMessage`, body)))
  const turns: { readonly ours: Sent; readonly bare: Sent }[] = []
  await sent(service, requests)
  await sent(bare, requests)
  for (let turn = 0; turn < TURNS; turn++) {
    const ours = await sent(service, requests)
    turns.push({ ours, bare: await sent(bare, requests) })
  }
  const median = (figure: (turn: (typeof turns)[number]) => number) =>
    percentile(turns.map(figure), 0.5)
  const [worked, bareWorked] = [
    median((turn) => turn.ours.processor),
    median((turn) => turn.bare.processor),
  ]
  const times = ([0.5, 0.99] as const).map((share) => {
    const of = (side: 'ours' | 'bare') => median((turn) => percentile(turn[side].delays, share))
    const limit = share === 0.5 ? SEND.p50 : SEND.p99
    return {
      what: `sendMessage on the sandbox, one at a time, p${100 * share}`,
      ours: milliseconds(of('ours')),
      bare: milliseconds(of('bare')),
      ratio: of('ours') / of('bare'),
      ...below(of('ours'), limit, milliseconds(limit)),
    }
  })
  return [
    ...times,
    {
      what: '  processor time of the server for each',
      ours: microseconds(worked / SENDS),
      bare: microseconds(bareWorked / SENDS),
      ratio: worked / bareWorked,
    },
  ]
}

interface Sent {
  readonly delays: readonly number[]
  /** Milliseconds of processor time of the server. */
  readonly processor: number
}

const sent = (server: Service, requests: readonly Buffer[]): Promise<Sent> =>
  taken(server, () => sendAll(server.port, [requests]))

async function taken(server: Service, work: () => Promise<readonly number[]>): Promise<Sent> {
  const before = await server.ask<number>('processor')
  const delays = await work()
  return { delays, processor: (await server.ask<number>('processor')) - before }
}

const toPolls =
  ({ service, userId, people }: Scene, listeners: Listeners, accounts: readonly number[]): Way =>
  async (load) => {
    const received = listeners.receive(load.messages)
    await service.ask('write', { userId, people, accounts, ...load } satisfies Writing)
    return received
  }

const toHooks =
  ({ service, userId, people }: Scene, receiver: Child, accounts: readonly number[]): Way =>
  async (load) => {
    await receiver.ask('count', load.messages)
    const counted = receiver.ask('counted')
    await service.ask('write', { userId, people, accounts, ...load } satisfies Writing)
    await counted
    return receiver.ask<number[]>('delays')
  }

/** The floor of this machine: the commits of the messenger and of the service, one after the other, and a poll that is answered. */
const toBare =
  (bare: Service, listeners: Listeners, tokens: readonly string[]): Way =>
  async (load) => {
    const received = listeners.receive(load.messages)
    await bare.ask('write', { ...load, tokens } satisfies BareWriting)
    return received
  }

const partsOf = (stage: Stage, name: string, to: string, way: Way, bareWay?: Way): Part[] =>
  loads
    .filter(({ perSecond }) => asksFor(stage, `${name}-${perSecond}`))
    .map((load) => ({
      what: `a person's message to ${to}, ${load.perSecond}/s`,
      way,
      bareWay: load.besideBare ? bareWay : undefined,
      load,
      turns: [],
      bareTurns: [],
    }))

/** Each rate in turn, by each way. */
async function arrivals({ stage, service }: Scene, bare: Service, parts: readonly Part[]) {
  const ways = parts.flatMap(({ way, bareWay }) => [way, ...(bareWay ? [bareWay] : [])])
  for (const way of new Set(ways)) await way(WARMING_UP)
  for (let turn = 1; turn <= TURNS; turn++) {
    for (const { way, bareWay, load, turns, bareTurns } of parts) {
      turns.push(await taken(service, () => way(load)))
      if (bareWay) bareTurns.push(await taken(bare, () => bareWay(load)))
    }
    stage.note(`turn ${turn} of ${TURNS}`)
  }
  return parts.flatMap(findings)
}

/** Of a turn of 120 messages, the 99th percentile is the slowest but one: all turns together say more. */
function findings({ what, load, turns, bareTurns }: Part): Finding[] {
  const at = (side: readonly Sent[], share: number) =>
    percentile(
      side.map(({ delays }) => percentile(delays, share)),
      0.5,
    )
  const ofAll = (side: readonly Sent[]) =>
    percentile(
      side.flatMap(({ delays }) => delays),
      0.99,
    )
  const worked = (side: readonly Sent[]) =>
    percentile(
      side.map(({ processor }) => processor),
      0.5,
    ) / load.messages
  const row = (figure: (side: readonly Sent[]) => number, shown: (value: number) => string) => ({
    ours: shown(figure(turns)),
    ...(bareTurns.length > 0 && {
      bare: shown(figure(bareTurns)),
      ratio: figure(turns) / figure(bareTurns),
    }),
  })
  const [p50, p99] = [at(turns, 0.5), at(turns, 0.99)]
  return [
    {
      what: `${what}, p50`,
      ...row((side) => at(side, 0.5), milliseconds),
      ...(load.p50 !== undefined && below(p50, load.p50, milliseconds(load.p50))),
    },
    {
      what: '  p99',
      ...row((side) => at(side, 0.99), milliseconds),
      ...below(p99, load.p99, milliseconds(load.p99)),
    },
    {
      what: `  p99 of the ${TURNS * load.messages} of all turns`,
      ...row(ofAll, milliseconds),
    },
    {
      what: '  processor time of the service, which the messenger of the sandbox shares',
      ...row(worked, microseconds),
    },
  ]
}
