/** An activation: whatever happens to the actor, each command gets exactly one reply. */
import t from 'tap'
import { assign, createActor, emit, setup } from 'xstate'
import { Activation } from '../../../actors/host/activation.ts'
import { accepted, type Command, type Reply } from '../../../machines/model/protocol.ts'
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
}).createMachine({
  context: { kept: [], abandoned: [] },
  initial: 'open',
  states: {
    open: {
      on: {
        echo: { actions: emit(({ event }) => accepted(event, 'echo')) },
        twice: {
          actions: [
            emit(({ event }) => accepted(event, 'first')),
            emit(({ event }) => accepted(event, 'second')),
          ],
        },
        keep: {
          actions: assign({ kept: ({ context, event }) => [...context.kept, event.requestId] }),
        },
        answer: {
          actions: emit(({ context }) => accepted({ requestId: context.kept[0] ?? '' }, 'kept')),
        },
        crash: {
          actions: () => {
            throw new Error('boom')
          },
        },
        end: { target: 'over', actions: emit(({ event }) => accepted(event, 'ended')) },
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

const start = (now = () => 0) => {
  const actor = createActor(machine)
  return new Activation<Event, ReturnType<typeof actor.getSnapshot>>(actor, now)
}

const gone = {
  code: 'unavailable',
  description: 'the actor stopped before it replied',
  retryAfterSeconds: 1,
} as const

t.test('a command resolves with its own reply', async (t) => {
  const actor = start()
  const kept = actor.ask({ type: 'keep' })
  t.equal(await actor.ask({ type: 'echo' }), 'echo')
  t.equal(await actor.ask({ type: 'twice' }), 'first')
  actor.tell({ type: 'answer' })
  t.equal(await kept, 'kept')
})

t.test('a crash answers everybody, and everybody after', async (t) => {
  const actor = start()
  const waiting = [actor.ask({ type: 'keep' }), actor.ask({ type: 'crash' })]
  for (const promise of waiting) await refused(t, promise, gone)
  await refused(t, actor.ask({ type: 'echo' }), gone)
  t.match(await actor.closed, { message: 'boom' })
  t.notOk(actor.isActive)
})

t.test('stopping answers everybody, and everybody after', async (t) => {
  const actor = start()
  const waiting = actor.ask({ type: 'keep' })
  actor.stop()
  await refused(t, waiting, gone)
  await refused(t, actor.ask({ type: 'echo' }), gone)
  t.equal(await actor.closed, undefined)
})

t.test('the reply that ends an actor still arrives', async (t) => {
  const actor = start()
  t.equal(await actor.ask({ type: 'end' }), 'ended')
  t.equal(await actor.closed, undefined)
})

t.test('an aborted command is refused as uncertain, and the actor is told', async (t) => {
  const actor = start()
  const leaving = new AbortController()
  const waiting = actor.ask({ type: 'keep' }, leaving.signal)
  leaving.abort()
  await refused(t, waiting, { code: 'timeout', certain: false })
  t.same(actor.snapshot.context.abandoned, actor.snapshot.context.kept)
  actor.tell({ type: 'answer' })
  t.ok(actor.isIdle(0), 'a late reply is for nobody')
})

t.test('a command that was aborted before is never carried out', async (t) => {
  const actor = start()
  await refused(t, actor.ask({ type: 'keep' }, AbortSignal.abort()), { code: 'timeout' })
  t.same(actor.snapshot.context.kept, [])
})

t.test('an abort after the reply, or after the end, changes nothing', async (t) => {
  const actor = start()
  const leaving = new AbortController()
  t.equal(await actor.ask({ type: 'echo' }, leaving.signal), 'echo')
  const waiting = actor.ask({ type: 'keep' }, leaving.signal)
  actor.stop()
  leaving.abort()
  await refused(t, waiting, gone)
  t.same(actor.snapshot.context.abandoned, [])
})

t.test('beyond its capacity an actor refuses at once and goes on', async (t) => {
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

t.test('it is idle when nobody waits and nobody has asked for a while', async (t) => {
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
