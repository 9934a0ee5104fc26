/** An API key's actor: polls that wait, are woken, gather a burst, and always end. */
import t from 'tap'
import { failed, OwnershipLost } from '../../../machines/model/failure.ts'
import { settled } from '../../support/clock.ts'
import { refused } from '../refused.ts'
import { ApiKeyRig, keyFacts } from './rig.ts'

const page = (...ids: number[]) => ({ json: JSON.stringify(ids), count: ids.length })

t.test('a poll waits and is woken by an update', async (t) => {
  const rig = new ApiKeyRig(t)
  const polled = rig.poll()
  await settled()
  t.equal(rig.listeners.size, 1)
  rig.commit()
  await rig.clock.advance(1)
  t.same(await polled, page(101))
  t.equal(rig.listeners.size, 0, 'nobody listens any more')
  t.equal(rig.clock.timers, 0)
})

t.test('a burst leaves in one answer', async (t) => {
  const rig = new ApiKeyRig(t)
  const polled = rig.poll()
  await settled()
  for (let update = 0; update < 20; update++) rig.commit()
  await rig.clock.advance(1)
  t.equal((await polled).count, 20)
  t.equal(rig.polls.length, 1, 'read once when woken, and not before')
})

t.test('an update that comes alone, after a while, waits for no others', async (t) => {
  const rig = new ApiKeyRig(t)
  const polled = rig.poll()
  await rig.clock.advance(9)
  const unhurried = rig.poll({}, undefined, rig.begin({ apiKeyId: 6 }))
  await rig.clock.advance(1)
  rig.commit()
  t.same(await polled, page(101))
  t.equal(rig.polls.length, 1, 'the other has asked just now, perhaps in the midst of a burst')
  rig.commit()
  await rig.clock.advance(1)
  t.same(await unhurried, page(101, 102))
  t.equal(rig.clock.timers, 0)
})

t.test('an update that came between reading and listening is not missed', async (t) => {
  const rig = new ApiKeyRig(t)
  rig.commit()
  rig.onRead = async () => {
    rig.onRead = async (again) => rig.page(again)
    rig.newest++
    return { json: '[]', count: 0, cursor: 101, head: 101 }
  }
  const polled = rig.poll()
  await rig.clock.advance(1)
  t.same(await polled, page(102))
})

t.test('a poll ends with nothing when its time is over', async (t) => {
  const rig = new ApiKeyRig(t)
  const polled = rig.poll({ timeoutMs: 5_000 })
  await rig.clock.advance(5_000)
  t.same(await polled, page())
  t.equal(rig.listeners.size, 0)
})

t.test('the older of two polls gives way', async (t) => {
  const rig = new ApiKeyRig(t)
  const older = rig.poll()
  await rig.clock.advance(10_000)
  const newer = rig.poll()
  await refused(t, older, { code: 'conflict' })
  rig.commit()
  await rig.clock.advance(1)
  t.same(await newer, page(101))
})

t.test('a caller that hangs up leaves nothing behind', async (t) => {
  const rig = new ApiKeyRig(t)
  const leaving = new AbortController()
  const polled = rig.poll({}, leaving.signal)
  await settled()
  leaving.abort()
  await refused(t, polled, { code: 'timeout', certain: false })
  t.equal(rig.listeners.size, 0)
  t.equal(rig.clock.timers, 0)
  rig.commit()
  t.same(await rig.poll({ limit: 5 }), page(101), 'and the next poll finds its update')
})

t.test('a log that cannot be read fails the poll, not the key', async (t) => {
  const rig = new ApiKeyRig(t)
  rig.commit()
  rig.onRead = () => Promise.reject(new Error('the database is down'))
  await refused(t, rig.poll(), { code: 'internal', description: '' })
  t.match(rig.logger.errors, [{ apiKeyId: 5, err: { message: 'the database is down' } }])
  rig.onRead = async (poll) => rig.page(poll)
  t.same(await rig.poll({ offset: 1 }), page(101))
  const waiting = refused(t, rig.poll({ offset: 102 }), { code: 'internal' })
  await settled()
  rig.onRead = () => {
    throw new Error('at once')
  }
  rig.commit()
  await rig.clock.advance(1)
  await waiting
  t.equal(rig.listeners.size, 0)
})

t.test('confirmed updates are never read again, and their cursor is kept', async (t) => {
  const rig = new ApiKeyRig(t)
  rig.commit(5)
  t.equal((await rig.poll()).count, 5)
  t.same(await rig.poll({ offset: 104 }), page(104, 105))
  t.equal(rig.saved.at(-1), 103)
  t.same(await rig.poll({ offset: -1 }), page(105))
  t.equal(rig.saved.at(-1), 104)
  await rig.actor.dropPending()
  t.equal(rig.saved.at(-1), 105)
})

t.test('revoking ends what waits and refuses what comes', async (t) => {
  const rig = new ApiKeyRig(t)
  const polled = rig.poll()
  await settled()
  await rig.actor.revoke()
  await refused(t, polled, { code: 'unauthorized' })
  await refused(t, rig.poll(), { code: 'unauthorized' })
  await refused(t, rig.actor.admit('bot:send'), { code: 'unauthorized' })
  t.equal(rig.listeners.size, 0)
})

t.test('changed facts count at once', async (t) => {
  const rig = new ApiKeyRig(t)
  const facts = keyFacts({ terms: { scopes: ['bot:send'], expiresAt: rig.clock.now() + 1_000 } })
  await rig.actor.refresh(facts)
  t.equal(rig.actor.facts, facts)
  await refused(t, rig.poll(), { code: 'forbidden' })
  await rig.actor.admit('bot:send')
  await rig.clock.advance(1_000)
  await refused(t, rig.actor.admit('bot:send'), { code: 'unauthorized' })
})

t.test('sends to one chat are paced, other calls are not', async (t) => {
  const rig = new ApiKeyRig(t)
  const send = () => rig.actor.admit('bot:send', 'chat')
  await send()
  await send()
  await refused(t, send(), { code: 'rate_limited', retryAfterSeconds: 1 })
  await rig.actor.admit('bot:send', 'another')
  await rig.actor.admit(undefined)
  await rig.clock.advance(1_000)
  await send()
})

t.test('a store that throws ends the actor and answers its callers', async (t) => {
  const rig = new ApiKeyRig(
    t,
    {},
    {
      keys: {
        load: () => Promise.reject(new Error('unused')),
        saveCursor: () => {
          throw new Error('boom')
        },
        stored: () => Promise.reject(new Error('unused')),
      },
    },
  )
  await refused(t, rig.poll(), { code: 'unavailable', retryAfterSeconds: 1 })
  t.match(await rig.actor.closed, { message: 'boom' })
})

t.test('a crash leaves no listener behind', async (t) => {
  const rig = new ApiKeyRig(t)
  const polled = rig.poll()
  await settled()
  t.equal(rig.listeners.size, 1)
  const poison = Object.defineProperty({ type: 'call.admit', requestId: 'x' }, 'now', {
    get: () => {
      throw new Error('boom')
    },
  })
  rig.actor.tell(poison as never)
  await refused(t, polled, { code: 'unavailable' })
  await settled()
  t.equal(rig.listeners.size, 0)
  t.equal(rig.clock.timers, 0)
})

t.test('whatever ends a poll while a burst is gathered leaves nothing behind', async (t) => {
  const leaving = new AbortController()
  for (const end of [
    (rig: ApiKeyRig) => rig.actor.stop(),
    (rig: ApiKeyRig) => rig.actor.endPolls(),
    () => leaving.abort(),
  ]) {
    const rig = new ApiKeyRig(t)
    const polled = rig.poll({}, leaving.signal).catch(() => undefined)
    await settled()
    rig.commit()
    t.equal(rig.clock.timers, 2, 'the end of the poll and the end of the burst')
    end(rig)
    await polled
    t.equal(rig.listeners.size, 0)
    t.equal(rig.clock.timers, 0)
    t.equal(rig.polls.length, 0, 'nothing is read for nobody')
  }
})

t.test('a poll that is just being read for when all end is answered, not held', async (t) => {
  const rig = new ApiKeyRig(t)
  const reading = Promise.withResolvers<void>()
  rig.commit()
  rig.onRead = async () => {
    await reading.promise
    return { json: '[]', count: 0, cursor: 101, head: 101 }
  }
  const polled = rig.poll({ timeoutMs: 50_000 })
  await settled()
  rig.actor.endPolls()
  reading.resolve()
  t.same(await polled, { json: '[]', count: 0 })
  t.same(await rig.poll({ timeoutMs: 50_000 }), { json: '[]', count: 0 }, 'and so are later ones')
  t.equal(rig.listeners.size, 0)
})

t.test('a key whose account another node has claimed takes no call', async (t) => {
  const rig = new ApiKeyRig(t)
  const held = rig.poll()
  await settled()
  rig.keys.leave(new Set([2]))
  t.same(await held, page(), 'the held poll ends with nothing')
  await t.rejects(rig.actor.admit('bot:send'), new OwnershipLost())
  await t.rejects(rig.poll(), new OwnershipLost())
  await t.rejects(rig.actor.revoke(), new OwnershipLost())
})

t.test(
  'a bot is told that it dropped something, or wants other kinds, once that is stored',
  async (t) => {
    const rig = new ApiKeyRig(t)
    const stored = Promise.withResolvers<void>()
    rig.onStored = () => stored.promise
    const told: string[] = []
    const asked = [
      rig.actor.dropPending().then(() => told.push('dropped')),
      rig.actor.allow({ kinds: 1 }).then(() => told.push('allowed')),
    ]
    await settled()
    t.same([rig.saved, told], [[100, 100], []])
    stored.resolve()
    await Promise.all(asked)
    t.same(told.toSorted(), ['allowed', 'dropped'])
    const away = failed('unavailable', 'away', { retryAfterSeconds: 1 })
    rig.onStored = () => Promise.reject(away)
    await t.rejects(rig.actor.dropPending(), away)
    await t.rejects(rig.actor.allow({ kinds: 2 }), away)
  },
)

t.test('nor is it told so where another node has claimed its account meanwhile', async (t) => {
  const rig = new ApiKeyRig(t)
  const stored = Promise.withResolvers<void>()
  rig.onStored = () => stored.promise
  const asked = [rig.actor.dropPending(), rig.actor.allow({ kinds: 1 })]
  await settled()
  rig.keys.leave(new Set([2]))
  // What is fenced is written nowhere, and waited for no longer.
  stored.resolve()
  for (const one of asked) await t.rejects(one, new OwnershipLost())
})

t.test('beyond its calls under way a key refuses, until one has ended', async (t) => {
  const rig = new ApiKeyRig(t, {}, { callsInFlight: 2 })
  const ends = Promise.withResolvers<string>()
  const answer = () => ends.promise
  const under = [rig.actor.inFlight(answer), rig.actor.inFlight(answer)]
  await refused(t, rig.actor.inFlight(answer), { code: 'rate_limited', retryAfterSeconds: 60 })
  ends.reject(new Error('boom'))
  for (const one of under) await t.rejects(one, new Error('boom'))
  t.equal(await rig.actor.inFlight(async () => 'there is room again'), 'there is room again')
})

t.test('of bodies whose length nobody has said only some come at once', async (t) => {
  const rig = new ApiKeyRig(t)
  const ends = Promise.withResolvers<string>()
  const body = () => ends.promise
  const coming = Array.from({ length: 1_000 }, () => rig.actor.whileComing(body, true))
  const ended = Promise.allSettled(coming)
  t.equal(await rig.actor.whileComing(async () => 'measured'), 'measured')
  ends.resolve('here')
  const taken = (await ended).filter(({ status }) => status === 'fulfilled').length
  t.ok(taken > 0 && taken < 1_000)
  t.equal(await rig.actor.whileComing(body, true), 'here', 'there is room again')
})
