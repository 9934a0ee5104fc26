/** Lean steps against XState's own: whatever comes in whatever order, both do the same and end in the same state. */
import t, { type Test } from 'tap'
import {
  type AnyActor,
  type AnyEventObject,
  type AnyStateMachine,
  assign,
  createActor,
  createMachine,
  emit,
  fromPromise,
  raise,
  SimulatedClock,
  setup,
  spawnChild,
} from 'xstate'
import { isPlain, lean } from '../../../actors/host/steps.ts'
import type { ApiKeyEvent, Poll } from '../../../machines/api-key/events.ts'
import { apiKeyMachine } from '../../../machines/api-key/machine.ts'
import { admit, keyInput, page, poll } from '../../machines/api-key/rig.ts'
import fc from '../../support/fast-check.ts'

type Done = readonly [action: string, params: unknown]

interface Side {
  readonly actor: AnyActor
  readonly clock: SimulatedClock
  readonly done: Done[]
}

/** The same machine twice: stepped by XState, and leanly. */
function bothSides(
  machineFor: (record: (name: string) => (_: unknown, params: unknown) => void) => AnyStateMachine,
  input?: unknown,
): readonly [Side, Side] {
  const side = (change: (machine: AnyStateMachine) => AnyStateMachine): Side => {
    const done: Done[] = []
    const clock = new SimulatedClock()
    const machine = machineFor((name) => (_, params) => done.push([name, params]))
    const actor = createActor(change(machine), { clock, input })
    actor.subscribe({ error: (cause: unknown) => done.push(['crash', `${cause}`]) })
    actor.on('*', (event) => done.push(['emitted', event]))
    return { actor: actor.start(), clock, done }
  }
  return [side((machine) => machine), side((machine) => lean(machine, { isInspected: false }))]
}

const shown = ({ actor, done }: Side) => {
  const { value, context, status } = actor.getSnapshot()
  return { value, context, status, done }
}

/** A number is time that passes. */
function play(
  t: Test,
  [xstate, leanly]: readonly [Side, Side],
  steps: readonly (AnyEventObject | number)[],
) {
  for (const step of steps) {
    for (const { actor, clock } of [xstate, leanly]) {
      if (typeof step === 'number') clock.increment(step)
      else actor.send(step)
    }
    if (!t.same(shown(leanly), shown(xstate)))
      throw new Error(`they differ after ${JSON.stringify(step)}`)
  }
}

const polls = [
  poll('p1'),
  poll('p2', { mayHold: true }),
  poll('p3', { mayHold: true, offset: 101, timeoutMs: 3_000 }),
  poll('p4', { timeoutMs: 0 }),
  poll('p5', { now: 1_000_100, kinds: 1 }),
  poll('p6', { age: 900 }),
]

const read = (requestId: string, more: Partial<Poll> = {}): Poll => ({
  requestId,
  askedAt: 1_000_000,
  after: 100,
  keepNewest: undefined,
  limit: 100,
  timeoutMs: 50_000,
  filter: [],
  ...more,
})

const target = {
  url: 'https://example.org/',
  ipAddress: undefined,
  certificate: undefined,
  secretToken: undefined,
  headers: undefined,
  maxConnections: 40,
}
const change = { kind: 'set', target, dropTo: undefined } as never
const changed = { webhook: { ...target, suspended: false }, cursor: 105 } as never
const failure = { code: 'internal', description: '' } as const
const terms = { scopes: ['bot:receive' as const], expiresAt: 1_010_000 }

const happenings: readonly (ApiKeyEvent | number)[] = [
  ...polls,
  ...polls.flatMap(({ requestId }) => [
    page(read(requestId)),
    page(read(requestId, { held: true }), 2),
    page(read(requestId), 1),
    { type: 'poll.failed' as const, poll: read(requestId), failure },
    { type: 'request.abandoned' as const, requestId },
  ]),
  page(read('p2', { held: true }), 0, { out: failure }),
  page(read('p1', { isLate: true, askedAt: 5 })),
  admit('a1'),
  admit('a2', { overBySeconds: 2 }),
  admit('a3', { scope: 'bot:send', now: 1_020_000 }),
  { type: 'updates.drop', requestId: 'd', next: 110, now: 1_000_000 },
  { type: 'updates.allow', requestId: 'l', kinds: 3, next: 110 },
  { type: 'webhook.change', requestId: 'w1', change },
  { type: 'webhook.change', requestId: 'w2', change },
  { type: 'webhook.changed', requestId: 'w1', changed },
  { type: 'webhook.changed', requestId: 'w2', changed: { webhook: undefined, cursor: 106 } },
  { type: 'webhook.unchanged', requestId: 'w2', failure },
  { type: 'webhook.moved', cursor: 120 },
  { type: 'key.changed', requestId: 'c1', terms },
  { type: 'key.changed', requestId: 'c2', terms: { scopes: ['bot:send'], expiresAt: undefined } },
  { type: 'account.out' },
  { type: 'polls.end' },
  1_000,
  3_000,
  60_000,
]
const ends: readonly ApiKeyEvent[] = [
  { type: 'key.revoke', requestId: 'r1' },
  { type: 'key.rotated', requestId: 'r2' },
]

const names = [
  'read',
  'listen',
  'stopListening',
  'saveCursor',
  'reply',
  'change',
  'deliver',
  'stopDelivering',
]

t.test('a key', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...happenings), { maxLength: 40 }),
      fc.array(fc.constantFrom(...happenings, ...ends), { maxLength: 6 }),
      (first, last) => {
        const sides = bothSides((record) => {
          const actions = Object.fromEntries(names.map((name) => [name, record(name)]))
          return apiKeyMachine.provide({ actions: actions as never })
        }, keyInput())
        play(t, sides, [...first, ...last])
      },
    ),
    { numRuns: 300 },
  )
})

/** Whatever a chart of states within states may have. */
const nested = (record: (name: string) => (_: unknown, params: unknown) => void) =>
  setup({
    types: { context: {} as { readonly count: number; readonly last: string } },
    actions: {
      did: (_, what: string) => record('did')(_, what),
      plain: record('plain'),
      more: assign({ count: ({ context }) => context.count + 1, last: 'more' }),
      again: raise({ type: 'raised' }),
      later: raise({ type: 'later' }, { delay: 50, id: 'later' }),
      both: emit({ type: 'told' }),
    },
    guards: {
      isEven: ({ context }) => context.count % 2 === 0,
      isAtLeast: ({ context }, least: number) => context.count >= least,
    },
    delays: { while: ({ context }) => 10 * context.count },
  }).createMachine({
    context: { count: 0, last: '' },
    initial: 'outer',
    entry: 'plain',
    on: {
      home: '.outer',
      raised: { actions: [{ type: 'did', params: 'raised' }, 'more'] },
      later: { target: '.outer.deep.second' as never, actions: 'more' },
      ignored: {},
    },
    states: {
      outer: {
        entry: { type: 'did', params: 'enter outer' },
        exit: { type: 'did', params: ({ context }) => `leave outer with ${context.count}` },
        initial: 'shallow',
        on: {
          inside: '.deep',
          anew: { target: 'outer', reenter: true },
          around: { target: '.deep', reenter: true, actions: 'more' },
          self: 'outer',
          ignored: { actions: ['again', 'both', 'more', 'later'] },
        },
        states: {
          shallow: {
            exit: { type: 'did', params: 'leave shallow' },
            always: { guard: { type: 'isAtLeast', params: 7 }, target: 'deep' },
            on: { up: { actions: ['more', 'more'] }, go: 'deep' },
          },
          deep: {
            initial: 'first',
            entry: 'more',
            exit: ({ context }) => record('inline')(undefined, context.count),
            after: { while: { guard: 'isEven', target: 'shallow' }, 500: '#end' },
            states: {
              first: {
                always: { guard: { type: 'isAtLeast', params: 8 }, target: 'second' },
                on: { go: { target: 'second', actions: 'again' }, home: {} },
              },
              second: {
                entry: ['again', { type: 'did', params: 'enter second' }],
                on: {
                  go: [
                    { guard: 'isEven', target: '#end' },
                    { target: 'first', reenter: true },
                  ],
                  throws: {
                    actions: () => {
                      throw new Error('an action failed')
                    },
                  },
                },
              },
            },
          },
        },
      },
      end: { id: 'end', on: { go: { guard: 'isEven', target: 'outer' }, up: { actions: 'more' } } },
    },
  })

const told = [
  'home',
  'raised',
  'ignored',
  'inside',
  'anew',
  'around',
  'self',
  'up',
  'go',
  'later',
  'unknown',
]

t.test('states within states', async (t) => {
  const events = told.map((type) => ({ type }))
  const steps = fc.array(fc.constantFrom(...events, 10, 60, 500), { maxLength: 50 })
  fc.assert(
    fc.property(steps, (events) => play(t, bothSides(nested), [...events, { type: 'throws' }])),
    { numRuns: 300 },
  )
})

const odd: Readonly<Record<string, Parameters<typeof createMachine>[0]>> = {
  'side by side': {
    type: 'parallel',
    states: {
      one: { initial: 'a', states: { a: { on: { go: 'b' } }, b: {} } },
      other: { initial: 'a', states: { a: { on: { go: 'b' } }, b: { on: { back: 'a' } } } },
    },
  },
  'a memory of its states': {
    initial: 'a',
    states: {
      a: {
        initial: 'b',
        states: { b: { on: { go: 'c' } }, c: {}, past: { type: 'history' } },
        on: { back: 'd' },
      },
      d: { on: { back: 'a.past' } },
    },
  },
  'an end': { initial: 'a', states: { a: { on: { go: 'b' } }, b: { type: 'final' } } },
  'any event': { initial: 'a', states: { a: { on: { '*': 'b' } }, b: { on: { back: 'a' } } } },
  tags: { initial: 'a', states: { a: { tags: 'x', on: { go: 'b' } }, b: {} } },
  'a way back to its root': {
    id: 'root',
    initial: 'a',
    exit: () => undefined,
    states: { a: { on: { go: 'b' } }, b: { on: { back: '#root' } } },
  },
  'a bound on its steps': {
    initial: 'a',
    options: { maxIterations: 20 },
    states: { a: { on: { go: 'b' } }, b: { on: { back: 'a' } } },
  },
}

t.test(
  'the chart of a key takes the lean way, and so does one of states within states',
  async (t) => {
    t.ok(isPlain(apiKeyMachine))
    t.ok(isPlain(nested(() => () => undefined)))
  },
)

t.test('a child that fails ends the actor either way', async (t) => {
  const work = fromPromise(() => Promise.reject(new Error('the child failed')))
  const sides = bothSides(() =>
    setup({ actors: { work } }).createMachine({
      initial: 'a',
      states: { a: { on: { go: { target: 'b', actions: spawnChild('work') } } }, b: {} },
    }),
  )
  t.ok(isPlain(sides[1].actor.logic as AnyStateMachine))
  play(t, sides, [{ type: 'go' }])
  await new Promise(setImmediate)
  play(t, sides, [])
  t.same(shown(sides[1]), shown(sides[0]))
  t.equal(shown(sides[1]).status, 'error')
})

for (const [what, config] of Object.entries(odd)) {
  t.test(`a chart with ${what}`, async (t) => {
    t.notOk(isPlain(createMachine(config)))
    for (const order of [
      ['go', 'back', 'go', 'back'],
      ['back', 'go', 'back', 'back'],
    ]) {
      const sides = bothSides(() => createMachine(config))
      play(
        t,
        sides,
        order.map((type) => ({ type })),
      )
      t.same(sides[1].actor.getSnapshot().tags, sides[0].actor.getSnapshot().tags)
    }
  })
}
