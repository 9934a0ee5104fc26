/** A link flow's actor: each step is stored before it is told, and goes on in another process. */
import t from 'tap'
import type { LinkStep } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import { settled } from '../../support/clock.ts'
import { refused } from '../refused.ts'
import { code, done, LinkRig, password, stateOf, wrong } from './rig.ts'

t.test('a step is stored before it is told', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  const disk = Promise.withResolvers<void>()
  rig.storing = disk.promise
  let isTold = false
  const told = actor.ask({ type: 'link.verify', code: '12345' }).then(() => {
    isTold = true
  })
  await settled()
  t.same(rig.attempt.answers, [{ kind: 'code', code: '12345' }])
  t.notOk(isTold)
  disk.resolve()
  await told
  t.same(rig.steps, [[{ state: 'password_needed', passwordHint: 'dog' }, { at: 'password' }]])
})

t.test('each step says of which account it is, and until when its code works', async (t) => {
  const rig = new LinkRig(t)
  const first = { state: 'code_sent', phone: '+***1234', jid: 'a***@b' } as const
  const actor = rig.begin({ step: first })
  rig.attempt.next = async () => ({ ...code, expiresInSeconds: 300 })
  await actor.ask({ type: 'link.resend', now: rig.clock.now() })
  const codeUntil = rig.clock.now() + 300_000
  const renewed = { ...first, sentVia: 'a text message', codeUntil }
  t.same(actor.snapshot.context.step, renewed)
  rig.attempt.next = async () => password
  await actor.ask({ type: 'link.verify', code: '12345' })
  const { phone, jid } = first
  const last = { state: 'password_needed', passwordHint: 'dog', phone, jid }
  t.same(actor.snapshot.context.step, last)
  t.same(
    rig.steps.map(([step]) => step),
    [renewed, last],
  )
})

t.test('the account is linked once its credential is stored', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  await actor.ask({ type: 'link.verify', code: '12345' })
  rig.attempt.next = async () => done
  const disk = Promise.withResolvers<void>()
  rig.storing = disk.promise
  const told = actor.ask({ type: 'link.verify', password: 'secret' })
  await settled()
  t.equal(stateOf(actor), '{"open":"checking_password"}')
  disk.resolve()
  await told
  t.equal(stateOf(actor), '"linked"')
  t.equal(actor.snapshot.context.credentialId, 7)
})

t.test('a step that cannot be stored is not told, and can be answered again', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  rig.storing = Promise.reject(new Error('disk full'))
  await refused(t, actor.ask({ type: 'link.verify', code: '1' }), { code: 'internal' })
  t.equal(stateOf(actor), '{"open":"code_sent"}')
  rig.storing = Promise.resolve()
  await actor.ask({ type: 'link.verify', code: '1' })
  t.equal(stateOf(actor), '{"open":"password_needed"}')
})

t.test('an answer that the network accepted is not given to it again', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  const unstored = async (command: { code: string } | { password: string }) => {
    rig.storing = Promise.reject(new Error('disk full'))
    await refused(t, actor.ask({ type: 'link.verify', ...command }), { code: 'internal' })
    rig.storing = Promise.resolve()
    await actor.ask({ type: 'link.verify', ...command })
  }
  await unstored({ code: '1' })
  t.equal(stateOf(actor), '{"open":"password_needed"}')
  rig.attempt.next = async () => done
  await unstored({ password: 'secret' })
  t.equal(stateOf(actor), '"linked"')
  t.same(rig.attempt.answers, [
    { kind: 'code', code: '1' },
    { kind: 'password', password: 'secret' },
  ])
})

t.test('one that it did not accept is no answer to the next', async (t) => {
  for (const refusal of [code, wrong, { ...password, wrong: true }]) {
    const rig = new LinkRig(t)
    const actor = rig.begin()
    rig.attempt.next = async () => refusal
    rig.storing = Promise.reject(new Error('disk full'))
    await actor.ask({ type: 'link.verify', code: '1' }).catch(() => undefined)
    rig.storing = Promise.resolve()
    rig.attempt.next = async () => done
    await actor.ask({ type: 'link.verify', code: '2' })
    t.equal(stateOf(actor), '"linked"')
  }
})

t.test('another code is asked for only where that is admitted', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  rig.onResend = () => Promise.reject(failed('rate_limited', 'too many', { retryAfterSeconds: 60 }))
  const asked = actor.ask({ type: 'link.resend', now: rig.clock.now() })
  await refused(t, asked, { code: 'rate_limited', retryAfterSeconds: 60 })
  t.same(rig.attempt.answers, [])
  await actor.ask({ type: 'link.verify', code: '1' })
  t.same(rig.attempt.answers, [{ kind: 'code', code: '1' }], 'a code is no such question')
})

t.test('a wrong code counts, and the last one ends the flow', async (t) => {
  const rig = new LinkRig(t)
  rig.attempt.next = async () => wrong
  const actor = rig.begin({ attemptsLeft: 2 })
  await refused(t, actor.ask({ type: 'link.verify', code: '1' }), {
    description: 'the code is wrong',
  })
  await refused(t, actor.ask({ type: 'link.verify', code: '1' }), { code: 'bad_request' })
  t.equal(stateOf(actor), '"failed"')
  await settled()
  t.same(rig.ends, [
    ['code_sent', 1, undefined],
    ['failed', 0, 'too_many_attempts'],
  ])
})

t.test('another process goes on with what was stored', async (t) => {
  const rig = new LinkRig(t)
  const resumed: unknown[] = []
  rig.platform.onResumeLink = async (stored) => {
    resumed.push(stored)
    return rig.attempt
  }
  const actor = rig.begin({}, false)
  t.same(resumed, [], 'not before somebody answers')
  await actor.ask({ type: 'link.verify', code: '12345' })
  rig.attempt.next = async () => done
  await actor.ask({ type: 'link.verify', password: 'secret' })
  t.same(resumed, [{ at: 'code' }], 'once')
  t.equal(stateOf(actor), '"linked"')
})

t.test('what is shown is watched, step after step', async (t) => {
  const rig = new LinkRig(t)
  const show = (value: string): LinkStep => ({
    kind: 'show',
    form: 'qr',
    value,
    expiresInSeconds: 20,
    stored: null,
  })
  const [first, second] = [Promise.withResolvers<LinkStep>(), Promise.withResolvers<LinkStep>()]
  const changes = [first.promise, second.promise]
  rig.attempt.changed = () => changes.shift() ?? Promise.reject(new Error('watched too often'))
  const actor = rig.begin({ state: 'waiting', step: { state: 'waiting' } })
  first.resolve(show('b'))
  await settled()
  t.match(actor.snapshot.context.step, { show: { value: 'b', until: rig.clock.now() + 20_000 } })
  t.equal(rig.steps.length, 1)
  second.resolve(done)
  await settled()
  t.equal(stateOf(actor), '"linked"')
})

t.test('what became of it while no process watched is the first that is told', async (t) => {
  for (const step of [done, password]) {
    const rig = new LinkRig(t)
    rig.platform.onResumeLink = async () => rig.attempt
    rig.attempt.step = step
    const actor = rig.begin({ state: 'waiting', step: { state: 'waiting' } }, false)
    await settled()
    t.equal(stateOf(actor), step === done ? '"linked"' : '{"open":"password_needed"}')
  }
})

t.test('an account accepted on another device is linked once the storage is back', async (t) => {
  for (const step of [done, { ...password }]) {
    const rig = new LinkRig(t)
    const away = Promise.reject(failed('unavailable', 'the database does not answer'))
    away.catch(() => undefined)
    rig.storing = away
    const actor = rig.begin({ state: 'waiting', step: { state: 'waiting' } })
    rig.attempt.moved.resolve(step)
    await settled()
    await rig.clock.advance(5_000)
    t.equal(stateOf(actor), '{"open":"waiting"}')
    rig.storing = Promise.resolve()
    await rig.clock.advance(1_000)
    t.equal(stateOf(actor), step === done ? '"linked"' : '{"open":"password_needed"}')
    t.same(rig.ends, [])
    t.same(rig.logger.errors, [])
  }
})

t.test(
  'an account that the network signed in is linked, also if its flow is over by then',
  async (t) => {
    for (const way of ['watched', 'answered'] as const) {
      const rig = new LinkRig(t)
      const away = Promise.reject(failed('unavailable', 'the database does not answer'))
      away.catch(() => undefined)
      rig.storing = away
      const isWatched = way === 'watched'
      const actor = rig.begin(isWatched ? { state: 'waiting', step: { state: 'waiting' } } : {})
      rig.attempt.next = async () => done
      if (isWatched) rig.attempt.moved.resolve(done)
      else await refused(t, actor.ask({ type: 'link.verify', code: '1' }), { code: 'unavailable' })
      await settled()
      await rig.clock.advance(900_000)
      t.equal(stateOf(actor), '"expired"')
      t.notOk(actor.isIdle(0), 'it does not sleep meanwhile')
      rig.storing = Promise.resolve()
      await rig.clock.advance(2_000)
      t.equal(stateOf(actor), '"linked"')
      t.equal(rig.finished, 1)
      t.ok(actor.isIdle(0))
      actor.stop()
      t.equal(rig.clock.timers, 0)
    }
  },
)

t.test('a step that nobody needs any more is not stored', async (t) => {
  const rig = new LinkRig(t)
  const away = Promise.reject(failed('unavailable', 'the database does not answer'))
  away.catch(() => undefined)
  rig.storing = away
  const actor = rig.begin({ state: 'waiting', step: { state: 'waiting' } })
  rig.attempt.moved.resolve(password)
  await settled()
  await rig.clock.advance(900_000)
  rig.storing = Promise.resolve()
  await rig.clock.advance(2_000)
  t.equal(stateOf(actor), '"expired"')
})

t.test('a network that fails while it is watched ends the flow, said and logged', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin({ state: 'waiting', step: { state: 'waiting' } })
  rig.attempt.moved.reject(new Error('connection reset'))
  await settled()
  t.equal(stateOf(actor), '"failed"')
  t.same(rig.ends, [['failed', 3, 'network']])
  t.match(rig.logger.errors, [{ err: { message: 'connection reset' } }])
})

t.test('a flow expires at its time, wherever it is', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  await actor.ask({ type: 'link.verify', code: '1' })
  await rig.clock.advance(899_999)
  t.equal(stateOf(actor), '{"open":"password_needed"}')
  await rig.clock.advance(1)
  t.equal(stateOf(actor), '"expired"')
  t.same(rig.ends, [['expired', 3, undefined]])
})

t.test('cancelling answers what is under way, and stopping lets the network go', async (t) => {
  const rig = new LinkRig(t)
  const network = Promise.withResolvers<LinkStep>()
  rig.attempt.next = () => network.promise
  const actor = rig.begin()
  const under = refused(t, actor.ask({ type: 'link.verify', code: '1' }), {
    code: 'bad_request',
    description: 'the link session is over; start again',
  })
  t.equal(await actor.ask({ type: 'link.cancel' }), true)
  network.resolve(password)
  await under
  actor.stop()
  await settled()
  t.equal(rig.attempt.closed, 1)
})
