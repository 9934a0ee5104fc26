/** What can happen to a log and its keys, each done to the model and to the real thing, and compared. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import fc from '../../support/fast-check.ts'
import {
  append,
  appendElsewhere,
  dropPending,
  type Event,
  handOn,
  type ModelKey,
  type ModelLog,
  pending,
  poll,
  reopen,
  retain,
} from './model.ts'
import type { System } from './system.ts'

export interface Model {
  readonly logs: readonly ModelLog[]
  readonly keys: readonly ModelKey[]
}

/** Key by key: the place of its credential. */
export const KEYS = [0, 0, 1]

type Command = fc.AsyncCommand<Model, System>

/** The arguments are drawn, `run` does the same to both sides. */
function command<Arguments>(
  name: string,
  drawn: fc.Arbitrary<Arguments>,
  run: (given: Arguments, model: Model, system: System) => Promise<void>,
): fc.Arbitrary<Command> {
  return drawn.map((given) => ({
    check: () => true,
    run: (model: Model, system: System) => run(given, model, system),
    toString: () => `${name} ${JSON.stringify(given)}`,
  }))
}

const events: fc.Arbitrary<Event[]> = fc.array(
  fc.record({ source: fc.nat(60), kind: fc.nat(1) }).map(({ source, kind }) => ({
    sourceKey: `${source}`,
    kind,
  })),
  { minLength: 1, maxLength: 12 },
)
const place = fc.nat(Math.max(...KEYS))
const key = fc.nat(KEYS.length - 1)

const logOf = ({ logs }: Model, at: number): ModelLog => logs[at] as ModelLog
const keyOf = ({ keys }: Model, at: number): ModelKey => keys[at] as ModelKey

/** Offsets around everything that matters, told by where they are counted from. */
const offset = fc.oneof(
  fc.record({ from: fc.constant('cursor' as const), by: fc.integer({ min: -2, max: 3 }) }),
  fc.record({ from: fc.constant('next' as const), by: fc.integer({ min: -3, max: 15 }) }),
  fc.record({
    from: fc.constant('zero' as const),
    by: fc.oneof(
      fc.constantFrom(0, 0, 0, 0, 1, 2 ** 31 - 1, -(2 ** 31)),
      fc.integer({ min: -20, max: -1 }),
    ),
  }),
)

const polls = command(
  'poll',
  fc.record({
    key,
    offset,
    limit: fc.integer({ min: 1, max: 20 }),
    kinds: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 4 }),
    after: fc.constantFrom(0, 400, 600, 2_900, 4_000, 4_000),
  }),
  async ({ key: at, offset: { from, by }, limit, kinds, after }, model, system) => {
    await system.clock.advance(after)
    const asking = keyOf(model, at)
    const base = { cursor: asking.cursor + 1, next: asking.log.told, zero: 0 }[from]
    const asked = { offset: base + by, limit, kinds }
    const { updates, waits } = poll(asking, { ...asked, now: system.clock.now() })
    deepEqual(
      await system.poll(at, { ...asked, waits }),
      updates.map(({ id, sourceKey }) => ({ update_id: id, message: sourceKey })),
    )
  },
)

const handOns = command(
  'hand on',
  fc.record({
    key,
    behind: fc.integer({ min: -1, max: 40 }),
    limit: fc.integer({ min: 1, max: 20 }),
  }),
  async ({ key: at, behind, limit }, model, system) => {
    const asking = keyOf(model, at)
    // A key's filter tells nothing of what is behind its cursor.
    let after = Math.max(system.cursor(at), asking.log.told - 1 - behind)
    for (let isFull = true; isFull; ) {
      const expected = handOn(asking, after, limit)
      deepEqual(await system.rows(at, after, limit), expected)
      const page = await system.page(at, after, limit)
      deepEqual(page.ids, expected.ids)
      equal(page.head, expected.head)
      const [first = expected.head + 1] = page.ids
      ok(page.cursor >= after && page.cursor < first, 'nothing that is wanted is passed over')
      if (page.ids.length === 0) equal(page.cursor, expected.head)
      isFull = expected.ids.length === limit
      after = expected.head
    }
    deepEqual(await system.rests(at, after, limit), { statements: 0, calls: 0 })
  },
)

const appends = command(
  'append',
  fc.record({ place, events, author: fc.option(key, { nil: undefined, freq: 3 }) }),
  async ({ place: at, events: given, author }, model, system) => {
    const own = author !== undefined && KEYS[author] === at ? author : undefined
    const by = own === undefined ? undefined : keyOf(model, own)
    equal(await system.append(at, given, own), append(logOf(model, at), given, by))
  },
)

const appendsElsewhere = command(
  'append elsewhere',
  fc.record({ place, events }),
  async ({ place: at, events: given }, model, system) => {
    const stored = await system.appendElsewhere(at, given)
    equal(stored, appendElsewhere(logOf(model, at), given))
  },
)

const takeOvers = command(
  'take over',
  fc.record({ place, events }),
  async ({ place: at, events: given }, model, system) => {
    equal(await system.takeOver(at, given), false)
    reopen(logOf(model, at))
  },
)

const counts = command('count', key, async (at, model, system) => {
  equal(await system.pending(at), pending(keyOf(model, at)).length)
})

const drops = command('drop', key, async (at, model, system) => {
  await system.dropPending(at)
  dropPending(keyOf(model, at))
})

const retentions = command('retain', fc.nat(30), async (keep, { logs, keys }, system) => {
  for (const log of logs) retain(log, keys, keep)
  deepEqual(
    await system.retain(keep),
    keys.map(({ dropped }) => dropped),
  )
})

const restarts = command('restart', fc.constant(null), async (_, { logs, keys }, system) => {
  await system.restart()
  for (const log of logs) reopen(log)
  for (const restarted of keys) restarted.lastPoll = undefined
})

const often = [appends, appends, appends, polls, polls, polls, polls, polls]
const atTimes = [handOns, appendsElsewhere, takeOvers, counts, drops, retentions, restarts]

export const commands = (maxCommands: number) =>
  fc.commands([...often, ...often, ...atTimes], { maxCommands, size: 'max' })
