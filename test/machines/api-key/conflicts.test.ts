/** Two pollers on one key: the older one gives way, slowly, and each is answered once. */
import t from 'tap'
import { held, listening, next, page, poll } from './rig.ts'

const conflict = (requestId: string) => ({
  type: 'reply',
  requestId,
  outcome: {
    ok: false,
    failure: {
      code: 'conflict',
      reason: 'other_poll',
      description:
        'terminated by other getUpdates request; make sure that only one bot instance is running',
    },
  },
})

const at = (ms: number) => ({ now: 1_000_000 + ms })

t.test('a new call that finds nothing ends the older one and waits in its place', async (t) => {
  const walk = next(held('p1'), poll('p2', at(10_000)))
  t.same(walk.replies, [conflict('p1')])
  t.equal(walk.state, 'usable.held')
  t.equal(walk.snapshot.context.waiting.requestId, 'p2')
  t.equal(listening(walk).requestId, 'p2')
})

t.test('the new call waits its own time', async (t) => {
  const walk = next(held('p1'), poll('p2', { ...at(10_000), timeoutMs: 9_000 }))
  t.equal(walk.timers.pollEnds, 9_000)
})

t.test('a new call that finds something leaves the waiting one alone', async (t) => {
  const walk = next(held('p1'), poll('p2', at(10_000)), 1)
  t.same(
    walk.replies.map(({ requestId, outcome }) => [requestId, outcome.ok]),
    [['p2', true]],
  )
  t.equal(walk.snapshot.context.waiting.requestId, 'p1')
  t.equal(walk.state, 'usable.held')
})

t.test('so does one that does not want to wait', async (t) => {
  const walk = next(held('p1'), poll('p2', { ...at(10_000), timeoutMs: 0 }))
  t.same(
    walk.replies.map(({ requestId }) => requestId),
    ['p2'],
  )
  t.equal(walk.snapshot.context.waiting.requestId, 'p1')
})

t.test(
  'one that was made before the waiting one, and came after it, gives way itself',
  async (t) => {
    const walk = next(held('p1', at(10_000)), poll('p0', { ...at(11_000), age: 1_001 }))
    t.same(walk.replies, [conflict('p0')])
    t.equal(walk.snapshot.context.waiting.requestId, 'p1')
    next(walk, poll('p2', { ...at(11_000), age: 999 }))
    t.same(walk.replies, [conflict('p1')], 'one that was made after it does not')
    t.equal(walk.snapshot.context.waiting.requestId, 'p2')
    next(walk, poll('p1.5', { ...at(20_000), age: 10_000 }))
    t.same(walk.replies, [conflict('p1.5')], 'a waiting one keeps the time at which it was made')
  },
)

t.test('a second conflict within 3 s is held back for 3 s', async (t) => {
  const walk = next(held('p1'), poll('p2', at(10_000)))
  next(walk, poll('p3', at(12_999)))
  t.same(walk.replies, [])
  t.equal(walk.snapshot.context.waiting.requestId, 'p3')
  t.equal(walk.timers['conflict.due'], 3_000)
  t.same(walk.elapseRaised('conflict.due').replies, [conflict('p2')])
  t.equal(walk.snapshot.context.waiting.requestId, 'p3', 'which waits on')
})

t.test('after 3 s of peace a conflict is told at once again', async (t) => {
  const walk = next(held('p1'), poll('p2', at(10_000)))
  next(walk, poll('p3', at(13_000)))
  t.same(walk.replies, [conflict('p2')])
})

t.test('conflicts that are held back are told one by one', async (t) => {
  const walk = next(held('p1'), poll('p2', at(10_000)))
  next(walk, poll('p3', at(10_100)))
  next(walk, poll('p4', at(10_200)))
  t.same(walk.elapseRaised('conflict.due').replies, [conflict('p2')])
  t.same(walk.elapseRaised('conflict.due').replies, [conflict('p3')])
  t.equal(walk.snapshot.context.waiting.requestId, 'p4')
})

t.test('a conflict that is held back is told even if the key is revoked meanwhile', async (t) => {
  const walk = next(held('p1'), poll('p2', at(10_000)))
  next(walk, poll('p3', at(10_100)))
  walk.send({ type: 'key.revoke', requestId: 'k' })
  t.same(walk.elapseRaised('conflict.due').replies, [conflict('p2')])
})

t.test('what was being read for the older one does not speak for it again', async (t) => {
  for (const found of [0, 2]) {
    const walk = held('p1')
    const late = page(listening(walk), found)
    next(walk, poll('p2', at(10_000)))
    t.same(walk.replies, [conflict('p1')])
    walk.send(late)
    t.same(walk.replies, [])
    t.equal(walk.snapshot.context.waiting.requestId, 'p2')
    t.equal(walk.state, 'usable.held')
  }
})

t.test('nor does a read of it that fails', async (t) => {
  const walk = held('p1')
  const asked = listening(walk)
  next(walk, poll('p2', at(10_000)))
  const failure = { code: 'internal', description: '' } as const
  walk.send({ type: 'poll.failed', poll: asked, failure })
  t.same(walk.replies, [])
  t.equal(walk.snapshot.context.waiting.requestId, 'p2')
})
