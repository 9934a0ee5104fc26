/** The delayed events of actors that share a system: never early, cancelled one by one or all at once. */
import t from 'tap'
import { type AnyActorRef, createActor, fromTransition } from 'xstate'
import { Alarm, Timers } from '../../../actors/host/time.ts'
import type { Clock } from '../../../actors/ports/ports.ts'
import { TestClock } from '../../support/clock.ts'

/** Keeps the types of the events it was sent. */
const keeper = () =>
  createActor(
    fromTransition((kept: readonly string[], { type }: { type: string }) => [...kept, type], []),
  ).start()

const kept = (actor: AnyActorRef): readonly string[] => actor.getSnapshot().context

t.test('an event comes once, at its time or a little later', async (t) => {
  const clock = new TestClock()
  const timers = new Timers(clock)
  const actor = keeper()
  await clock.advance(7)
  timers.schedule(actor, actor, { type: 'due' }, 1_000, 'id')
  await clock.advance(999)
  t.same(kept(actor), [])
  await clock.advance(50)
  t.same(kept(actor), ['due'])
  await clock.advance(10_000)
  t.same(kept(actor), ['due'])
  t.equal(clock.timers, 0)
})

t.test('nothing is left in the clock of what is cancelled', async (t) => {
  const clock = new TestClock()
  const timers = new Timers(clock)
  const actor = keeper()
  timers.schedule(actor, actor, { type: 'first' }, 100, 'first')
  timers.schedule(actor, actor, { type: 'second' }, 200, 'second')
  timers.cancel(actor, 'first')
  t.equal(clock.timers, 1)
  timers.cancelAll(actor)
  t.equal(clock.timers, 0)
})

t.test('an alarm rings once, at the last time that it was set to', async (t) => {
  const clock = new TestClock()
  let rung = 0
  const alarm = new Alarm(clock, () => rung++)
  const start = clock.now()
  alarm.set(start + 100)
  alarm.set(start + 300)
  t.equal(clock.timers, 1)
  await clock.advance(299)
  t.equal(rung, 0)
  await clock.advance(1)
  t.equal(rung, 1)
  alarm.set(start + 300)
  await clock.advance(1)
  t.equal(rung, 2, 'a time that has passed is now, also the same once more')
  alarm.set(start + 900)
  alarm.set(Number.POSITIVE_INFINITY)
  t.equal(clock.timers, 0)
  await clock.advance(10_000)
  t.equal(rung, 2)
})

t.test('what is cancelled does not come, and nothing else is cancelled with it', async (t) => {
  const clock = new TestClock()
  const timers = new Timers(clock)
  const [one, other] = [keeper(), keeper()]
  for (const actor of [one, other]) {
    timers.schedule(actor, actor, { type: 'first' }, 100, 'first')
    timers.schedule(actor, actor, { type: 'second' }, 200, 'second')
  }
  t.equal(clock.timers, 2, 'one for each moment')
  timers.cancel(one, 'first')
  timers.cancel(one, 'unknown')
  timers.cancelAll(other)
  await clock.advance(300)
  t.same(kept(one), ['second'])
  t.same(kept(other), [])
  t.equal(clock.timers, 0)
})

t.test('an event may cancel one of the same moment, and set a new one', async (t) => {
  const clock = new TestClock()
  const timers = new Timers(clock)
  const other = keeper()
  const first = createActor(
    fromTransition((_: undefined, event: { type: string }) => {
      if (event.type === 'due') {
        timers.cancelAll(other)
        timers.schedule(other, other, { type: 'again' }, 0)
      }
      return undefined
    }, undefined),
  ).start()
  timers.schedule(first, first, { type: 'due' }, 100)
  timers.schedule(other, other, { type: 'cancelled' }, 100)
  await clock.advance(200)
  t.same(kept(other), ['again'])
  t.equal(clock.timers, 0)
})

t.test(
  'long ones of a second come together, but no more than sixteen, and never early',
  async (t) => {
    const clock = new TestClock()
    const timers = new Timers(clock)
    const actors = Array.from({ length: 40 }, keeper)
    for (const [index, actor] of actors.entries()) {
      timers.schedule(actor, actor, { type: 'due' }, 60_010 + index * 20)
    }
    const came = () => actors.filter((actor) => kept(actor).length === 1).length
    t.equal(
      clock.timers,
      4,
      'of the second, of two quarters of it, and of 50 ms where these are full',
    )
    await clock.advance(60_009)
    t.equal(came(), 0)
    await clock.advance(890)
    t.equal(came(), 24, 'all that found the second full')
    await clock.advance(101)
    t.equal(came(), 40)
    t.equal(clock.timers, 0)
  },
)

t.test('a shorter one, such as that of a held poll, does not wait for the second', async (t) => {
  const clock = new TestClock()
  const timers = new Timers(clock)
  const actor = keeper()
  await clock.advance(110)
  timers.schedule(actor, actor, { type: 'due' }, 50_000)
  await clock.advance(50_049)
  t.same(kept(actor), ['due'])
})

for (const jump of [3_000, -3_000]) {
  t.test(`a time of day that is set by ${jump} ms moves no timer`, async (t) => {
    const clock = new TestClock()
    let passed = 0
    const set: Clock = {
      now: () => clock.now() + passed,
      steadyNow: () => clock.steadyNow(),
      setTimeout: (work, milliseconds) => clock.setTimeout(work, milliseconds),
      clearTimeout: (timer) => clock.clearTimeout(timer),
    }
    const timers = new Timers(set)
    const [others, actor] = [keeper(), keeper()]
    for (let delay = 50; delay <= 8_000; delay += 50) {
      timers.schedule(others, others, { type: 'other' }, delay)
    }
    passed = jump
    timers.schedule(actor, actor, { type: 'due' }, 4_000)
    await clock.advance(3_999)
    t.same(kept(actor), [])
    await clock.advance(51)
    t.same(kept(actor), ['due'])
  })
}
