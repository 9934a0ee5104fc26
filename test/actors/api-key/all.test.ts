/** All keys of a node: children of one actor, and yet none suffers from what happens to another. */
import t from 'tap'
import type { ApiKeyActor } from '../../../actors/api-key/actor.ts'
import { settled } from '../../support/clock.ts'
import { refused } from '../refused.ts'
import { ApiKeyRig } from './rig.ts'

class Rig extends ApiKeyRig {
  pollOf(key: ApiKeyActor, timeoutMs = 50_000) {
    return this.poll({ timeoutMs }, undefined, key)
  }
}

/** A command that the machine cannot look at without harm. */
const poison = () =>
  Object.defineProperty({ type: 'call.admit', requestId: 'x' }, 'now', {
    get: () => {
      throw new Error('boom')
    },
  }) as never

t.test('the crash of one key leaves the others as they are', async (t) => {
  const rig = new Rig(t)
  const [crashing, waiting, working] = [
    rig.actor,
    rig.begin({ apiKeyId: 6 }),
    rig.begin({ apiKeyId: 7 }),
  ]
  const [lost, held] = [rig.pollOf(crashing), rig.pollOf(waiting)]
  await settled()
  crashing.tell(poison())
  await refused(t, lost, { code: 'unavailable' })
  t.match(await crashing.closed, { message: 'boom' })
  t.match(rig.logger.errors, [{ apiKeyId: 5, err: { message: 'boom' } }])
  t.same(rig.ended, [crashing])
  t.notOk(crashing.isActive)
  await refused(t, crashing.admit(undefined), { code: 'unavailable' })

  await working.admit('bot:send')
  rig.commit()
  await rig.clock.advance(1)
  t.equal((await held).count, 1)
  const again = rig.begin({ apiKeyId: 5 })
  t.equal((await rig.pollOf(again)).count, 1, 'and the one that crashed begins anew')
  t.equal(rig.clock.timers, 0)
})

t.test('many crash, and the rest can still be stopped one by one', async (t) => {
  const rig = new Rig(t)
  const keys = Array.from({ length: 20 }, (_, index) => rig.begin({ apiKeyId: index + 10 }))
  const polls = keys.map((key) => rig.pollOf(key))
  await settled()
  const crashing = keys.filter((_, index) => index % 2 === 0)
  for (const key of crashing) key.tell(poison())
  await Promise.all(crashing.map((key) => key.closed))
  t.equal(keys.filter(({ isActive }) => isActive).length, 10)
  for (const key of keys) key.stop()
  t.same(new Set(rig.ended), new Set(keys))
  t.equal(rig.ended.length, 20, 'each is told of once')
  for (const poll of polls) await refused(t, poll, { code: 'unavailable' })
  t.equal(rig.listeners.size, 0)
  t.equal(rig.clock.timers, 0)
})

t.test('polls that end together end by one timer, each at its time', async (t) => {
  const rig = new Rig(t)
  const ends: string[] = []
  const wait = (name: string, timeoutMs: number) =>
    rig.pollOf(rig.begin({ apiKeyId: 6 }), timeoutMs).then(() => ends.push(name))
  const polls = [wait('a', 5_000), wait('b', 5_000), wait('c', 8_000)]
  await settled()
  t.equal(rig.clock.timers, 2)
  await rig.clock.advance(4_999)
  t.same(ends, [])
  await rig.clock.advance(51)
  t.same(ends, ['a', 'b'])
  await rig.clock.advance(3_000)
  t.same(ends, ['a', 'b', 'c'])
  await Promise.all(polls)
  t.equal(rig.clock.timers, 0)
})

t.test('what one key is answered is nothing of another', async (t) => {
  const rig = new Rig(t)
  const [one, other] = [rig.begin({ apiKeyId: 5 }), rig.begin({ apiKeyId: 6 })]
  const held = rig.pollOf(one)
  await settled()
  const newer = rig.pollOf(other)
  await settled()
  other.letGo()
  t.equal((await newer).count, 0)
  t.ok(one.snapshot.context.waiting, 'it waits on')
  one.letGo()
  t.equal((await held).count, 0)
})

t.test('the polls that are held are counted, whatever ends them', async (t) => {
  const rig = new Rig(t)
  const leaving = new AbortController()
  const ends: readonly ((key: ApiKeyActor) => unknown)[] = [
    (key) => key.stop(),
    (key) => key.tell(poison()),
    (key) => key.endPolls(),
    (key) => key.letGo(),
    (key) => key.revoke(),
    (key) => key.rotated(),
    (key) => key.refresh({ ...key.facts, terms: { scopes: [], expiresAt: undefined } }),
    () => leaving.abort(),
    () => rig.clock.advance(5_000),
  ]
  const keys = ends.map((_, index) => rig.begin({ apiKeyId: index + 10 }))
  for (const [index, key] of keys.entries()) {
    const isLast = index === ends.length - 1
    const signal = isLast ? undefined : leaving.signal
    rig.poll({ timeoutMs: isLast ? 5_000 : 50_000 }, signal, key).catch(() => undefined)
  }
  await settled()
  t.equal(rig.keys.heldPolls, keys.length)
  for (const [index, end] of ends.entries()) {
    const key = keys[index]
    if (!key) throw new Error('no key')
    Promise.resolve(end(key)).catch(() => undefined)
    await settled()
    t.equal(rig.keys.heldPolls, keys.length - index - 1, `${end}`)
  }
  for (const key of keys) key.stop()
  t.equal(rig.keys.heldPolls, 0, 'each was counted out once')

  const key = rig.begin({ apiKeyId: 30 })
  for (let poll = 0; poll < 2; poll++) rig.pollOf(key).catch(() => undefined)
  await settled()
  t.equal(rig.keys.heldPolls, 1, 'the older of two has given way')
  rig.onRead = async ({ after }) => ({ json: '[]', count: 0, cursor: after, head: rig.newest })
  rig.commit()
  await rig.clock.advance(1)
  t.equal(rig.keys.heldPolls, 1, 'an update that it does not want leaves it waiting')
  rig.onRead = async (poll) => rig.page(poll)
  rig.commit()
  await rig.clock.advance(1)
  t.equal(rig.keys.heldPolls, 0)
})

t.test(
  'a key does not sleep while the body of a call comes, or while the call goes on',
  async (t) => {
    const rig = new Rig(t)
    const body = Promise.withResolvers<string>()
    const coming = rig.actor.whileComing(() => body.promise)
    await rig.clock.advance(600_000)
    t.notOk(rig.actor.isIdle(300_000))
    body.resolve('a large file')
    t.equal(await coming, 'a large file')
    t.notOk(rig.actor.isIdle(300_000), 'its call follows')
    const answer = Promise.withResolvers<void>()
    const call = rig.actor.inFlight(() => answer.promise)
    await rig.clock.advance(600_000)
    t.notOk(rig.actor.isIdle(300_000))
    answer.resolve()
    await call
    t.ok(rig.actor.isIdle(300_000))
  },
)
