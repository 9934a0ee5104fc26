/** What an owner is told of an endpoint that gets nothing, and what survives of its failures. */
import t from 'tap'
import { failure, ok, WebhookRig } from './rig.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

t.test(
  'the owner is told after 15 minutes, an hour, a day, and when it is suspended',
  async (t) => {
    const rig = new WebhookRig(t)
    rig.answer = () => failure()
    await rig.write('a', 'b')
    await rig.clock.advance(14 * MINUTE)
    t.same(rig.told, [])
    await rig.clock.advance(8 * DAY)
    t.equal(rig.state, 'suspended')
    const due = [
      ['failing_15_minutes', 15 * MINUTE],
      ['failing_1_hour', HOUR],
      ['failing_24_hours', DAY],
      ['suspended', 7 * DAY],
    ] as const
    t.same(
      rig.told.map(({ notice }) => notice),
      due.map(([notice]) => notice),
    )
    for (const [index, [notice, afterMs]] of due.entries()) {
      const late = (rig.told[index]?.afterMs ?? 0) - afterMs
      // It shows at the next try.
      const between = afterMs < DAY ? 73_000 : 18 * MINUTE + 1_000
      t.ok(late >= 0 && late <= between, `${notice} ${late} ms late`)
    }
  },
)

t.test('a success now and then begins the count anew', async (t) => {
  const rig = new WebhookRig(t)
  for (let day = 0; day < 10; day++) {
    rig.answer = () => failure()
    await rig.write('a')
    await rig.clock.advance(DAY - 30 * MINUTE)
    rig.answer = () => ok
    await rig.clock.advance(30 * MINUTE)
    t.equal(rig.state, 'delivering', `on day ${day}`)
  }
  t.notOk(rig.told.some(({ notice }) => notice === 'suspended' || notice === 'failing_24_hours'))
})

t.test('the owner is told that the receiver removed it', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure(410)
  await rig.write('a')
  await rig.clock.advance(24 * HOUR)
  t.ok(rig.isGone)
  t.equal(rig.told.at(-1)?.notice, 'removed')
})

t.test('after a restart the count goes on where it was, with what was told before', async (t) => {
  const since = 1_700_000_000_000 - 2 * HOUR
  const trouble = { failures: 90, since, goneSince: undefined, dueAt: since }
  const rig = new WebhookRig(t, { trouble })
  rig.answer = () => failure()
  await rig.write('a')
  await rig.clock.advance(MINUTE)
  t.same(
    rig.told.map(({ notice }) => notice),
    ['failing_1_hour'],
  )
  await rig.clock.advance(23 * HOUR)
  t.equal(rig.told.at(-1)?.notice, 'failing_24_hours')
})

t.test('how often a chat failed is stored, and a restart goes on from there', async (t) => {
  const before = new WebhookRig(t)
  before.answer = (updateId) => (updateId === 101 ? failure() : ok)
  await before.write('bad', 'bad', 'good')
  await before.clock.advance(30 * MINUTE)
  await before.write('good')
  await before.clock.advance(10)
  const progress = before.saved.at(-1)
  const [updateId, failures = 0, since = 0, dueAt = 0] = progress?.failing?.[0] ?? []
  t.equal(updateId, 101)
  t.equal(failures, before.sent.filter((sent) => sent === 101).length)
  t.equal(since, 1_700_000_000_000)

  const after = new WebhookRig(t, { progress })
  after.answer = (sent) => (sent === 101 ? failure() : ok)
  await after.clock.advance(before.clock.now() - after.clock.now())
  await after.write('bad', 'bad', 'good', 'good', 'good')
  t.same(after.sent, [105], 'the chat waits for its time')
  await after.clock.advance(Math.max(0, dueAt - after.clock.now()) + 1)
  t.match(
    after.records.find((record) => record.updateId === 101),
    { attempt: failures + 1 },
  )
})

t.test('time in which nobody tried is no time of failing', async (t) => {
  const now = 1_700_000_000_000
  const untried = 30 * 24 * HOUR
  const at = { since: now - untried - HOUR, dueAt: now - untried }
  const rig = new WebhookRig(t, {
    trouble: { failures: 4, goneSince: at.since, ...at },
    progress: {
      cursor: 100,
      head: 101,
      waiting: 1,
      open: [101, 101],
      failing: [[101, 4, at.since, at.dueAt]],
    },
  })
  rig.answer = () => failure(410)
  await rig.write('a')
  await rig.clock.advance(5 * MINUTE)
  t.ok(rig.sent.length > 0, 'it is tried again')
  t.notOk(rig.isGone)
  t.equal(rig.states.at(-1)?.suspended, false)
  t.match(rig.delivery.progress.failing, [[101, Number, now - HOUR, Number]], 'the hour counts')
  rig.answer = () => ok
  await rig.clock.advance(HOUR)
  t.equal(rig.delivery.progress.cursor, 101, 'it is delivered, not given up')
})

t.test(
  'the time in which nobody tried is taken off once, however often a delivery begins',
  async (t) => {
    const now = 1_700_000_000_000
    const untried = 30 * DAY
    const since = now - untried - HOUR
    const failing = [[101, 4, since, now - untried]] as const
    const before = { cursor: 100, head: 101, waiting: 1, open: [101, 101], failing }
    const ofLane = new WebhookRig(t, { progress: before })
    const { progress } = ofLane.delivery
    t.same(progress.failing, [[101, 4, now - HOUR, now]])
    const again = new WebhookRig(t, { progress })
    t.same(again.delivery.progress, progress)
    await again.write('a')
    t.same(again.sent, [101], 'it is due')

    const trouble = { failures: 4, since, goneSince: since, dueAt: now - untried }
    const ofEndpoint = new WebhookRig(t, { trouble, suspended: true })
    const expected = { ...trouble, since: now - HOUR, goneSince: now - HOUR, dueAt: now }
    t.same(ofEndpoint.delivery.standing.trouble, expected)
    const later = new WebhookRig(t, { ...ofEndpoint.delivery.standing })
    t.same(later.delivery.standing.trouble, expected)
  },
)

t.test('while one chat is tried for all, the time counts for the others as well', async (t) => {
  const now = 1_700_000_000_000
  const since = now - 6 * DAY
  const progress = {
    cursor: 100,
    head: 102,
    waiting: 2,
    open: [101, 102],
    failing: [
      [101, 4, since, now - 2 * DAY],
      [102, 4, since, now - 2 * DAY],
    ] as const,
  }
  const trouble = { failures: 90, since, goneSince: undefined, dueAt: now + MINUTE }
  const probed = new WebhookRig(t, { trouble, progress })
  t.same(probed.delivery.progress.failing, progress.failing)
  // Nobody tried any chat in the last day alone.
  const away = new WebhookRig(t, { trouble: { ...trouble, dueAt: now - DAY }, progress })
  t.same(away.delivery.progress.failing, [
    [101, 4, since + DAY, now - DAY],
    [102, 4, since + DAY, now - DAY],
  ])
})

t.test('times that only a clock that was ahead can have told are not waited for', async (t) => {
  const now = 1_700_000_000_000
  const failing = (since: number, dueAt: number) => [[101, 4, since, dueAt]] as const
  const before = { cursor: 100, head: 101, waiting: 1, open: [101, 101] }
  for (const [since, dueAt] of [
    [now - HOUR, now + DAY],
    [now + DAY - MINUTE, now + DAY],
    [now + MINUTE, now + 2 * MINUTE],
  ] as const) {
    const ofLane = new WebhookRig(t, { progress: { ...before, failing: failing(since, dueAt) } })
    t.same(ofLane.delivery.progress.failing, failing(Math.min(since, now), now))
    await ofLane.write('a')
    t.same(ofLane.sent, [101], 'it is due')
    const trouble = { failures: 4, since, goneSince: undefined, dueAt }
    const ofEndpoint = new WebhookRig(t, { trouble, progress: before })
    await ofEndpoint.write('a')
    await ofEndpoint.clock.advance(1_000)
    t.same(ofEndpoint.sent, [101], 'it is tried')
  }
  const asked = failing(now - MINUTE, now + HOUR)
  const left = new WebhookRig(t, { progress: { ...before, failing: asked } })
  t.same(left.delivery.progress.failing, asked, 'an endpoint may ask for an hour')
})

t.test(
  'a clock that is set ahead by a week gives up neither a chat nor the endpoint',
  async (t) => {
    for (const fails of [(updateId: number) => updateId === 101, () => true]) {
      const rig = new WebhookRig(t)
      rig.answer = (updateId) => (fails(updateId) ? failure() : ok)
      await rig.write('bad', 'good')
      await rig.clock.advance(10 * MINUTE)
      rig.clock.set(8 * DAY)
      await rig.write('good')
      await rig.clock.advance(3 * MINUTE)
      t.equal(rig.dropped, 0)
      t.not(rig.states.at(-1)?.suspended, true)
      rig.answer = () => ok
      await rig.clock.advance(20 * MINUTE)
      t.equal(rig.delivery.progress.cursor, 103)
    }
  },
)

t.test('a clock that is set ahead by a day turns no webhook off', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = () => failure(410)
  await rig.write('a')
  await rig.clock.advance(10 * MINUTE)
  rig.clock.set(DAY)
  await rig.clock.advance(3 * MINUTE)
  t.notOk(rig.isGone)
  await rig.clock.advance(23 * HOUR)
  t.ok(rig.isGone)
})

t.test('a clock that is set back by a day delays no attempt for a day', async (t) => {
  const rig = new WebhookRig(t)
  rig.answer = (updateId) => (updateId === 101 ? failure() : ok)
  await rig.write('bad', 'good')
  await rig.clock.advance(10 * MINUTE)
  rig.clock.set(-DAY)
  rig.answer = () => ok
  await rig.clock.advance(2 * MINUTE)
  t.equal(rig.delivery.progress.cursor, 102)
})
