/** This tree of the source and another one in alternating turns: what a change costs, on a machine whose speed changes from minute to minute. */
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Child, startChild } from './support/child.ts'
import type { Finding } from './support/finding.ts'
import { deliveriesTake } from './support/hooks.ts'
import type { Service } from './support/service.ts'
import type { Stage } from './support/stage.ts'
import { microseconds, milliseconds, now, percentile } from './support/statistics.ts'
import { UPDATES } from './webhooks-flat.ts'

const BOTS = 16
const CONNECTIONS = 64
const HOOK_CONNECTIONS = 40
const POLLS = 1_000
const WARMING_UP = 3
const TURNS = 25
const TURN_MS = 1_200
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

type Load = 'sends' | 'polls' | 'deliveries'
const allLoads: readonly Load[] = ['sends', 'polls', 'deliveries']

/** Takes the deliveries of both sides, in a process of its own. */
interface Receiver {
  readonly child: Child
  readonly origin: string
}

/**
 * `--tree FOLDER` names the other tree, this one without it; `--node OPTIONS` are Node.js's for the other one's service;
 * `--loads sends,polls,deliveries` are the loads, all of them without it.
 */
export async function beside(stage: Stage): Promise<Finding[]> {
  const { tree = '', node = '' } = stage.options
  const loads = allLoads.filter((load) => stage.options.loads?.includes(load) ?? true)
  const own = await loadTree(join(import.meta.dirname, '..'), [])
  const other = await loadTree(tree, node.split(' ').filter(Boolean))
  const compare = async (itsStage: Stage) => {
    await using opened = new AsyncDisposableStack()
    const receiver = await openReceiver(opened)
    const theirs = await openSide(other, itsStage, receiver, opened)
    const ours = await openSide(own, stage, receiver, opened)
    await alternate([theirs, ours], loads)
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

async function openSide(
  tree: Tree,
  stage: Stage,
  receiver: Receiver,
  opened: AsyncDisposableStack,
): Promise<Side> {
  const { seed, sandbox } = tree
  const userId = await seed.seedUser(stage)
  const { credentialIds } = await sandbox.seedLinked(stage, userId, BOTS)
  const [credentialId = 0, hooked = 0] = await seed.seedChatter(stage, userId, 2)
  const bots = await seed.seedKeys(stage, userId, credentialIds)
  const people = await sandbox.seedPeople(stage, userId, CONNECTIONS)
  const pollers = await seed.seedKeys(stage, userId, [credentialId], POLLS)
  const [hook = ''] = await seed.seedKeys(stage, userId, [hooked])
  await tree.flat.seedUpdates(stage, hooked)
  const service = await tree.services.startService(stage, { START_BUDGET: '100' }, tree.nodeOptions)
  opened.defer(() => service.stop())
  await service.ask('online', BOTS + 2)
  const listeners = await tree.listeners.Listeners.open(service.port, pollers, seed.FIRST_UPDATE)
  opened.defer(() => listeners.close())
  await untilHeld(service)
  const deliveries = await openHook(tree, { stage, service, receiver }, hook)
  const requests = people.map((chat_id, index) => {
    const path = `/bot${bots[index % BOTS]}/sendMessage`
    return Buffer.from(tree.connections.post(path, { chat_id, text: TEXT }))
  })
  return {
    turns: { sends: [], polls: [], deliveries: [] },
    play: {
      sends: () =>
        timed(service, async () => {
          const answers = await tree.connections.load(service.port, requests, TURN_MS)
          return answers.length
        }),
      polls: () =>
        timed(service, async () => {
          const all = listeners.receive(POLLS)
          await service.ask('speak', {
            credentialIds: [credentialId],
            batch: 1,
            reports: 1,
            everyMs: 0,
          })
          await all
          await untilHeld(service)
          return POLLS
        }),
      deliveries,
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

async function untilHeld(service: Service): Promise<void> {
  while ((await service.ask<number>('waitingPolls')) < POLLS) await pause(20)
}

/** `work` resolves to the number of operations. */
async function timed(service: Service, work: () => Promise<number>): Promise<Turn> {
  await service.ask('stalls', 'begin')
  const [before, began] = [await service.ask<number>('processor'), now()]
  const operations = await work()
  const [processor, took] = [(await service.ask<number>('processor')) - before, now() - began]
  const stall = await service.ask<number>('stalls', 'end')
  return { processor: processor / operations, took: took / operations, stall }
}

/** Each turn begins with the side that the last one ended with, so that neither always comes first. */
async function alternate(sides: readonly Side[], loads: readonly Load[]): Promise<void> {
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

const names: Readonly<Record<Load, string>> = {
  sends: `sendMessage, ${CONNECTIONS} connections`,
  polls: `one update for ${POLLS} polls, each`,
  deliveries: `a delivery to a webhook over ${HOOK_CONNECTIONS} connections`,
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
