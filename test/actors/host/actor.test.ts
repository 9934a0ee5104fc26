/** A hosted actor: whatever happens to the actor, each command gets exactly one reply. */
import { getEventListeners } from 'node:events'
import t, { type Test } from 'tap'
import { type Actor, assign, type EventObject, emit, fromCallback, setup } from 'xstate'
import { HostedActor } from '../../../actors/host/actor.ts'
import { ActorHost } from '../../../actors/host/host.ts'
import type { Clock } from '../../../actors/ports/ports.ts'
import { OwnershipLost } from '../../../machines/model/failure.ts'
import {
  accepted,
  type Command,
  type Outcome,
  type Reply,
} from '../../../machines/model/protocol.ts'
import { TestClock } from '../../support/clock.ts'
import { refused } from '../refused.ts'

type Event =
  | (Command & { readonly type: 'echo' | 'keep' | 'crash' | 'end' | 'twice' })
  | (Command & { readonly type: 'request.abandoned' })
  | { readonly type: 'answer' }

/** Answers `echo` at once, `keep` when told to; `crash` throws and `end` is final. */
const machine = setup({
  types: {
    events: {} as Event,
    emitted: {} as Reply,
    context: {} as { kept: readonly string[]; abandoned: readonly string[] },
  },
  actions: { reply: emit((_, reply: Reply) => reply) },
}).createMachine({
  context: { kept: [], abandoned: [] },
  initial: 'open',
  states: {
    open: {
      on: {
        echo: { actions: { type: 'reply', params: ({ event }) => accepted(event, 'echo') } },
        twice: {
          actions: [
            { type: 'reply', params: ({ event }) => accepted(event, 'first') },
            { type: 'reply', params: ({ event }) => accepted(event, 'second') },
          ],
        },
        keep: {
          actions: assign({ kept: ({ context, event }) => [...context.kept, event.requestId] }),
        },
        answer: {
          actions: {
            type: 'reply',
            params: ({ context }) => accepted({ requestId: context.kept[0] ?? '' }, 'kept'),
          },
        },
        crash: {
          actions: () => {
            throw new Error('boom')
          },
        },
        end: {
          target: 'over',
          actions: { type: 'reply', params: ({ event }) => accepted(event, 'ended') },
        },
        'request.abandoned': {
          actions: assign({
            abandoned: ({ context, event }) => [...context.abandoned, event.requestId],
          }),
        },
      },
    },
    over: { type: 'final' },
  },
})

const clock: Clock = new TestClock()

/** The first host gives each actor a system of its own, the others have all their actors share one. */
const kinds = [{}, { shared: 'plain' }, { shared: 'inspected' }] as const
const hosts = kinds.map(
  (more) =>
    new ActorHost<typeof machine, undefined>({
      provide: ({ reply }) => machine.provide({ actions: { reply } }),
      ...more,
    }),
)

function begin(host: (typeof hosts)[number], now = () => 0) {
  const create = (ref: Actor<typeof machine>) => new HostedActor(ref, undefined, { now }, host)
  return host.begin({ input: undefined, clock }, create)
}

const gone = {
  code: 'unavailable',
  description: 'the actor stopped before it replied',
  retryAfterSeconds: 1,
} as const

const every = (
  name: string,
  test: (t: Test, start: (now?: () => number) => ReturnType<typeof begin>) => Promise<void>,
) => {
  for (const [place, host] of hosts.entries()) {
    t.test(`${name} (${['own systems', 'one system', 'one that is inspected'][place]})`, (t) =>
      test(t, (now) => begin(host, now)),
    )
  }
}

every('a command resolves with its own reply', async (t, start) => {
  const actor = start()
  const kept = actor.ask({ type: 'keep' })
  t.equal(await actor.ask({ type: 'echo' }), 'echo')
  t.equal(await actor.ask({ type: 'twice' }), 'first')
  actor.tell({ type: 'answer' })
  t.equal(await kept, 'kept')
})

every('a crash answers everybody, and everybody after', async (t, start) => {
  const actor = start()
  const waiting = [actor.ask({ type: 'keep' }), actor.ask({ type: 'crash' })]
  for (const promise of waiting) await refused(t, promise, gone)
  await refused(t, actor.ask({ type: 'echo' }), gone)
  t.match(await actor.closed, { message: 'boom' })
  t.notOk(actor.isActive)
})

every('stopping answers everybody, and everybody after', async (t, start) => {
  const actor = start()
  const waiting = actor.ask({ type: 'keep' })
  actor.stop()
  await refused(t, waiting, gone)
  await refused(t, actor.ask({ type: 'echo' }), gone)
  t.equal(await actor.closed, undefined)
})

every('stopping with a reason tells it to everybody, and to everybody after', async (t, start) => {
  const actor = start()
  const waiting = actor.ask({ type: 'keep' })
  const why = new OwnershipLost()
  actor.stop(why)
  await t.rejects(waiting, why)
  await t.rejects(actor.ask({ type: 'echo' }), why)
})

every('the reply that ends an actor still arrives', async (t, start) => {
  const actor = start()
  t.equal(await actor.ask({ type: 'end' }), 'ended')
  t.equal(await actor.closed, undefined)
})

every('a command that is carried out without the machine has one reply, too', async (t, start) => {
  const actor = start()
  const { snapshot } = actor
  const carriedOut = Promise.withResolvers<Outcome>()
  const done = actor.askDirectly({ type: 'keep' }, async () => ({ ok: true, result: 'done' }))
  t.equal(await done, 'done')
  t.equal(actor.snapshot, snapshot)
  const defect = new Error('a defect')
  await t.rejects(
    actor.askDirectly({ type: 'keep' }, () => Promise.reject(defect)),
    defect,
  )
  const waiting = actor.askDirectly({ type: 'keep' }, () => carriedOut.promise)
  t.notOk(actor.isIdle(0), 'somebody waits')
  actor.stop()
  await refused(t, waiting, gone)
  carriedOut.resolve({ ok: true, result: 'too late' })
  const unwanted = () => Promise.reject(new Error('a stopped actor carries out nothing'))
  await refused(t, actor.askDirectly({ type: 'keep' }, unwanted), gone)
})

every('an aborted command is refused as uncertain, and the actor is told', async (t, start) => {
  const actor = start()
  const leaving = new AbortController()
  const waiting = actor.ask({ type: 'keep' }, leaving.signal)
  leaving.abort()
  await refused(t, waiting, { code: 'timeout', certain: false })
  t.same(actor.snapshot.context.abandoned, actor.snapshot.context.kept)
  actor.tell({ type: 'answer' })
  t.ok(actor.isIdle(0), 'a late reply is for nobody')
})

every('whoever has its answer listens no more to its signal', async (t, start) => {
  const actor = start()
  const { signal } = new AbortController()
  const answered = [actor.ask({ type: 'echo' }, signal), actor.ask({ type: 'twice' }, signal)]
  const waiting = actor.ask({ type: 'keep' }, signal)
  await Promise.all(answered)
  t.equal(getEventListeners(signal, 'abort').length, 1)
  actor.stop()
  await refused(t, waiting, gone)
  t.equal(getEventListeners(signal, 'abort').length, 0)
})

every('each who asks for the end is told once, also after it', async (t, start) => {
  const actor = start()
  const told: unknown[] = []
  for (const name of ['first', 'second', 'third']) actor.onEnd((cause) => told.push([name, cause]))
  actor.stop()
  actor.stop()
  actor.onEnd((cause) => told.push(['late', cause]))
  t.same(
    told,
    ['first', 'second', 'third', 'late'].map((name) => [name, undefined]),
  )
  t.equal(await actor.closed, undefined)
})

every('a command that was aborted before is never carried out', async (t, start) => {
  const actor = start()
  await refused(t, actor.ask({ type: 'keep' }, AbortSignal.abort()), {
    code: 'timeout',
    certain: false,
  })
  t.same(actor.snapshot.context.kept, [])
})

every('an abort after the reply, or after the end, changes nothing', async (t, start) => {
  const actor = start()
  const leaving = new AbortController()
  t.equal(await actor.ask({ type: 'echo' }, leaving.signal), 'echo')
  const waiting = actor.ask({ type: 'keep' }, leaving.signal)
  actor.stop()
  leaving.abort()
  await refused(t, waiting, gone)
  t.same(actor.snapshot.context.abandoned, [])
})

every('beyond its capacity an actor refuses at once and goes on', async (t, start) => {
  const actor = start()
  const waiting = Array.from({ length: 5_000 }, () => actor.ask({ type: 'keep' }))
  await refused(t, actor.ask({ type: 'echo' }), { code: 'rate_limited', retryAfterSeconds: 1 })
  actor.tell({ type: 'answer' })
  t.equal(await waiting[0], 'kept')
  t.equal(await actor.ask({ type: 'echo' }), 'echo', 'there is room again')
  actor.stop()
  const states = await Promise.allSettled(waiting)
  t.equal(states.filter(({ status }) => status === 'rejected').length, 4_999)
})

every('it is idle when nobody waits and nobody has asked for a while', async (t, start) => {
  let now = 20_000
  const actor = start(() => now)
  now += 50
  t.ok(actor.isIdle(50))
  t.notOk(actor.isIdle(51))
  const kept = actor.ask({ type: 'keep' })
  now += 100
  t.notOk(actor.isIdle(50), 'somebody waits')
  actor.tell({ type: 'answer' })
  await kept
  t.ok(actor.isIdle(50))
  await actor.ask({ type: 'echo' })
  t.notOk(actor.isIdle(50))
})

t.test(
  'each actor is told of what it does itself, and those of one clock share a system',
  async (t) => {
    for (const host of [hosts[0], hosts[2]]) {
      const told: string[] = []
      const refs: Actor<typeof machine>[] = []
      const start = (name: string, itsClock: Clock) =>
        host?.begin(
          {
            input: undefined,
            clock: itsClock,
            inspect: ({ event }) => told.push(`${name} ${event.type}`),
            changed: () => told.push(`${name} changed`),
          },
          (ref) => {
            refs.push(ref)
            return new HostedActor(ref, undefined, clock, host)
          },
        )
      const one = start('one', clock)
      start('two', clock)
      start('three', new TestClock())
      t.equal(await one?.ask({ type: 'echo' }), 'echo')
      const crash = one?.ask({ type: 'crash' })
      if (crash) await refused(t, crash, gone)
      const begun = ['one', 'two', 'three'].flatMap((name) => [
        `${name} changed`,
        `${name} xstate.init`,
      ])
      t.strictSame(told, [...begun, 'one changed', 'one echo'], 'a crash is told by the end alone')
      const [first, second, third] = refs.map(({ system }) => system)
      t.equal(first === second, host === hosts[2])
      t.not(first, third, 'timers go by the clock of a system')
    }
  },
)

t.test('who watches an actor ends no more than this one by an error', async (t) => {
  for (const host of hosts) {
    if (host === hosts[1]) continue
    const beside = begin(host)
    const watched = host.begin(
      {
        input: undefined,
        clock,
        inspect({ event }) {
          if (event.type === 'keep') throw new Error('unreadable')
        },
      },
      (ref) => new HostedActor(ref, undefined, { now: () => 0 }, host),
    )
    t.equal(await watched.ask({ type: 'echo' }), 'echo')
    await refused(t, watched.ask({ type: 'keep' }), gone)
    t.match(await watched.closed, { message: 'unreadable' })
    t.equal(await beside.ask({ type: 'echo' }), 'echo')
    t.equal(await begin(host).ask({ type: 'echo' }), 'echo')
  }
})

t.test('a crash ends the services of an actor, and its system forgets them', async (t) => {
  for (const shared of ['plain', 'inspected'] as const) {
    let running = 0
    const begun = setup({
      types: { events: {} as Event },
      actors: { work: fromCallback<EventObject, undefined>(() => undefined) },
    }).createMachine({
      invoke: { src: 'work', id: 'work' },
      on: {
        crash: {
          actions: () => {
            throw new Error('boom')
          },
        },
      },
    })
    const host: ActorHost<typeof begun, undefined> = new ActorHost<typeof begun, undefined>({
      shared,
      provide: (host) => {
        const work = host.service(() => {
          running++
          return () => void running--
        })
        return begun.provide({ actors: { work } })
      },
    })
    const actor = host.begin(
      { input: undefined, clock },
      (ref) => new HostedActor(ref, undefined, clock, host),
    )
    const { work } = actor.snapshot.children
    t.equal(running, 1)
    await refused(t, actor.ask({ type: 'crash' }), gone)
    t.equal(running, 0)
    // The system keeps all that have not stopped, and these keep the actor.
    t.equal(work?.getSnapshot().status, 'stopped', shared)
  }
})
