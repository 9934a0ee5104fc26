/** getUpdates: what it reads, how long it waits, how it ends, what it confirms. */
import t from 'tap'
import { wantedFrom, wants } from '../../../machines/model/update-kinds.ts'
import { begin, held, listening, next, page, poll, reading } from './rig.ts'

const answer = (requestId: string, ids: number[]) => ({
  type: 'reply',
  requestId,
  outcome: { ok: true, result: { json: JSON.stringify(ids), count: ids.length } },
})

t.test('what is there is answered at once and confirms nothing', async (t) => {
  const walk = next(begin(), poll('p1', { next: 103 }), 2)
  t.same(walk.replies, [answer('p1', [101, 102])])
  t.equal(walk.state, 'usable.quiet')
  t.equal(walk.snapshot.context.cursor, 100)
})

t.test('with nothing there and no timeout the answer is empty, at once', async (t) => {
  const walk = next(begin(), poll('p1', { timeoutMs: 0 }))
  t.same(walk.replies, [answer('p1', [])])
  t.equal(walk.state, 'usable.quiet')
})

t.test('with nothing there it listens from the newest id that was looked at', async (t) => {
  const walk = begin().send(poll('p1'))
  walk.send(page(reading(walk), 0, { head: 140 }))
  t.equal(walk.state, 'usable.held')
  t.same(walk.meta, { receiving: true })
  t.same(walk.replies, [])
  t.match(walk.effects, [{ type: 'listen', params: { requestId: 'p1', head: 140 } }])
  t.equal(walk.timers.pollEnds, 50_000)
})

t.test(
  'a poll that drops what waits has moved the cursor, whether or not another waits',
  async (t) => {
    const walk = begin().send(poll('p1', { offset: -1 }))
    walk.send(page(reading(walk), 0, { cursor: 120, head: 120 }))
    t.equal(walk.state, 'usable.held')
    t.equal(walk.snapshot.context.cursor, 120)
    for (const [id, now, cursor] of [
      ['p2', 1_010_000, 130],
      ['p3', 1_010_001, 140],
    ] as const) {
      walk.send(poll(id, { offset: -1, now }))
      walk.send(page(reading(walk), 0, { cursor, head: cursor, now }))
      t.equal(walk.state, 'usable.held')
      t.equal(walk.snapshot.context.cursor, cursor, id)
    }
  },
)

t.test('a poll that waits has confirmed what its offset says', async (t) => {
  const walk = begin().send(poll('p1', { offset: 106, next: 106 }))
  walk.send(page(reading(walk), 0, { cursor: 105, head: 105 }))
  t.equal(walk.state, 'usable.held')
  t.equal(walk.snapshot.context.cursor, 105)
  walk.send(poll('p2', { offset: 108, next: 108, now: 1_010_000 }))
  walk.send(page(reading(walk), 0, { cursor: 107, head: 107, now: 1_010_000 }))
  t.equal(walk.snapshot.context.waiting.requestId, 'p2')
  t.equal(walk.snapshot.context.cursor, 107, 'also one that takes the place of another')
})

t.test('what is found while it waits ends the wait', async (t) => {
  const walk = held()
  walk.send(page(listening(walk), 3))
  t.same(walk.replies, [answer('p1', [101, 102, 103])])
  t.equal(walk.state, 'usable.quiet')
  t.same(walk.effects, [{ type: 'stopListening', params: undefined }])
  t.same(walk.timers, {})
})

t.test('an update that the key does not want lets it wait on, past that update', async (t) => {
  const walk = held()
  walk.send(page(listening(walk), 0, { head: 170 }))
  t.equal(walk.state, 'usable.held')
  t.match(walk.effects, [{ type: 'listen', params: { requestId: 'p1', head: 170 } }])
  t.same(walk.replies, [])
  t.ok('pollEnds' in walk.timers, 'still within the same timeout')
})

t.test('when its time is over the answer is an empty array', async (t) => {
  const walk = held('p1', { timeoutMs: 7_000 })
  t.equal(walk.timers.pollEnds, 7_000)
  t.same(walk.elapse('pollEnds').replies, [answer('p1', [])])
  t.equal(walk.state, 'usable.quiet')
})

t.test('its time may end while an update is being read; it is answered once', async (t) => {
  for (const found of [0, 2]) {
    const walk = held()
    const late = page(listening(walk), found)
    t.same(walk.elapse('pollEnds').replies, [answer('p1', [])])
    walk.send(late)
    t.same(walk.replies, [])
    t.equal(walk.state, 'usable.quiet', 'nobody is there to wait again')
  }
})

t.test('a caller that went away is waited for no longer', async (t) => {
  const gone = { type: 'request.abandoned', requestId: 'p1' } as const
  const walk = held().send(gone)
  t.equal(walk.state, 'usable.quiet')
  t.same(walk.replies, [])
  t.same(walk.effects, [{ type: 'stopListening', params: undefined }])
  t.equal(held().send({ ...gone, requestId: 'p0' }).state, 'usable.held', 'another one')
  const busy = held()
  const late = page(listening(busy), 0)
  t.equal(busy.send(gone, late).state, 'usable.quiet', 'while an update was being read')
})

t.test('a read that fails is told, at once or while waiting', async (t) => {
  const failure = { code: 'unavailable', description: 'the log is down' } as const
  const refusal = { type: 'reply', requestId: 'p1', outcome: { ok: false, failure } }
  const fresh = begin().send(poll('p1'))
  fresh.send({ type: 'poll.failed', poll: reading(fresh), failure })
  t.same(fresh.replies, [refusal])
  const walk = held()
  walk.send({ type: 'poll.failed', poll: listening(walk), failure })
  t.same(walk.replies, [refusal])
  t.equal(walk.state, 'usable.quiet')
})

t.test('an offset confirms what is below it, and the cursor is saved', async (t) => {
  const walk = begin().send(poll('p1', { offset: 104, next: 110 }))
  t.equal(walk.snapshot.context.cursor, 103)
  t.same(
    walk.effects.map(({ type }) => type),
    ['saveCursor', 'read'],
  )
  t.match(walk.effects[1]?.params, { after: 103 })
})

t.test('the cursor never goes back', async (t) => {
  const walk = begin().send(poll('p1', { offset: 105, next: 110 }))
  walk.send(poll('p2', { offset: 101, next: 110 }))
  t.equal(reading(walk).after, 104)
})

t.test('a negative offset keeps the newest and drops what is older', async (t) => {
  const walk = begin().send(poll('p1', { offset: -2, next: 110 }))
  const asked = reading(walk)
  t.equal(asked.keepNewest, 2)
  t.equal(asked.after, 100)
  walk.send(page(asked, 2, { cursor: 107 }))
  t.equal(walk.snapshot.context.cursor, 107)
  t.same(
    walk.effects.map(({ type }) => type),
    ['saveCursor'],
  )
})

t.test(
  'a negative offset that finds nothing waits for all that comes, not for the newest',
  async (t) => {
    const walk = next(begin(), poll('p1', { offset: -5 }))
    t.equal(listening(walk).keepNewest, undefined)
  },
)

t.test('dropping what is pending confirms all of it', async (t) => {
  const walk = begin().send({ type: 'updates.drop', requestId: 'd', next: 250, now: 0 })
  t.equal(walk.snapshot.context.cursor, 249)
  t.same(walk.outcome, { ok: true, result: true })
  t.same(
    walk.effects.map(({ type }) => type),
    ['saveCursor'],
  )
})

t.test(
  'polls that got updates are counted until an offset confirms some, or all is dropped',
  async (t) => {
    const walk = begin()
    const counted = () => walk.snapshot.context.lastPoll?.unconfirmed
    const got = (offset: number, count = 2) => next(walk, poll('p', { offset, next: 110 }), count)
    for (const so of [1, 2]) {
      got(0)
      t.equal(counted(), so)
    }
    walk.send({ type: 'updates.drop', requestId: 'd', next: 105, now: 0 })
    t.equal(counted(), 0, 'what they got is dropped with the rest')
    got(0)
    t.equal(counted(), 1)
    got(107)
    t.equal(counted(), 1, 'the updates before are confirmed')
  },
)

t.test(
  'the same offset within 3 s waits for at least 3 s, within half a second reads one',
  async (t) => {
    const second = (offset: number, after: number, timeoutMs = 0) => {
      const walk = begin().send(poll('p1', { offset: 0, timeoutMs: 0 }))
      walk.send(poll('p2', { offset, timeoutMs, now: 1_000_000 + after }))
      const { limit, timeoutMs: waits } = reading(walk)
      return [limit, waits]
    }
    t.same(second(0, 499), [1, 3_000])
    t.same(second(0, 500), [100, 3_000])
    t.same(second(0, 2_999), [100, 3_000])
    t.same(second(0, 3_000), [100, 0])
    t.same(second(5, 100), [100, 0], 'another offset is progress')
    t.same(second(0, 600, 20_000), [100, 20_000], 'a longer wait stays as long')
  },
)

t.test(
  'what came since the poll before is read at once, however early it is asked for',
  async (t) => {
    const walk = begin().send(poll('p1', { timeoutMs: 0, next: 102 }))
    const limitOf = (requestId: string, next: number) => {
      walk.send(
        poll(requestId, { timeoutMs: 0, next, now: walk.snapshot.context.lastPoll!.at + 100 }),
      )
      return reading(walk).limit
    }
    t.equal(limitOf('p2', 102), 1)
    t.equal(limitOf('p3', 103), 100)
    t.equal(limitOf('p4', 103), 1)
  },
)

t.test('kinds that are wanted from now on do not bring back older updates', async (t) => {
  const messages = wantedFrom(['message'], { others: false })
  const both = wantedFrom(['message', 'poll'], { others: false })
  const walk = begin({ filter: [{ from: 0, ...messages }] })
  walk.send(poll('p1', { ...both, next: 110 }))
  const { filter } = reading(walk)
  const update = { kind: 17, payload: '"poll":{}' }
  t.notOk(wants(filter, { ...update, updateId: 109 }), 'a poll of before')
  t.ok(wants(filter, { ...update, updateId: 110 }), 'a poll of after')
  t.ok(wants(filter, { updateId: 109, kind: 0, payload: '"message":{}' }), 'a message of before')
  t.same(walk.snapshot.context.filter, filter, 'and it is what is saved')
})

t.test('without kinds the setting of before stands', async (t) => {
  const filter = [{ from: 0, ...wantedFrom(['poll'], { others: false }) }]
  t.same(reading(begin({ filter }).send(poll('p1'))).filter, filter)
})

t.test('when the service goes down a waiting poll is answered with nothing', async (t) => {
  const walk = held().send({ type: 'polls.end' })
  t.same(walk.replies, [answer('p1', [])])
  t.equal(walk.state, 'usable.quiet')
  t.same(begin().send({ type: 'polls.end' }).replies, [], 'where none waits there is no answer')
})

const out = {
  code: 'forbidden',
  description: 'the credential is logged out; link it again',
} as const
const told = (requestId: string) => ({
  type: 'reply',
  requestId,
  outcome: { ok: false, failure: out },
})

t.test('for an account that is out there is the backlog, and then the reason', async (t) => {
  const walk = begin().send(poll('p1', { next: 103 }))
  walk.send(page(reading(walk), 2, { out }))
  t.same(walk.replies, [answer('p1', [101, 102])])
  walk.send(poll('p2', { offset: 103, next: 103 }))
  walk.send(page(reading(walk), 0, { out }))
  t.same(walk.replies, [told('p2')])
  t.equal(walk.state, 'usable.quiet')
})

t.test('a poll that is held when the account goes out is read for once more', async (t) => {
  for (const count of [0, 2]) {
    const walk = held().send({ type: 'account.out' })
    t.equal(walk.state, 'usable.quiet')
    t.same(walk.replies, [])
    const anew = reading(walk)
    t.notOk('held' in anew)
    walk.send(page(anew, count, { out }))
    t.equal(walk.replies.length, 1)
    t.equal(walk.outcome?.ok, count > 0)
  }
})

t.test('a poll that would find nothing and may wait is held without a read', async (t) => {
  const holding = { mayHold: true } as const
  const walk = begin().send(poll('p1', { ...holding, next: 101 }))
  t.equal(walk.state, 'usable.held')
  t.same(
    walk.effects.map(({ type }) => type),
    ['saveCursor', 'listen'],
  )
  t.match(listening(walk), { requestId: 'p1', held: true, after: 100, head: 100, limit: 100 })
  const read = { now: 1_000_500 } as const
  t.same(walk.send(page({ ...listening(walk), after: 100 }, 1, read)).outcome, {
    ok: true,
    result: { json: '[101]', count: 1 },
  })
  const confirming = begin().send(poll('p1', { ...holding, offset: 105, next: 105 }))
  t.match(listening(confirming), { after: 104, head: 104 })
  t.equal(confirming.snapshot.context.cursor, 104)
  const others: Readonly<Record<string, Parameters<typeof poll>[1]>> = {
    'there is something': { ...holding, next: 102 },
    'it asks for the newest': { ...holding, offset: -1 },
    'it does not wait': { ...holding, timeoutMs: 0 },
    'nothing more will come': {},
  }
  for (const [why, more] of Object.entries(others)) {
    t.equal(reading(begin().send(poll('p1', more))).requestId, 'p1', why)
  }
  const second = held().send(poll('p2', holding))
  t.equal(reading(second).requestId, 'p2', 'another poll is held already')
})
