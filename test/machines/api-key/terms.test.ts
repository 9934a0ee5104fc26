/** What a key lets through: its scopes, its expiry, its rate, and its end. */
import t from 'tap'
import { receivesAt } from '../../../machines/api-key/events.ts'
import type { Failure, Reply } from '../../../machines/model/protocol.ts'
import { admit, begin, held, page, poll, reading } from './rig.ts'

const lacking: Failure = {
  code: 'forbidden',
  reason: 'missing_scope',
  params: { scope: 'bot:receive' },
  description: 'the key lacks the scope bot:receive',
}
const unauthorized: Failure = { code: 'unauthorized', description: '' }
const refusal = (requestId: string, failure = unauthorized) => ({
  type: 'reply',
  requestId,
  outcome: { ok: false, failure },
})
const yes = (requestId: string) => ({
  type: 'reply',
  requestId,
  outcome: { ok: true, result: true },
})
const byId = (replies: readonly Reply[]) =>
  [...replies].sort((one, other) => one.requestId.localeCompare(other.requestId))

const sendOnly = { scopes: ['bot:send' as const], expiresAt: undefined }
const expiring = { scopes: ['bot:receive' as const], expiresAt: 2_000_000 }
const late = { now: 2_000_000 }
const revoke = { type: 'key.revoke', requestId: 'k' } as const
const rotated = { type: 'key.rotated', requestId: 'r' } as const

t.test('a call goes on if the key has its scope', async (t) => {
  const walk = begin({ terms: sendOnly })
  t.same(walk.send(admit('a', { scope: 'bot:send' })).replies, [yes('a')])
  t.same(walk.send(admit('b')).replies, [yes('b')], 'a call that needs none')
  t.same(walk.send(admit('c', { scope: 'bot:receive' })).replies, [refusal('c', lacking)])
  t.same(walk.send(poll('p')).replies, [refusal('p', lacking)])
  t.same(walk.effects, [], 'nothing is read or confirmed')
})

t.test('a call beyond the rate is told when to come back', async (t) => {
  const walk = begin().send(admit('a', { scope: 'bot:send', overBySeconds: 4 }))
  t.same(walk.replies, [
    refusal('a', { code: 'rate_limited', description: '', retryAfterSeconds: 4 }),
  ])
})

t.test('a key expires at its time, whatever is called first', async (t) => {
  for (const call of [admit('a', late), poll('a', late)]) {
    const walk = begin({ terms: expiring })
    t.equal(walk.send({ ...call, now: 1_999_999 }).state, 'usable.quiet')
    t.same(walk.send(call).replies, [refusal('a')])
    t.equal(walk.state, 'expired')
    t.same(walk.send(admit('b', late), poll('c', late)).replies, [refusal('b'), refusal('c')])
  }
})

t.test(
  'a poll that waits when its key expires is refused with the call that showed it',
  async (t) => {
    for (const call of [admit('a', late), poll('a', late)]) {
      const walk = begin({ terms: expiring }).send(poll('p1'))
      walk.send(page(reading(walk)))
      t.equal(walk.state, 'usable.held')
      walk.send(call)
      t.equal(walk.state, 'expired')
      t.same(byId(walk.replies), [refusal('a'), refusal('p1')])
      t.equal(walk.snapshot.context.waiting, undefined)
    }
  },
)

t.test('a later expiry revives an expired key', async (t) => {
  const walk = begin({ terms: expiring }).send(admit('a', late))
  const terms = { ...expiring, expiresAt: 3_000_000 }
  walk.send({ type: 'key.changed', requestId: 'c', terms })
  t.same(walk.replies, [yes('c')])
  t.same(walk.send(admit('b', late)).replies, [yes('b')])
})

t.test('a poll that waits is refused at once when its scope is taken away', async (t) => {
  const walk = held().send({ type: 'key.changed', requestId: 'c', terms: sendOnly })
  t.same(byId(walk.replies), [yes('c'), refusal('p1', lacking)])
  t.equal(walk.state, 'usable.quiet')
  t.equal(walk.send(poll('p2')).outcome?.ok, false)
})

t.test('a poll never waits beyond the expiry of its key', async (t) => {
  const now = 1_990_000
  const walk = begin({ terms: expiring }).send(poll('p1', { now, timeoutMs: 50_000 }))
  walk.send(page(reading(walk), 0, { now }))
  t.same(walk.timers, { pollEnds: 10_000 })
  walk.elapse('pollEnds')
  t.equal(walk.state, 'expired')
  t.same(walk.replies, [refusal('p1')])
})

t.test('another expiry lets a waiting poll go, other changes leave it alone', async (t) => {
  const both = ['bot:receive' as const, 'bot:send' as const]
  const change = (terms: object) => ({ type: 'key.changed', requestId: 'c', terms }) as never
  const walk = held().send(change({ scopes: both, expiresAt: undefined }))
  t.equal(walk.state, 'usable.held')
  t.same(walk.replies, [yes('c')])
  walk.send(change({ scopes: both, expiresAt: 5_000_000 }))
  t.equal(walk.state, 'usable.quiet')
  t.match(byId(walk.replies), [{ requestId: 'c' }, { requestId: 'p1', outcome: { ok: true } }])
})

t.test('a revoked key refuses everything, for ever', async (t) => {
  for (const walk of [begin({ revoked: true }), begin().send(revoke)]) {
    t.equal(walk.state, 'revoked')
    const drop = { type: 'updates.drop', requestId: 'd', next: 9, now: 0 } as const
    const change = { type: 'key.changed', requestId: 'c', terms: sendOnly } as const
    walk.send(admit('a'), poll('p'), drop, change)
    t.same(
      byId(walk.replies),
      ['a', 'c', 'd', 'p'].map((id) => refusal(id)),
    )
    t.same(walk.effects, [])
    t.equal(walk.state, 'revoked')
    t.same(walk.send(revoke).replies, [yes('k')], 'again is no error')
  }
})

t.test('revoking ends a waiting poll', async (t) => {
  const walk = held('p1').send(revoke)
  t.same(byId(walk.replies), [yes('k'), refusal('p1')])
  t.equal(walk.state, 'revoked')
  t.same(walk.running, [])
  t.same(walk.timers, {})
})

t.test('once the old secret opens nothing, everybody is turned out', async (t) => {
  const walk = held('p1').send(rotated)
  t.same(byId(walk.replies), [refusal('p1'), yes('r')])
  t.equal(walk.state, 'rotated')
  t.same(walk.timers, {})
  walk.send(admit('a'), poll('p'))
  t.same(byId(walk.replies), [refusal('a'), refusal('p')])
  t.same(walk.effects, [])
})

t.test('an expired key can be revoked', async (t) => {
  const walk = begin({ terms: expiring }).send(admit('a', late), revoke)
  t.equal(walk.state, 'revoked')
})

t.test('a poll that is being read when its key ends is refused, not forgotten', async (t) => {
  for (const end of [revoke, admit('a', late)]) {
    const failure: Failure = { code: 'internal', description: '' }
    const walk = begin({ terms: expiring }).send(poll('p1'))
    const asked = reading(walk)
    t.same(walk.send(end).send(page(asked, 2)).replies, [refusal('p1')])
    const failing = begin({ terms: expiring }).send(poll('p1'), end)
    t.same(failing.send({ type: 'poll.failed', poll: asked, failure }).replies.length, 1)
  }
})

const suspension: Failure = { code: 'forbidden', description: 'stopped', reason: 'user_suspended' }
const suspended = { type: 'user.suspended', suspension } as const
const resumed = { type: 'user.resumed' } as const

t.test('a key refuses everything while its user is suspended', async (t) => {
  const walk = held('p1').send(suspended)
  t.same(walk.replies, [refusal('p1', suspension)])
  t.equal(walk.state, 'suspended')
  t.same(walk.timers, {})
  t.equal(walk.snapshot.context.waiting, undefined)
  walk.send(admit('a'), poll('p'), { type: 'updates.drop', requestId: 'd', next: 200, now: 1 })
  t.same(byId(walk.replies), [
    refusal('a', suspension),
    refusal('d', suspension),
    refusal('p', suspension),
  ])
  t.same(walk.effects, [], 'nothing is read or confirmed')
  t.equal(walk.send(resumed).state, 'usable.quiet')
  t.same(walk.send(admit('b')).replies, [yes('b')])
  t.same(walk.send(suspended, revoke, admit('c')).state, 'revoked')
})

t.test('a poll that is being read when its user is suspended gets nothing', async (t) => {
  const walk = begin().send(poll('p1'))
  const asked = reading(walk)
  t.same(walk.send(suspended).send(page(asked, 2)).replies, [refusal('p1', suspension)])
  t.equal(walk.snapshot.context.cursor, 100)
})

t.test(
  'an actor that begins during a suspension knows of it, and a revoked one ends',
  async (t) => {
    const walk = begin({ suspension })
    t.same(walk.send(admit('a')).replies, [refusal('a', suspension)])
    const terms = { type: 'key.changed', requestId: 'k', terms: expiring } as const
    t.same(walk.send(terms).replies, [yes('k')])
    t.equal(walk.send(resumed).state, 'usable.quiet')
    t.same(walk.send(admit('b', late)).replies, [refusal('b')], 'by its newest terms')
    t.equal(walk.state, 'expired')
    t.equal(walk.send(suspended).state, 'suspended')
    t.same(begin({ suspension, revoked: true }).send(admit('a')).replies, [refusal('a')])
  },
)

t.test('a webhook receives until its key expires, and only with the scope', async (t) => {
  t.ok(receivesAt(expiring, 1_999_999))
  t.notOk(receivesAt(expiring, 2_000_000))
  t.notOk(receivesAt(sendOnly, 0))
})
