/** Thousands of accounts of a network on one node: started, resting, stopped, and what each takes beside its bare library. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Child, Memory } from './support/child.ts'
import { type Crowd, ofEachCrowd } from './support/crowd.ts'
import { atMost, below, type Finding } from './support/finding.ts'
import { seedCredentials, seedUser } from './support/seed.ts'
import { type Service, startService } from './support/service.ts'
import { empty, type Stage } from './support/stage.ts'
import { type Started, startTimed } from './support/starting.ts'
import { kilobytes, milliseconds, now, seconds } from './support/statistics.ts'

/** More clients of the library than these say nothing new of one. */
const MOST_BARE = 1_000
/** Before its memory is measured, a process opens so many, which load its code. */
const FIRST_BARE = 50
const SETTLES_MS = 15_000
/** Every account is probed once in this time. */
const RESTS_MS = 60_000
const LISTENING_MS = 2_500
const START_MS: Readonly<Record<string, number>> = { 'Telegram 1000': 4_000 }
const IDLE_MS: Readonly<Record<string, number>> = { 'Telegram 1000': 30 }

export const accounts = (stage: Stage): Promise<Finding[]> =>
  ofEachCrowd(stage, (name, crowd) => measure(stage, name, crowd))

/** For each account. */
interface Cost {
  readonly memory: Memory
  /** Milliseconds of processor time to open it. */
  readonly opening: number
  /** Milliseconds of processor time of all of them a second, once they are open. */
  readonly resting: number
}

interface Library extends Cost {
  /** Milliseconds from the start of its process until all are there; undefined where it opens only some of them. */
  readonly active: number | undefined
}

interface Run {
  readonly first: Started
  readonly again: Started
  readonly cost: Cost
  readonly descriptors: number
  readonly stopped: number
  /** Connections that are left at the server. */
  readonly left: number
  readonly trouble: string
}

async function measure(stage: Stage, name: string, crowd: Crowd): Promise<Finding[]> {
  await empty(stage.sql)
  const bare = await costOfLibrary(crowd)
  stage.note(`${name}: the library was measured`)
  const run = await costOfService(stage, crowd)
  return findings(`${crowd.accounts.length} accounts of ${name}`, run, bare, {
    start: START_MS[`${name} ${crowd.accounts.length}`],
    idle: IDLE_MS[`${name} ${crowd.accounts.length}`],
  })
}

async function costOfLibrary(crowd: Crowd): Promise<Library> {
  const began = now()
  const bare = await crowd.bare()
  const count = Math.min(MOST_BARE, crowd.accounts.length) - FIRST_BARE
  await bare.ask('open', FIRST_BARE)
  const firstTook = now() - began
  const before = await bare.ask<Memory>('memory')
  const worked = await bare.ask<number>('processor')
  const goesOn = now()
  await bare.ask('open', count)
  const took = firstTook + now() - goesOn
  const opening = ((await bare.ask<number>('processor')) - worked) / count
  await pause(SETTLES_MS)
  const resting = await restOf(bare)
  const memory = perAccount(before, await bare.ask<Memory>('memory'), count)
  await bare.stop()
  const active = crowd.accounts.length > MOST_BARE ? undefined : took
  return { memory, opening, resting, active }
}

const perAccount = (before: Memory, after: Memory, count: number): Memory => ({
  rss: (after.rss - before.rss) / count,
  heap: (after.heap - before.heap) / count,
})

async function restOf(process: Child): Promise<number> {
  const before = await process.ask<number>('processor')
  await pause(RESTS_MS)
  return ((await process.ask<number>('processor')) - before) / (RESTS_MS / 1_000)
}

async function costOfService(stage: Stage, crowd: Crowd): Promise<Run> {
  const { accounts, telegram } = crowd
  const count = accounts.length
  const empty = await startService(stage, {}, [], telegram)
  const before = await empty.memory()
  const beginning = await empty.ask<number>('processor')
  await empty.stop()

  await seedCredentials(stage, await seedUser(stage), telegram ? 'telegram' : 'xmpp', accounts)
  const first = await startTimed(stage, count, telegram)
  stage.note(`all online after ${seconds(first.active)}, the first time`)
  const again = stage.options.once ? first : await startAgain(stage, first, crowd)
  const { service } = again
  await pause(SETTLES_MS)
  // Before the memory, which collects all garbage: after it, code is compiled anew and the spaces of young objects grow again.
  const resting = await restOf(service)
  const memory = perAccount(before, await service.memory(), count)
  const descriptors = await service.ask<number>('descriptors')
  const trouble = await troubleOf(stage, service)
  const stopping = now()
  await service.stop()
  const stopped = now() - stopping
  const { open: left } = await crowd.connections()
  const opening = (again.processor - beginning) / count
  stage.note(`stopped after ${seconds(stopped)}`)
  return { first, again, cost: { memory, opening, resting }, descriptors, stopped, left, trouble }
}

async function startAgain(stage: Stage, { service }: Started, crowd: Crowd): Promise<Started> {
  await pause(SETTLES_MS)
  await service.stop()
  const again = await startTimed(stage, crowd.accounts.length, crowd.telegram)
  stage.note(`all online after ${seconds(again.active)}, after a restart`)
  return again
}

/** Accounts that are not online, and lines of timelines that tell of failures. */
async function troubleOf({ sql }: Stage, service: Service): Promise<string> {
  const { 'live.online': _online, ...others } = await service.ask<Record<string, number>>('states')
  const { rows } = await sql.query(
    `select event || ' ' || coalesce(reason, '') as line, count(*)::int as count
       from credential_transition where event in ('session.lost', 'session.replaced', 'probe.failed',
              'session.revoked', 'session.invalid', 'session.limited', 'after.openingTakes')
      group by 1`,
  )
  const lines = rows.map(({ line, count }) => [line, count] as const)
  const all = [...Object.entries(others), ...lines]
  return all.length === 0 ? 'nothing' : all.map(([what, some]) => `${what}: ${some}`).join(', ')
}

function findings(
  what: string,
  { first, again, cost, descriptors, stopped, left, trouble }: Run,
  bare: Library,
  targets: { readonly start: number | undefined; readonly idle: number | undefined },
): Finding[] {
  const { start, idle } = targets
  return [
    {
      what: `${what}: process start to listening`,
      ours: seconds(again.listening),
      ...below(again.listening, LISTENING_MS, seconds(LISTENING_MS)),
    },
    { what: '  to ready', ours: seconds(again.ready) },
    {
      what: '  to all online',
      ours: seconds(again.active),
      ...(bare.active && { bare: seconds(bare.active), ratio: again.active / bare.active }),
      ...(start && below(again.active, start, seconds(start))),
    },
    { what: '  the same for the first time', ours: seconds(first.active) },
    {
      what: '  processor time of the start for each account',
      ours: milliseconds(cost.opening),
      bare: milliseconds(bare.opening),
      ratio: cost.opening / bare.opening,
    },
    {
      what: '  memory of an account (heap)',
      ours: kilobytes(cost.memory.heap),
      bare: kilobytes(bare.memory.heap),
      ...atMost(cost.memory.heap, bare.memory.heap, 1.1),
    },
    {
      what: '  the same, as the process grows (RSS)',
      ours: kilobytes(cost.memory.rss),
      bare: kilobytes(bare.memory.rss),
      ratio: cost.memory.rss / bare.memory.rss,
    },
    {
      what: '  processor time at rest, each second',
      ours: milliseconds(cost.resting),
      bare: milliseconds(bare.resting),
      ...(idle && below(cost.resting, idle, milliseconds(idle))),
    },
    { what: '  open files', ours: `${descriptors}` },
    { what: '  what went wrong', ours: trouble, target: 'nothing', met: trouble === 'nothing' },
    { what: '  a stop', ours: seconds(stopped) },
    { what: '  connections left after it', ours: `${left}`, target: '0', met: left === 0 },
  ]
}
