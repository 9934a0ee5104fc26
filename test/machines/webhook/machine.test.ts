/** An endpoint through good and bad times. */
import t from 'tap'
import { troubleAt, type WebhookEvent } from '../../../machines/webhook/machine.ts'
import { answered, begin, failed, NOW, trouble } from './rig.ts'

const HOUR = 3_600_000
const flowOf = (walk: ReturnType<typeof begin>) =>
  walk.effects.filter(({ type }) => type === 'flow').map(({ params }) => params)
const noted = (walk: ReturnType<typeof begin>) =>
  walk.effects.filter(({ type }) => type === 'note').map(({ params }) => params)

t.test('it begins by delivering', async (t) => {
  const walk = begin()
  t.equal(walk.state, 'delivering')
  t.same(flowOf(walk), ['open'])
})

t.test('a failure of everything makes it rest, and that is stored', async (t) => {
  const walk = begin().send(failed())
  t.equal(walk.state, 'resting')
  t.same(flowOf(walk), ['closed'])
  t.same(noted(walk), ['resting'])
  t.same(walk.timers, { rest: 1_000 })
  t.same(
    walk.effects.filter(({ type }) => type === 'remind').map(({ params }) => params),
    [NOW + 1_000],
  )
})

t.test('after its rest it probes with one update', async (t) => {
  const walk = begin().send(failed()).elapse('rest')
  t.equal(walk.state, 'probing')
  t.same(flowOf(walk), ['single'])
})

t.test(
  'an attempt from before its rest that succeeds ends the rest, and that is stored',
  async (t) => {
    const walk = begin().send(failed()).send(answered)
    t.equal(walk.state, 'delivering')
    t.same(flowOf(walk), ['open'])
    t.same(noted(walk), ['delivering'])
    t.equal(walk.snapshot.context.trouble, undefined)
    t.same(walk.timers, {})
  },
)

t.test('a probe that fails makes it rest on, for as long as is said', async (t) => {
  const walk = begin().send(failed()).elapse('rest')
  walk.send(failed({ failures: 2, dueAt: NOW + 60_000 }))
  t.equal(walk.state, 'resting')
  t.same(walk.timers, { rest: 60_000 })
})

t.test('each failed probe makes the rest longer, by the count of the endpoint', async (t) => {
  const walk = begin().send(failed({ failures: 3, since: NOW - 5_000, dueAt: NOW }))
  walk.elapse('rest')
  const probe = { chance: 0.5, restMs: 0 }
  walk.send({ ...failed({ failures: 1, since: NOW, dueAt: NOW }), probe } as WebhookEvent)
  t.equal(walk.state, 'resting')
  t.match(walk.snapshot.context.trouble, { failures: 4, since: NOW - 5_000, dueAt: NOW + 4_000 })
  walk.elapse('rest')
  walk.send({ ...failed(), probe: { chance: 0.5, restMs: 900_000 } } as WebhookEvent)
  t.same(walk.timers, { rest: 900_000 }, 'or as long as the endpoint asks for')
  const old = begin().send(failed({ failures: 99, since: NOW - 24 * HOUR, dueAt: NOW }))
  old.elapse('rest').send({ ...failed(), probe } as WebhookEvent)
  t.same(old.timers, { rest: 900_000 }, 'after a day a quarter of an hour')
})

t.test('a probe that gets through opens it again', async (t) => {
  const walk = begin().send(failed()).elapse('rest').send(answered)
  t.equal(walk.state, 'delivering')
  t.same(flowOf(walk), ['open'])
  t.same(noted(walk), ['delivering'])
  t.equal(walk.snapshot.context.trouble, undefined)
})

t.test('so does an attempt that was under way when the rest began', async (t) => {
  t.equal(begin().send(failed()).send(answered).state, 'delivering')
})

t.test('an update of a chat that never failed is tried at once', async (t) => {
  const walk = begin().send(failed({ dueAt: NOW + HOUR }))
  t.equal(walk.send({ type: 'lane.fresh' }).state, 'probing')
})

t.test('after a restart it rests on until its time', async (t) => {
  const walk = begin({ trouble: trouble({ dueAt: NOW + 5_000 }) })
  t.equal(walk.state, 'resting')
  t.same(walk.timers, { rest: 5_000 })
})

t.test('a time that has passed meanwhile is now', async (t) => {
  t.same(begin({ trouble: trouble({ dueAt: NOW - 5_000 }) }).timers, { rest: 0 })
})

t.test('after a week of nothing but failures it is suspended', async (t) => {
  const week = 7 * 24 * HOUR
  t.equal(begin().send(failed({ since: NOW - week + 1 })).state, 'resting')
  const walk = begin().send(failed({ since: NOW - week }))
  t.equal(walk.state, 'suspended')
  t.same(noted(walk), ['suspended'])
  t.same(flowOf(walk), ['closed'])
})

t.test('and stays so over a restart', async (t) => {
  const walk = begin({ trouble: trouble(), suspended: true })
  t.equal(walk.state, 'suspended')
  t.same(walk.timers, {})
})

t.test('after 23 hours of nothing but 410 it is off', async (t) => {
  t.equal(begin().send(failed({ goneSince: NOW - 23 * HOUR + 1 })).state, 'resting')
  const walk = begin().send(failed({ goneSince: NOW - 23 * HOUR }))
  t.equal(walk.snapshot.status, 'done')
  t.ok(walk.effects.some(({ type }) => type === 'turnOff'))
  t.same(flowOf(walk), ['closed'])
  t.match(
    walk.effects.filter(({ type }) => type === 'notify'),
    [{ params: 'removed' }],
    'its owner is told',
  )
})

t.test('of 410 the first answer of the endpoint counts, whichever lane is tried', async (t) => {
  const probe = { chance: 0.5, restMs: 0 }
  const afterProbe = (before: number | undefined, now: number | undefined) => {
    const walk = begin()
      .send(failed({ goneSince: before, dueAt: NOW }))
      .elapse('rest')
    walk.send({ ...failed({ goneSince: now, dueAt: NOW }), probe } as WebhookEvent)
    return walk.snapshot.context.trouble.goneSince
  }
  t.equal(afterProbe(NOW - 7, NOW - 2), NOW - 7)
  t.equal(afterProbe(undefined, NOW - 2), NOW - 2)
  t.equal(afterProbe(NOW - 7, undefined), undefined, 'another answer ends it')
})

t.test('half a day in which nobody tried is no time of failing, nor of 410', async (t) => {
  const [since, goneSince, dueAt] = [NOW - 20 * HOUR, NOW - 19 * HOUR, NOW - 12 * HOUR]
  const later = troubleAt(trouble({ since, goneSince, dueAt }), NOW)
  t.match(later, { since: NOW - 8 * HOUR, goneSince: NOW - 7 * HOUR, dueAt: NOW })
  const soon = trouble({ since, goneSince, dueAt: dueAt + 1 })
  t.same(troubleAt(soon, NOW), soon)
  t.equal(troubleAt(trouble({ goneSince: NOW + 5 }), NOW).goneSince, NOW, 'the clock was ahead')
})

t.test('its owner is told of each span of failures once that is full', async (t) => {
  const told = (sinceMs: number) =>
    begin()
      .send(failed({ since: NOW - sinceMs }))
      .effects.filter(({ type }) => type === 'notify')
      .map(({ params }) => params)
  t.same(told(HOUR / 4 - 1), [undefined])
  t.same(told(HOUR / 4), ['failing_15_minutes'])
  t.same(told(HOUR - 1), ['failing_15_minutes'])
  t.same(told(HOUR), ['failing_1_hour'])
  t.same(told(24 * HOUR - 1), ['failing_1_hour'])
  t.same(told(24 * HOUR), ['failing_24_hours'])
  t.same(told(7 * 24 * HOUR), ['suspended'])
})

t.test(
  'after a crash it rests, with nothing that might crash again, and goes on where it was',
  async (t) => {
    for (const [input, state] of [
      [{}, 'delivering'],
      [{ trouble: trouble() }, 'resting'],
      [{ trouble: trouble(), suspended: true }, 'suspended'],
    ] as const) {
      const walk = begin({ ...input, crashes: [NOW, NOW] })
      t.equal(walk.state, 'crashed')
      t.same(walk.effects, [])
      t.same(walk.timers, { crashRest: 2_000 })
      t.equal(walk.send(answered, failed(), { type: 'lane.fresh' }).state, 'crashed')
      t.equal(walk.elapse('crashRest').state, state)
    }
  },
)

t.test('the fifth crash within a minute is one too many for the next five minutes', async (t) => {
  const walk = begin({ trouble: trouble(), crashes: [1, 2, 3, 4, 5] })
  t.equal(walk.state, 'failed')
  t.same(walk.effects, [])
  t.same(walk.timers, { tryAgain: 300_000 })
  t.equal(walk.elapse('tryAgain').state, 'resting')
})
