/** This tree of the source and another one in alternating turns: what a change costs, on a machine whose speed changes from minute to minute. */
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Child, startChild } from './support/child.ts'
import type { Finding } from './support/finding.ts'
import { deliveriesTake } from './support/hooks.ts'
import type { Service } from './support/service.ts'
import type { Writing } from './support/service-process.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, milliseconds, now, percentile } from './support/statistics.ts'
import { UPDATES } from './webhooks-flat.ts'

const BOTS = 16
const PASSED_BOTS = 4
const CONNECTIONS = 64
const HOOK_CONNECTIONS = 40
const POLLS = 1_000
const WARMING_UP = 3
const TURNS = 25
const TURN_MS = 1_200
/** Of a turn with one call at a time. */
const LONE_CALLS = 400
const ARRIVALS = { perSecond: 100, messages: 120 }
const TEXT = 'The quick brown fox jumps over the lazy dog.'

/** The helpers of one tree: each seeds the tables that its own migrations made. */
interface Tree {
  readonly stages: typeof import('./support/stage.ts')
  readonly seed: typeof import('./support/seed.ts')
  readonly sandbox: typeof import('./support/seed-sandbox.ts')
  readonly services: typeof import('./support/service.ts')
  readonly connections: typeof import('./support/connection.ts')
  readonly listeners: typeof import('./support/listeners.ts')
  readonly hooks: typeof import('./support/hooks.ts')
  readonly flat: typeof import('./webhooks-flat.ts')
  /** Options of Node.js for its service, beside the ones it has. */
  readonly nodeOptions: readonly string[]
}

/** Milliseconds of the service's processor and of the clock for one operation, and the longest stall of the turn. */
interface Turn {
  readonly processor: number
  readonly took: number
  readonly stall: number
}

interface Side {
  readonly turns: Readonly<Record<Load, Turn[]>>
  readonly play: Readonly<Record<Load, () => Promise<Turn>>>
}

type Load = 'sends' | 'polls' | 'deliveries' | 'lone' | 'arrivals' | 'passed'

const names: Readonly<Record<Load, string>> = {
  sends: `sendMessage, ${CONNECTIONS} connections`,
  polls: `one update for ${POLLS} polls, each`,
  deliveries: `a delivery to a webhook over ${HOOK_CONNECTIONS} connections`,
  lone: 'sendMessage, one at a time',
  arrivals: `a person's message to a held getUpdates, ${ARRIVALS.perSecond}/s`,
  passed: `sendMessage passed on, ${PASSED_BOTS} connections`,
}

/** `--loads sends,lone`: only these. */
function loadsOf({ loads = '' }: Stage['options']): readonly Load[] {
  const wanted = loads.split(',').filter(Boolean)
  const all = Object.keys(names) as Load[]
  const unknown = wanted.filter((name) => !all.some((load) => load === name))
  if (unknown.length > 0) throw new Error(`no such loads: ${unknown.join(', ')}`)
  return wanted.length === 0 ? all : all.filter((load) => wanted.includes(load))
}

/** Takes the deliveries of both sides, in a process of its own. */
interface Receiver {
  readonly child: Child
  readonly origin: string
}

/** `--tree FOLDER` names the other tree, this one without it; `--node OPTIONS` are Node.js's for the other one's service. */
export async function beside(stage: Stage): Promise<Finding[]> {
  const { tree = '', node = '' } = stage.options
  const loads = loadsOf(stage.options)
  const own = await loadTree(join(import.meta.dirname, '..'), [])
  const other = await loadTree(tree, node.split(' ').filter(Boolean))
  const compare = async (itsStage: Stage) => {
    await using opened = new AsyncDisposableStack()
    const scene = { loads, receiver: await openReceiver(opened), opened }
    const theirs = await openSide(other, itsStage, scene)
    const ours = await openSide(own, stage, scene)
    await alternate(loads, [theirs, ours])
    return loads.flatMap((load) => findingsOf(load, ours, theirs))
  }
  if (!tree) return stage.perform('beside_other', compare)
  const theatre = await other.stages.openTheatre(stage.note, stage.options)
  return theatre.perform('beside', compare).finally(() => theatre.close())
}

async function openReceiver(opened: AsyncDisposableStack): Promise<Receiver> {
  const child = startChild(join(import.meta.dirname, 'support/receiver-process.ts'))
  opened.defer(() => child.stop())
  return { child, origin: `http://127.0.0.1:${await child.ask<number>('start')}` }
}

async function loadTree(folder: string, nodeOptions: readonly string[]): Promise<Tree> {
  const helper = (name: string) => import(join(resolve(folder), 'bench/support', `${name}.ts`))
  return {
    stages: await helper('stage'),
    seed: await helper('seed'),
    sandbox: await helper('seed-sandbox'),
    services: await helper('service'),
    connections: await helper('connection'),
    listeners: await helper('listeners'),
    hooks: await helper('hooks'),
    flat: await helper('../webhooks-flat'),
    nodeOptions,
  }
}

/** What one side is made of before its service starts. */
async function seeded({ seed, sandbox, flat }: Tree, stage: Stage, loads: readonly Load[]) {
  const userId = await seed.seedUser(stage)
  const linked = await sandbox.seedLinked(stage, userId, BOTS)
  const [chatter = 0, hooked = 0] = await seed.seedChatter(stage, userId, 2)
  const passed = Array.from({ length: PASSED_BOTS }, (_, index) => ({
    native: `${1_000 + index}`,
    firstName: 'Bot',
    secrets: { token: `${1_000 + index}:${'a'.repeat(35)}` },
  }))
  const passedIds = await seed.seedCredentials(stage, userId, 'telegram-bot', passed)
  if (loads.includes('deliveries')) await flat.seedUpdates(stage, hooked)
  return {
    userId,
    chatter,
    accounts: linked.people,
    people: await sandbox.seedPeople(stage, userId, CONNECTIONS),
    bots: await seed.seedKeys(stage, userId, linked.credentialIds),
    receivers: await seed.seedKeys(stage, userId, linked.credentialIds),
    pollers: await seed.seedKeys(stage, userId, [chatter], POLLS),
    hooks: await seed.seedKeys(stage, userId, [hooked]),
    passing: await seed.seedKeys(stage, userId, passedIds),
  }
}

interface Scene {
  readonly loads: readonly Load[]
  readonly receiver: Receiver
  readonly opened: AsyncDisposableStack
}

async function openService(tree: Tree, stage: Stage, { opened }: Scene): Promise<Service> {
  const upstream = startChild(join(import.meta.dirname, 'support/upstream-process.ts'))
  opened.defer(() => upstream.stop())
  const network = `http://127.0.0.1:${await upstream.ask<number>('start')}`
  const env = { START_BUDGET: '100', TELEGRAM_BOT_API_URL: network }
  const service = await tree.services.startService(stage, env, tree.nodeOptions)
  opened.defer(() => service.stop())
  await service.ask('online', BOTS + 2 + PASSED_BOTS)
  return service
}

async function openSide(tree: Tree, stage: Stage, scene: Scene): Promise<Side> {
  const { loads, receiver, opened } = scene
  const { userId, chatter, accounts, people, ...keys } = await seeded(tree, stage, loads)
  const service = await openService(tree, stage, scene)
  const { load, post, sendAll } = tree.connections
  const listen = async (heldKeys: readonly string[]) => {
    const first = tree.seed.FIRST_UPDATE
    const listeners = await tree.listeners.Listeners.open(service.port, heldKeys, first)
    opened.defer(() => listeners.close())
    return listeners
  }
  const pollers = await listen(loads.includes('polls') ? keys.pollers : [])
  const receivers = await listen(loads.includes('arrivals') ? keys.receivers : [])
  const waiting = POLLS + (loads.includes('arrivals') ? BOTS : 0)
  if (loads.includes('polls')) await untilHeld(service, waiting)
  const deliveries = loads.includes('deliveries')
    ? await openHook(tree, { stage, service, receiver }, keys.hooks[0] ?? '')
    : async () => Promise.reject(new Error('nobody asked for deliveries'))
  const sendBy = (key = '', chat_id = 0) =>
    Buffer.from(post(`/bot${key}/sendMessage`, { chat_id, text: TEXT }))
  const sends = people.map((chat, index) => sendBy(keys.bots[index % BOTS], chat))
  const passed = keys.passing.map((key) => sendBy(key, people[0]))
  const lone = Array<Buffer>(LONE_CALLS).fill(sendBy(keys.bots[0], people[0]))
  const play = (work: () => Promise<Work>) => () => timed(service, work)
  return {
    turns: { sends: [], polls: [], deliveries: [], lone: [], arrivals: [], passed: [] },
    play: {
      deliveries,
      sends: play(async () => (await load(service.port, sends, TURN_MS)).length),
      lone: play(() => sendAll(service.port, [lone])),
      passed: play(() => load(service.port, passed, TURN_MS)),
      arrivals: play(async () => {
        const all = receivers.receive(ARRIVALS.messages)
        await service.ask('write', { userId, people, accounts, ...ARRIVALS } satisfies Writing)
        return all
      }),
      polls: play(async () => {
        const all = pollers.receive(POLLS)
        const speech = { credentialIds: [chatter], batch: 1, reports: 1, everyMs: 0 }
        await service.ask('speak', speech)
        await all
        await untilHeld(service, waiting)
        return POLLS
      }),
    },
  }
}

interface Hooked {
  readonly stage: Stage
  readonly service: Service
  readonly receiver: Receiver
}

/** Delivers a backlog for the first time; the turns deliver the same one again. */
async function openHook(
  { hooks, seed }: Tree,
  { stage, service, receiver: { child, origin } }: Hooked,
  key: string,
): Promise<() => Promise<Turn>> {
  const scene = { stage, service, receiver: child, origin }
  await deliveriesTake(scene, UPDATES, () =>
    hooks.setWebhooks(scene, [key], () => `${origin}/hook`, HOOK_CONNECTIONS),
  )
  const again = { apiKeyId: Number(key.split(':')[0]), after: seed.FIRST_UPDATE - 1 }
  return () =>
    timed(service, async () => {
      await deliveriesTake(scene, UPDATES, () => service.ask('replay', again))
      return UPDATES
    })
}

async function untilHeld(service: Service, polls: number): Promise<void> {
  while ((await service.ask<number>('waitingPolls')) < polls) await pause(20)
}

/** The number of operations, or the milliseconds of each, whose median is the time then. */
type Work = number | readonly number[]

async function timed(service: Service, work: () => Promise<Work>): Promise<Turn> {
  await service.ask('stalls', 'begin')
  const [before, began] = [await service.ask<number>('processor'), now()]
  const done = await work()
  const [processor, took] = [(await service.ask<number>('processor')) - before, now() - began]
  const stall = await service.ask<number>('stalls', 'end')
  const operations = typeof done === 'number' ? done : done.length
  const each = typeof done === 'number' ? took / operations : percentile(done, 0.5)
  return { processor: processor / operations, took: each, stall }
}

/** Each turn begins with the side that the last one ended with, so that neither always comes first. */
async function alternate(loads: readonly Load[], sides: readonly Side[]): Promise<void> {
  for (let turn = -WARMING_UP; turn < TURNS; turn++) {
    const inOrder = turn % 2 === 0 ? sides : sides.toReversed()
    for (const load of loads) {
      for (const { play, turns } of inOrder) {
        const played = await play[load]()
        if (turn >= 0) turns[load].push(played)
      }
    }
  }
}

function longest(load: Load, ...sides: readonly Side[]): Finding {
  const [left, right] = sides.map(({ turns }) =>
    milliseconds(Math.max(...turns[load].map(({ stall }) => stall))),
  )
  return { what: '  of all turns', ours: left ?? '', bare: right ?? '' }
}

/** The ratio is the median of those of two turns that follow each other. */
function findingsOf(load: Load, ours: Side, theirs: Side): Finding[] {
  const row = (what: string, field: keyof Turn, shown: (value: number) => string): Finding => {
    const [left, right] = [ours, theirs].map(({ turns }) => turns[load].map((turn) => turn[field]))
    const ratios = left?.map((value, turn) => value / (right?.[turn] ?? Number.NaN)) ?? []
    const median = (values: readonly number[] = []) => shown(percentile(values, 0.5))
    return { what, ours: median(left), bare: median(right), ratio: percentile(ratios, 0.5) }
  }
  return [
    row(`${names[load]} (bare: the other tree): processor time`, 'processor', microseconds),
    row('  time', 'took', microseconds),
    row('  the longest stall of the event loop in a turn', 'stall', milliseconds),
    longest(load, ours, theirs),
  ]
}
