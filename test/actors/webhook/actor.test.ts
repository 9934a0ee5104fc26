/** Delivering to one endpoint: order, retries, rests, and what a stop leaves behind. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import t from 'tap'
import { Turns } from '../../../actors/host/time.ts'
import type { Attempt } from '../../../actors/ports/webhooks.ts'
import { TestClock, thrown } from '../../support/clock.ts'
import { failure, ok, WebhookRig } from './rig.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

t.test('updates go out lane by lane, and the cursor follows', async (t) => {
  const rig = new WebhookRig(t)
  await rig.write('a', 'a', 'b')
  t.same([...rig.sent].sort(), [101, 102, 103])
  t.ok(rig.sent.indexOf(101) < rig.sent.indexOf(102))
  await rig.clock.advance(5)
  t.equal(rig.saved.at(-1)?.cursor, 103)
  t.ok(rig.delivery.progress.waiting === 0)
})

t.test('keys that are stored by one statement go on by turns', async (t) => {
  const rigs: WebhookRig[] = []
  const sent = () => rigs.reduce((sum, rig) => sum + rig.sent.length, 0)
  // By this clock each attempt takes a turn.
  const turns = new Turns(new TestClock(), thrown, sent)
  const stored = Promise.withResolvers<void>()
  for (let key = 0; key < 10; key++) {
    const rig = new WebhookRig(t, { maxConnections: 1 }, 100, turns)
    rig.onSave = () => stored.promise
    rigs.push(rig)
    await rig.write('a', 'b')
  }
  t.equal(sent(), 10, 'the second of each waits for the first')
  stored.resolve()
  let most = 0
  for (let before = sent(); before < 20; before = sent()) {
    await endOfTurn()
    most = Math.max(most, sent() - before)
  }
  t.ok(most < 5, `${most} in a turn`)
})

t.test('acknowledgements are stored together, and none waits long for others', async (t) => {
  const rig = new WebhookRig(t, { maxConnections: 40 })
  await rig.write(...Array.from({ length: 40 }, (_, chat) => `${chat}`))
  t.equal(rig.sent.length, 40)
  await rig.clock.advance(5)
  t.ok(rig.saved.length < 6, `${rig.saved.length} times for 40`)
  t.equal(rig.saved.at(-1)?.cursor, 140)
  await rig.write('last')
  await rig.clock.advance(5)
  t.equal(rig.saved.at(-1)?.cursor, 141)
})

t.test('only who is delivered to flat out does not wait for the disk', async (t) => {
  const calm = new WebhookRig(t, { maxConnections: 40 })
  for (let count = 0; count < 3; count++) {
    await calm.write('one at a time')
    await calm.clock.advance(5)
  }
  t.same(new Set(calm.rushed), new Set([false]))
  const few = new WebhookRig(t, { maxConnections: 4 })
  await few.write(...Array.from({ length: 40 }, (_, chat) => `${chat}`))
  await few.clock.advance(5)
  t.same(new Set(few.rushed), new Set([false]), 'a few connections are never in such a hurry')
  const flat = new WebhookRig(t, { maxConnections: 40 })
  const stored = Promise.withResolvers<void>()
  flat.onSave = () => stored.promise
  await flat.write('first', ...Array.from({ length: 200 }, (_, chat) => `${chat % 100}`))
  await flat.clock.advance(5)
  flat.onSave = async () => undefined
  stored.resolve()
  await flat.settle()
  await flat.clock.advance(50)
  t.ok(flat.rushed.includes(true), 'flat out')
})

t.test('the schedule is kept, and one update is tried for all', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure()
  await rig.write('a', 'b', 'c', 'd', 'e')
  await rig.clock.advance(24 * HOUR)
  const perHour = rig.sent.length / 24
  t.ok(perHour > 48 && perHour < 80, `${perHour} tries an hour`)
  t.equal(rig.mostInFlight, 3, 'at first, when nothing was known')
  const before = rig.sent.length
  await rig.clock.advance(24 * HOUR)
  t.ok(rig.sent.length - before < 24 * 6, 'four an hour after a day')
  t.equal(rig.state, 'resting')
  const { reads } = rig
  await rig.write('f', 'g')
  await rig.clock.advance(HOUR)
  t.equal(rig.reads, reads, 'nothing is read for an endpoint that is dead')
})

t.test('when it is back everything follows at once', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure()
  await rig.write('a', 'b', 'c', 'd', 'e', 'f')
  await rig.clock.advance(10 * MINUTE)
  rig.answer = () => ok
  const before = rig.sent.length
  await rig.clock.advance(73_000)
  await rig.settle()
  t.equal(rig.sent.length - before, 6)
  t.equal(rig.state, 'delivering')
  t.same(rig.states.at(-1), { trouble: undefined, suspended: false })
})

t.test('a chat that fails for hours delays no other', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = (updateId) => (updateId === 101 ? failure() : ok)
  await rig.write('bad', 'bad', 'good')
  t.ok(rig.sent.includes(103))
  for (let hour = 0; hour < 30; hour++) {
    await rig.clock.advance(HOUR)
    await rig.write('good', `new ${hour}`)
    t.ok(rig.sent.includes(105 + 2 * hour), `after ${hour} hours`)
  }
  const tries = rig.sent.filter((updateId) => updateId === 101).length
  t.ok(tries < 24 * 75 + 6 * 5 + 10, `${tries} tries, as published`)
  t.notOk(rig.sent.includes(102), 'its own next one waits')
  t.equal(rig.delivery.progress.cursor, 100)
  t.same(rig.saved.at(-1)?.open, [101, 102])
})

t.test('Retry-After is honoured, up to an hour', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure(429, { retryAfterMs: 30 * MINUTE })
  await rig.write('a')
  await rig.clock.advance(29 * MINUTE)
  t.equal(rig.sent.length, 1)
  await rig.clock.advance(2 * MINUTE)
  t.equal(rig.sent.length, 2)
  rig.answer = () => failure(503, { retryAfterMs: 9 * HOUR })
  await rig.clock.advance(30 * MINUTE)
  const before = rig.sent.length
  await rig.clock.advance(HOUR + MINUTE)
  t.equal(rig.sent.length, before + 1)
})

t.test('a rest that is short is remembered here only', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure(429, { retryAfterMs: MINUTE / 2 })
  await rig.write('a')
  t.same(rig.reminders, [])
  t.notOk(rig.delivery.isIdle(0))
})

t.test('a rest that is long is remembered elsewhere, and leaves the actor idle', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure(429, { retryAfterMs: 30 * MINUTE })
  await rig.write('a')
  t.equal(rig.reminders.length, 1)
  t.ok(rig.delivery.isIdle(0))
  t.match(rig.states.at(-1), { trouble: { failures: 1 }, suspended: false })
})

t.test(
  'progress that cannot be stored is tried again every second, not all the time',
  async (t) => {
    const rig = new WebhookRig(t, { maxConnections: 1 })
    let writes = 0
    rig.onSave = async () => {
      // Without a pause there would be no end.
      if (++writes < 1_000) throw new Error('the database is away')
    }
    await rig.write('a')
    await rig.clock.advance(10_000)
    t.ok(writes >= 10 && writes <= 12, `${writes}`)
    rig.onSave = async () => undefined
    await rig.clock.advance(1_000)
    t.equal(rig.saved.at(-1)?.cursor, 101)
  },
)

t.test('a log that cannot be read is read again after a pause', async (t) => {
  const rig = new WebhookRig(t)
  await rig.settle()
  rig.onRead = async () => {
    // Without a pause there would be no end.
    if (rig.reads < 1_000) throw new Error('the database is away')
  }
  await rig.write('a')
  await rig.clock.advance(5_000)
  t.same(rig.sent, [])
  t.ok(rig.reads < 10, `${rig.reads}`)
  t.match(rig.logger.errors[0], { apiKeyId: 5, err: { message: 'the database is away' } })
  rig.onRead = async () => undefined
  await rig.clock.advance(1_000)
  t.same(rig.sent, [101])
})

t.test('one that is suspended has nothing to be awake for', async (t) => {
  const rig = new WebhookRig(t, { suspended: true })
  await rig.write('a', 'b')
  t.same(rig.sent, [])
  t.ok(rig.delivery.isIdle(HOUR))
})

t.test('410 for 23 hours turns it off, unless something else comes between', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure(410)
  await rig.write('a')
  await rig.clock.advance(20 * HOUR)
  rig.answer = () => failure(500)
  await rig.clock.advance(5 * MINUTE)
  rig.answer = () => failure(410)
  await rig.clock.advance(22 * HOUR)
  t.notOk(rig.isGone)
  await rig.clock.advance(2 * HOUR)
  t.ok(rig.isGone)
})

t.test('after a week of failures it is suspended', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure()
  await rig.write('a')
  await rig.clock.advance(8 * 24 * HOUR)
  t.equal(rig.state, 'suspended')
  t.match(rig.states.at(-1), { suspended: true })
  const before = rig.sent.length
  await rig.write('b')
  await rig.clock.advance(24 * HOUR)
  t.equal(rig.sent.length, before)
})

t.test(
  'after a restart it rests until its time, and repeats what was not acknowledged',
  async (t) => {
    const trouble = { failures: 4, since: 0, goneSince: undefined, dueAt: 0 }
    const rig = new WebhookRig(t, {
      trouble: { ...trouble, since: 1_700_000_000_000 - HOUR, dueAt: 1_700_000_000_000 + 5_000 },
      progress: { cursor: 100, head: 104, waiting: 2, open: [101, 101, 104, 104] },
    })
    await rig.write('a', 'b', 'c', 'd', 'e')
    t.same(rig.sent, [])
    await rig.clock.advance(5_000)
    await rig.settle()
    t.same([...rig.sent].sort(), [101, 104, 105])
    const repeated = rig.records.filter(({ isRepeated }) => isRepeated)
    t.same(repeated.map(({ updateId }) => updateId).sort(), [101, 104], 'as its records tell')
  },
)

t.test('a stop lets what is under way end, and stores it', async (t) => {
  const rig = new WebhookRig(t)
  const answer = Promise.withResolvers<Attempt>()
  rig.answer = () => answer.promise
  await rig.write('a', 'a')
  const stopped = rig.delivery.stop()
  answer.resolve(ok)
  await stopped
  t.same(rig.sent, [101])
  t.equal(rig.saved.at(-1)?.cursor, 101)
})

t.test('a key that may not receive is sent nothing', async (t) => {
  const rig = new WebhookRig(t)
  rig.mayReceive = false
  await rig.write('a')
  t.same(rig.sent, [])
  rig.mayReceive = true
  rig.delivery.poke()
  await rig.settle()
  t.same(rig.sent, [101])
})

t.test(
  'what fails on this side is tried again a moment later, and never held against it',
  async (t) => {
    const rig = new WebhookRig(t)
    rig.answer = () => failure()
    await rig.write('a', 'b', 'c')
    let tries = 0
    // An end to them, or a test that fails would never end.
    rig.answer = () => (++tries > 50 ? ok : Promise.reject(new Error('the database is away')))
    while (tries === 0) await rig.clock.advance(100)
    await rig.settle()
    t.equal(tries, 1, 'no probe follows at once')
    await rig.clock.advance(1_000)
    t.equal(tries, 2)
    t.equal(rig.delivery.snapshot.context.trouble?.failures, rig.states.at(-1)?.trouble?.failures)
    rig.answer = () => ok
    await rig.clock.advance(1_000)
    t.equal(rig.state, 'delivering')
    t.same([...new Set(rig.sent)].sort(), [101, 102, 103])
  },
)

t.test('it is idle only when nothing is under way, waiting, unread or unstored', async (t) => {
  const rig = new WebhookRig(t)
  const { delivery } = rig
  await rig.settle()
  t.ok(delivery.isIdle(0), 'with nothing to do')

  const answer = Promise.withResolvers<Attempt>()
  rig.answer = () => answer.promise
  await rig.write('a')
  t.notOk(delivery.isIdle(0), 'an attempt is under way')
  const stored = Promise.withResolvers<void>()
  rig.onSave = () => stored.promise
  answer.resolve(ok)
  await rig.settle()
  await rig.clock.advance(5)
  t.notOk(delivery.isIdle(0), 'an acknowledgement is not stored')
  stored.resolve()
  await rig.settle()
  t.ok(delivery.isIdle(0))
  t.notOk(delivery.isIdle(MINUTE), 'not for so long')
  await rig.clock.advance(MINUTE)
  t.ok(delivery.isIdle(MINUTE))

  rig.answer = (updateId) => (updateId === 103 ? failure() : ok)
  await rig.write('good', 'bad', 'good')
  await rig.clock.advance(10)
  t.match(rig.delivery.progress, { cursor: 102, waiting: 1 })
  t.equal(rig.inFlight, 0)
  t.notOk(delivery.isIdle(0), 'a chat waits for its next try')
  rig.answer = () => ok
  await rig.clock.advance(MINUTE)
  t.ok(delivery.isIdle(0))

  const read = Promise.withResolvers<void>()
  rig.onRead = () => read.promise
  await rig.write('c')
  t.notOk(delivery.isIdle(0), 'something came that is not read')
  read.resolve()
  await rig.settle()
  await rig.clock.advance(5)
  t.ok(delivery.isIdle(0))
})

t.test('what is acknowledged during the last write is stored too', async (t) => {
  const rig = new WebhookRig(t, { maxConnections: 2 })
  const answers = new Map<number, PromiseWithResolvers<Attempt>>()
  rig.answer = (updateId) => {
    const answer = Promise.withResolvers<Attempt>()
    answers.set(updateId, answer)
    return answer.promise
  }
  const written = Promise.withResolvers<void>()
  let writes = 0
  rig.onSaved = () => (++writes === 1 ? written.promise : Promise.resolve())
  await rig.write('a', 'b')
  answers.get(101)?.resolve(ok)
  await rig.settle()
  await rig.clock.advance(5)
  t.equal(rig.saved.at(-1)?.cursor, 101, 'the write has taken what it stores')
  const stopped = rig.delivery.stop()
  answers.get(102)?.resolve(ok)
  await rig.settle()
  written.resolve()
  await stopped
  t.equal(rig.saved.at(-1)?.cursor, 102)
})

t.test('an attempt that cannot be recorded has ended all the same', async (t) => {
  const rig = new WebhookRig(t, { maxConnections: 1 })
  rig.records.push = () => {
    throw new Error('boom')
  }
  await rig.write('a', 'b', 'c')
  await rig.clock.advance(10_000)
  await rig.write('a', 'b', 'c', 'd')
  await rig.clock.advance(10_000)
  t.same(rig.sent, [101, 102, 103, 104, 105, 106, 107])
  t.equal(rig.mostInFlight, 1)
  t.ok(rig.logger.errors.length > 0)
})

t.test('a delivery that has heard of an update is not idle before its turn has come', async (t) => {
  const rig = new WebhookRig(t)
  await rig.settle()
  t.ok(rig.delivery.isIdle(0))
  const written = rig.write('a')
  t.notOk(rig.delivery.isIdle(0), 'nobody wakes it again')
  await written
  t.same(rig.sent, [101])
})
