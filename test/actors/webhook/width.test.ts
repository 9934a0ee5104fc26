/** How many attempts are under way at once. */
import t from 'tap'
import type { Attempt } from '../../../actors/ports/webhooks.ts'
import { failure, ok, WebhookRig } from './rig.ts'

t.test('no more at once than the webhook allows', async (t) => {
  const rig = new WebhookRig(t, { maxConnections: 3 })
  const held: (() => void)[] = []
  rig.answer = () => new Promise<Attempt>((resolve) => held.push(() => resolve(ok)))
  await rig.write('a', 'b', 'c', 'd', 'e', 'a')
  t.equal(rig.sent.length, 3)
  while (rig.sent.length < 6) {
    held.shift()?.()
    await rig.settle()
  }
  t.equal(rig.mostInFlight, 3)
  t.ok(rig.sent.indexOf(101) < rig.sent.indexOf(106))
})

t.test('an endpoint that is new, or was dead, gets twice as many with each success', async (t) => {
  const rig = new WebhookRig(t, { maxConnections: 100 })
  const held: PromiseWithResolvers<Attempt>[] = []
  rig.answer = () => {
    const attempt = Promise.withResolvers<Attempt>()
    held.push(attempt)
    return attempt.promise
  }
  const end = async (attempt: Attempt, count = 1) => {
    for (const { resolve } of held.splice(0, count)) resolve(attempt)
    await rig.settle()
    await rig.clock.advance(5)
    await rig.settle()
  }
  await rig.write(...Array.from({ length: 60 }, (_, chat) => `${chat}`))
  t.equal(rig.inFlight, 4)
  await end(ok)
  t.equal(rig.inFlight, 8)
  await end(ok)
  t.equal(rig.inFlight, 16)
  await end(failure(), 16)
  t.equal(rig.inFlight, 1, 'a probe')
  await end(ok)
  t.equal(rig.inFlight, 8)
  rig.answer = () => ok
  await end(ok, 8)
})

t.test('what is due while every connection is taken waits without a timer', async (t) => {
  const rig = new WebhookRig(t, { maxConnections: 2 })
  const held = Promise.withResolvers<Attempt>()
  rig.answer = (id) => (id === 101 ? failure() : held.promise)
  await rig.write('a', 'b')
  await rig.clock.advance(1)
  t.same(rig.sent, [101, 102, 101])
  await rig.write('c')
  await rig.clock.advance(2_000)
  t.same(rig.sent, [101, 102, 101, 103])
  t.equal(rig.clock.timers, 0)
  rig.answer = () => ok
  held.resolve(ok)
  await rig.settle()
  await rig.clock.advance(5)
  t.equal(rig.sent.at(-1), 101)
})

t.test('an acknowledgement that is not stored yet occupies its connection', async (t) => {
  const rig = new WebhookRig(t, { maxConnections: 2 })
  const stored = Promise.withResolvers<void>()
  rig.onSave = () => stored.promise
  await rig.write('a', 'b', 'c', 'd')
  t.equal(rig.sent.length, 2, 'a crash now repeats two')
  stored.resolve()
  await rig.settle()
  t.equal(rig.sent.length, 4)
})
