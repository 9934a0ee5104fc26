/** The end of a link flow: nothing is told that is not stored. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { LinkAttempt, LinkStep } from '../../../actors/ports/platform.ts'
import { failed, LinkRefused } from '../../../machines/model/failure.ts'
import { settled } from '../../support/clock.ts'
import { refused } from '../refused.ts'
import { code, done, FakeAttempt, LinkRig, password, stateOf, wrong } from './rig.ts'

const failing = () => {
  const down = Promise.reject(new Error('disk full'))
  down.catch(() => undefined)
  return down
}

t.test('an end that cannot be stored is not told, and is tried again', async (t) => {
  const rig = new LinkRig(t)
  const unstored = { code: 'unavailable', retryAfterSeconds: 1 } as const
  const actor = rig.begin({ attemptsLeft: 2 })
  rig.attempt.next = async () => {
    rig.saving = failing()
    return wrong
  }
  await refused(t, actor.ask({ type: 'link.verify', code: '1' }), unstored)
  await refused(t, actor.ask({ type: 'link.cancel' }), unstored)
  await refused(t, actor.ask({ type: 'link.cancel' }), unstored)
  t.same(rig.ends, [])
  rig.saving = Promise.resolve()
  await actor.ask({ type: 'link.cancel' })
  await rig.clock.advance(1_000)
  t.same(rig.attempt.left[0], true, 'the network is asked once it is stored')
  t.same(rig.ends, [['cancelled', 1, undefined]], 'the newest, once')
  t.match(rig.logger.errors[0], { err: { message: 'disk full' } })
})

t.test('a flow that expires while storage is down is expired once storage is back', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  rig.saving = failing()
  await rig.clock.advance(900_000)
  t.equal(stateOf(actor), '"expired"')
  rig.saving = Promise.resolve()
  await refused(t, actor.ask({ type: 'link.cancel' }), { code: 'bad_request' })
  await settled()
  t.same(rig.ends, [['expired', 3, undefined]])
  t.same(rig.attempt.left, [])
  await rig.clock.advance(1_000)
  t.same(rig.attempt.left, [true])
})

t.test('an attempt that resumes as the flow ends is closed', async (t) => {
  const rig = new LinkRig(t)
  const resumed = Promise.withResolvers<LinkAttempt>()
  rig.platform.onResumeLink = () => resumed.promise
  const actor = rig.begin({}, false)
  const asked = actor.ask({ type: 'link.verify', code: '1' })
  asked.catch(() => undefined)
  await settled()
  await actor.ask({ type: 'link.cancel' }).catch(() => undefined)
  actor.stop()
  resumed.resolve(rig.attempt)
  await settled()
  t.equal(rig.attempt.closed, 1)
  t.same(rig.attempt.answers, [])
})

const away = failed('unavailable', 'the database does not answer')
const rejected = (cause: Error) => {
  const rejection = Promise.reject(cause)
  rejection.catch(() => undefined)
  return rejection
}

t.test('a flow that ends without an account is signed out, however it ends', async (t) => {
  const refusal: LinkStep = { kind: 'refused', reason: 'expired', description: 'too old' }
  const ends: Record<string, (rig: LinkRig) => Promise<unknown>> = {
    cancelled: (rig) => rig.begin().ask({ type: 'link.cancel' }),
    expired: async (rig) => {
      rig.begin()
      await rig.clock.advance(900_000)
    },
    failed: async (rig) => {
      rig.attempt.next = async () => refusal
      await rig
        .begin()
        .ask({ type: 'link.verify', code: '1' })
        .catch(() => undefined)
    },
    'cancelled at another device': async (rig) => {
      const actor = rig.begin({ state: 'waiting', step: { state: 'waiting' } })
      await settled()
      await actor.ask({ type: 'link.cancel' })
      // The library gives up as soon as nobody waits any more.
      rig.attempt.moved.reject(new Error('aborted'))
    },
  }
  for (const [name, end] of Object.entries(ends)) {
    const rig = new LinkRig(t)
    await end(rig)
    await settled()
    t.same([rig.attempt.left, rig.forgotten], [[true], 1], name)
    t.same(rig.signedOut, [])
    t.same(rig.logger.errors, [])
  }
})

t.test('a network that may not have ended it is asked again by the next actor', async (t) => {
  const rig = new LinkRig(t)
  const close = rig.attempt.close.bind(rig.attempt)
  rig.attempt.close = async (options) => {
    await close(options)
    if (options?.signOut) throw away
  }
  const actor = rig.begin()
  await actor.ask({ type: 'link.cancel' })
  await settled()
  t.same([rig.attempt.left, rig.forgotten], [[true], 0])
  t.same(rig.logger.warnings, ['a link that is over may have left a session signed in'])
  actor.stop()
  const next = new FakeAttempt()
  rig.platform.onResumeLink = async () => next
  rig.begin({ state: 'cancelled' }, false)
  await settled()
  t.same([next.left, rig.forgotten], [[true], 1])
  rig.begin({ state: 'cancelled', stored: null }, false)
  rig.begin({ state: 'linked' }, false)
  await settled()
  t.equal(rig.forgotten, 1, 'where there is something to be signed out')
})

t.test('a session that could not be signed out is kept, however often its flow ends', async (t) => {
  for (const isFirst of [true, false]) {
    const rig = new LinkRig(t)
    const { attempt } = rig
    const close = attempt.close.bind(attempt)
    let isAway = true
    attempt.close = async (options) => {
      await close(options)
      if (options?.signOut && isAway) throw away
    }
    rig.platform.onResumeLink = async () => attempt
    // The other way it is about to be signed out as its user is suspended.
    const actor = rig.begin(isFirst ? {} : { state: 'cancelled' }, isFirst)
    const cancel = async () => {
      await actor.ask({ type: 'link.cancel' })
      await settled()
    }
    await cancel()
    await cancel()
    t.same([attempt.left.includes(true), rig.forgotten], [true, 0])
    isAway = false
    await cancel()
    t.equal(rig.forgotten, 1, 'and signed out by the next end that the network answers')
    const asked = attempt.left.length
    await cancel()
    t.equal(attempt.left.length, asked, 'once')
  }
})

t.test('it is resumed for that where another process had it', async (t) => {
  const rig = new LinkRig(t)
  rig.platform.onResumeLink = async () => rig.attempt
  const actor = rig.begin({}, false)
  await actor.ask({ type: 'link.cancel' })
  await settled()
  t.same(rig.attempt.left, [true])
  actor.stop()
  await settled()
  t.same(rig.attempt.left, [true], 'once')
})

t.test('what is stored is kept for the node that has taken the flow since it ended', async (t) => {
  const rig = new LinkRig(t)
  rig.isOwn = false
  await rig.begin().ask({ type: 'link.cancel' })
  await settled()
  t.same([rig.attempt.left, rig.forgotten], [[false], 0])
})

t.test('it is resumed from the newest step where it could not be signed out', async (t) => {
  const rig = new LinkRig(t)
  rig.attempt.close = () => Promise.reject(away)
  const resumed: unknown[] = []
  rig.platform.onResumeLink = async (stored) => {
    resumed.push(stored)
    return new FakeAttempt()
  }
  const actor = rig.begin()
  await actor.ask({ type: 'link.verify', code: '1' })
  await actor.ask({ type: 'link.cancel' })
  await settled()
  await actor.ask({ type: 'link.cancel' })
  await settled()
  t.same([resumed, rig.forgotten], [[{ at: 'password' }], 1])
})

t.test('a session is left alone where another actor has linked it, or has the flow', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  rig.attempt.next = async () => wrong
  await actor.ask({ type: 'link.verify', code: '1' }).catch(() => undefined)
  t.match(rig.ends, [['code_sent', 2]])
  rig.isOpen = false
  await rig.clock.advance(900_000)
  await settled()
  t.equal(stateOf(actor), '"expired"')
  t.same(rig.attempt.left, [false])
})

t.test('a second end waits for the network to be asked at the first', async (t) => {
  const rig = new LinkRig(t)
  const asked = Promise.withResolvers<void>()
  const close = rig.attempt.close.bind(rig.attempt)
  rig.attempt.close = async (options) => {
    await close(options)
    await asked.promise
  }
  const actor = rig.begin()
  const cancel = () => actor.ask({ type: 'link.cancel' })
  await Promise.all([cancel(), cancel()])
  await settled()
  t.same(rig.attempt.left, [true])
  asked.resolve()
  await settled()
  t.same(rig.attempt.left, [true], 'and asks no more')
})

t.test('a question that has no end does not keep the attempt', async (t) => {
  const rig = new LinkRig(t)
  rig.answerTakes = 20
  rig.attempt.moved.promise.catch(() => undefined)
  const actor = rig.begin({ state: 'waiting', step: { state: 'waiting' } })
  await settled()
  await actor.ask({ type: 'link.cancel' })
  t.same(rig.attempt.left, [])
  await pause(60)
  t.same(rig.attempt.left, [true])
})

t.test('an account that is being stored when its time is over is not signed out', async (t) => {
  const rig = new LinkRig(t)
  const stored = Promise.withResolvers<void>()
  rig.answerTakes = 20
  rig.finishing = stored.promise
  rig.attempt.next = async () => done
  const actor = rig.begin()
  const asked = actor.ask({ type: 'link.verify', code: '1' })
  await settled()
  await actor.ask({ type: 'link.cancel' })
  await pause(60)
  t.same([rig.attempt.left, rig.signedOut], [[], []])
  stored.resolve()
  await asked
  await settled()
  t.same([rig.attempt.left, rig.signedOut, rig.finished], [[false], [], 1])
  t.equal(stateOf(actor), '"linked"')
})

t.test('one whose account is stored at last as its end is stored, neither', async (t) => {
  for (const isSlow of [false, true]) {
    const rig = new LinkRig(t)
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const saved = Promise.withResolvers<void>()
    rig.answerTakes = 20
    rig.finishing = first.promise
    rig.attempt.next = async () => done
    if (isSlow) rig.saving = saved.promise
    const actor = rig.begin()
    const ignored = () => undefined
    const verified = actor.ask({ type: 'link.verify', code: '1' }).catch(ignored)
    await settled()
    const cancelled = actor.ask({ type: 'link.cancel' }).catch(ignored)
    await pause(60)
    rig.finishing = second.promise
    first.reject(away)
    await settled()
    saved.resolve()
    await settled()
    await rig.clock.advance(1_000)
    t.same([rig.attempt.left, rig.signedOut], [[], []])
    second.resolve()
    await Promise.all([verified, cancelled])
    await settled()
    t.same([rig.attempt.left, rig.signedOut, rig.finished], [[false], [], 1])
    t.equal(stateOf(actor), '"linked"')
  }
})

t.test('a flow that goes on in another process is not signed out', async (t) => {
  const rig = new LinkRig(t)
  rig.begin().stop()
  await settled()
  t.same(rig.attempt.left, [false])
  t.equal(rig.clock.timers, 0)
})

t.test('an answer under way decides whether there is a session to be signed out', async (t) => {
  for (const step of [done, password, code]) {
    const rig = new LinkRig(t)
    const network = Promise.withResolvers<LinkStep>()
    rig.attempt.next = () => network.promise
    const actor = rig.begin()
    const asked = actor.ask({ type: 'link.verify', code: '1' }).catch(() => undefined)
    await settled()
    await actor.ask({ type: 'link.cancel' })
    await settled()
    t.same(rig.attempt.left, [], 'not before it is known')
    network.resolve(step)
    await asked
    await settled()
    t.same(rig.attempt.left, [step !== done])
    t.equal(stateOf(actor), step === done ? '"linked"' : '"cancelled"')
  }
})

t.test('a session that can be stored no more is signed out', async (t) => {
  for (const way of ['watched', 'answered'] as const) {
    const rig = new LinkRig(t)
    rig.finishing = rejected(away)
    const isWatched = way === 'watched'
    const actor = rig.begin(isWatched ? { state: 'waiting', step: { state: 'waiting' } } : {})
    rig.attempt.next = async () => done
    if (isWatched) rig.attempt.moved.resolve(done)
    else await refused(t, actor.ask({ type: 'link.verify', code: '1' }), { code: 'unavailable' })
    await settled()
    // As the erasure of its user ends it.
    await actor.ask({ type: 'link.cancel' }).catch(() => undefined)
    actor.stop()
    await settled()
    t.same(rig.signedOut, [])
    await rig.clock.advance(1_000)
    t.same(rig.signedOut, ['secret'], way)
    t.same([rig.finished, rig.clock.timers], [0, 0])
  }
})

t.test('of a session that the storage refuses for good, too, and once', async (t) => {
  for (const [cause, signedOut] of [
    [new Error('no such flow'), ['secret']],
    // It is kept, and signed out as such.
    [new LinkRefused('other_account', 'this is another account'), []],
  ] as const) {
    const rig = new LinkRig(t)
    rig.finishing = rejected(cause)
    rig.attempt.moved.resolve(done)
    const actor = rig.begin({ state: 'waiting', step: { state: 'waiting' } })
    await settled()
    t.equal(stateOf(actor), '"failed"')
    t.same(rig.signedOut, signedOut)
  }
})

t.test('an answer that a crash cuts short may have been taken', async (t) => {
  const rig = new LinkRig(t)
  rig.attempt.next = () => new Promise(() => undefined)
  const actor = rig.begin()
  const asked = actor.ask({ type: 'link.verify', code: '1' })
  const maybe = {
    code: 'timeout',
    description: 'the link session stopped before the platform answered; it may have been done',
    certain: false,
  } as const
  const told = refused(t, asked, maybe)
  await settled()
  actor.stop()
  await told
  await refused(t, actor.ask({ type: 'link.verify', code: '1' }), { code: 'unavailable' })
})
