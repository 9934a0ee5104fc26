/** One update for all keys of an account, beside a bare server: how long the event loop stands still, and what each further key costs. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Child, startChild } from './support/child.ts'
import { below, type Finding } from './support/finding.ts'
import { setWebhooks } from './support/hooks.ts'
import { Listeners } from './support/listeners.ts'
import { FIRST_UPDATE, seedChatter, seedKeys, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import { asksFor, type Stage } from './support/stage.ts'
import { microseconds, milliseconds, percentile } from './support/statistics.ts'

interface Case {
  readonly keys: number
  readonly by: 'polls' | 'webhooks'
  /** Updates of a turn, one after another. */
  readonly updates: number
}

const cases: readonly Case[] = [
  { keys: 1, by: 'polls', updates: 20 },
  { keys: 1_000, by: 'polls', updates: 10 },
  { keys: 10_000, by: 'polls', updates: 3 },
  { keys: 1_000, by: 'webhooks', updates: 10 },
]
const TURNS = 5
/** Before the measured ones of each turn, so that the code is compiled. */
const WARMING_UP = 3
const STALL_MS = 15
const BYSTANDER_MS = 20
const CPU_MS = 0.08

interface Measured {
  /** Milliseconds, each the longest that the event loop stood still for one update. */
  readonly stalls: readonly number[]
  /** Milliseconds of processor time for each update, until every key has it and asks again. */
  readonly processor: readonly number[]
  /** Milliseconds of each getMe of another account meanwhile. */
  readonly bystander: readonly number[]
}

/** Delivers one update to all keys; resolves once each has it and waits for the next one. */
type Deliver = () => Promise<void>

/** A server of polls and webhooks with nothing behind it, which takes the same commands as the service. */
async function startBare(): Promise<Service> {
  const file = join(import.meta.dirname, 'support/bare-fanout-process.ts')
  const child = startChild(file)
  return { ...child, port: await child.ask<number>('start'), memory: () => child.ask('memory') }
}

interface Part {
  readonly one: Case
  readonly ours: Account
  readonly bare: Account
  readonly turns: Measured[]
  readonly bareTurns: Measured[]
}

/** `--loads polls-1000,webhooks-1000` measures these alone. */
export async function fanout(stage: Stage): Promise<Finding[]> {
  const receiver = startChild(join(import.meta.dirname, 'support/receiver-process.ts'))
  const bystander = startChild(join(import.meta.dirname, 'support/bystander-process.ts'))
  const userId = await seedUser(stage)
  const credentialIds = await seedChatter(stage, userId, cases.length + 1)
  const [other = 0, ...shared] = credentialIds
  const [stranger = ''] = await seedKeys(stage, userId, [other])
  const keys: string[][] = []
  for (const [index, { keys: each }] of cases.entries()) {
    keys.push(await seedKeys(stage, userId, [shared[index] ?? 0], each))
  }
  const service = await startService(stage, { START_BUDGET: '100' })
  const bare = await startBare()
  try {
    await service.ask('online', credentialIds.length)
    const origin = `http://127.0.0.1:${await receiver.ask<number>('start')}`
    const scene = { stage, service, receiver, origin, bystander, stranger }
    const parts = cases
      .map((one, index): Part => {
        const account = { credentialId: shared[index] ?? 0, keys: keys[index] ?? [], reported: 0 }
        return { one, ours: account, bare: { ...account }, turns: [], bareTurns: [] }
      })
      // The first one tells what a single key takes.
      .filter(({ one }) => one.keys === 1 || asksFor(stage, `${one.by}-${one.keys}`))
    // In turn, so that whatever else the machine does meets all alike.
    for (let turn = 1; turn <= TURNS; turn++) {
      for (const part of parts) {
        part.turns.push(await play(scene, part.one, part.ours))
        part.bareTurns.push(await play({ ...scene, service: bare }, part.one, part.bare))
      }
      stage.note(`turn ${turn} of ${TURNS}`)
    }
    const alone = parts.find(({ one }) => one.keys === 1)
    return parts.flatMap((part) => findingsOf(part, alone))
  } finally {
    await service.stop()
    await bare.stop()
    await receiver.stop()
    await bystander.stop()
  }
}

interface Scene {
  readonly stage: Stage
  readonly service: Service
  readonly receiver: Child
  readonly origin: string
  readonly bystander: Child
  /** The key of another account. */
  readonly stranger: string
}

interface Account {
  readonly credentialId: number
  readonly keys: readonly string[]
  /** Updates so far. */
  reported: number
}

const together = (turns: readonly Measured[]): Measured => ({
  stalls: turns.flatMap(({ stalls }) => stalls),
  processor: turns.flatMap(({ processor }) => processor),
  bystander: turns.flatMap(({ bystander }) => bystander),
})

async function play(scene: Scene, one: Case, account: Account): Promise<Measured> {
  if (one.by === 'webhooks') {
    if (account.reported === 0) {
      await setWebhooks(scene, account.keys, () => `${scene.origin}/hook`, 1)
    }
    return measure(scene, one, async () => {
      await scene.receiver.ask('count', one.keys)
      const all = scene.receiver.ask('counted')
      await report(scene, account)
      await all
    })
  }
  const next = FIRST_UPDATE + account.reported
  const listeners = await Listeners.open(scene.service.port, account.keys, next)
  try {
    await untilHeld(scene.service, one.keys)
    return await measure(scene, one, async () => {
      const all = listeners.receive(one.keys)
      await report(scene, account)
      await all
      await untilHeld(scene.service, one.keys)
    })
  } finally {
    listeners.close()
    while ((await scene.service.ask<number>('waitingPolls')) > 0) await pause(100)
  }
}

function report({ service }: Scene, account: Account): Promise<unknown> {
  account.reported++
  const speech = { credentialIds: [account.credentialId], batch: 1, reports: 1, everyMs: 0 }
  return service.ask('speak', speech)
}

async function untilHeld(service: Service, polls: number): Promise<void> {
  while ((await service.ask<number>('waitingPolls')) < polls) await pause(100)
}

async function measure(scene: Scene, one: Case, deliver: Deliver): Promise<Measured> {
  const { service, bystander, stranger } = scene
  const quiet = async () => {
    await service.ask('stalls', 'begin')
    const before = await service.ask<number>('processor')
    await deliver()
    const processor = (await service.ask<number>('processor')) - before
    return { processor, stall: await service.ask<number>('stalls', 'end') }
  }
  for (let update = 0; update < WARMING_UP; update++) await deliver()
  const [stalls, processor]: [number[], number[]] = [[], []]
  // Without the bystander, whose calls cost processor time of their own.
  for (let update = 0; update < one.updates; update++) {
    const { processor: spent, stall } = await quiet()
    processor.push(spent)
    stalls.push(stall)
  }
  await bystander.ask('begin', { port: service.port, key: stranger })
  for (let update = 0; update < one.updates; update++) await deliver()
  return { stalls, processor, bystander: await bystander.ask<number[]>('end') }
}

interface Figures {
  readonly stall: number
  readonly longest: number
  readonly bystander: readonly number[]
  /** Milliseconds of processor time for one update. */
  readonly processor: number
}

function figuresOf(turns: readonly Measured[]): Figures {
  const { stalls, processor, bystander } = together(turns)
  return {
    stall: percentile(stalls, 0.5),
    longest: Math.max(...stalls),
    bystander,
    processor: percentile(processor, 0.5),
  }
}

const stallOf = ({ stall, longest }: Figures) =>
  `median ${milliseconds(stall)}, max ${milliseconds(longest)}`
const waitOf = ({ bystander }: Figures) =>
  `p50 ${milliseconds(percentile(bystander, 0.5))}, p99 ${milliseconds(percentile(bystander, 0.99))}`

/** `alone`: the same with a single key. */
function findingsOf({ one, turns, bareTurns }: Part, alone: Part | undefined): Finding[] {
  const [ours, bare] = [figuresOf(turns), figuresOf(bareTurns)]
  const further = (figures: Figures, single: readonly Measured[] = []) =>
    (figures.processor - figuresOf(single).processor) / Math.max(1, one.keys - 1)
  const [each, bareEach] = [further(ours, alone?.turns), further(bare, alone?.bareTurns)]
  return [
    {
      what: `one update for ${one.keys} ${one.by}: the longest stall of the event loop`,
      ours: stallOf(ours),
      bare: stallOf(bare),
      ...below(ours.longest, STALL_MS, `${STALL_MS} ms`),
    },
    {
      what: '  getMe of another account meanwhile',
      ours: waitOf(ours),
      bare: waitOf(bare),
      ...below(percentile(ours.bystander, 0.99), BYSTANDER_MS, `${BYSTANDER_MS} ms`),
    },
    one.keys === 1
      ? {
          what: '  processor time of the service',
          ours: milliseconds(ours.processor),
          bare: milliseconds(bare.processor),
        }
      : {
          what: '  processor time of the service for each further key',
          ours: microseconds(each),
          bare: microseconds(bareEach),
          ratio: each / bareEach,
          ...below(each, CPU_MS, microseconds(CPU_MS)),
        },
  ]
}
