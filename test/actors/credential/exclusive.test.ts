/** Accounts whose network bears one session: when it is opened, and when it is closed although nothing happened to it. */
import t from 'tap'
import { settled } from '../../support/clock.ts'
import { CredentialRig, stateOf } from './rig.ts'

t.test('it is opened once the owners before have ended, and not again waited for', async (t) => {
  const ended = Promise.withResolvers<void>()
  let asked = 0
  const formerOwnersEnded = () => {
    asked++
    return ended.promise
  }
  const rig = new CredentialRig(t, { formerOwnersEnded })
  rig.platform.bears = 'exclusive'
  const actor = rig.activate()
  await rig.clock.advance(20_000)
  t.equal(rig.platform.sessions.length, 0)
  t.equal(stateOf(actor), 'queued')
  ended.resolve()
  await settled()
  t.equal(stateOf(actor), 'live.online')
  rig.platform.session.report.lost('network')
  await rig.clock.advance(2_000)
  t.equal(stateOf(actor), 'live.online')
  t.equal(asked, 1)
})

t.test('while it waits for the owners before it keeps no turn from others', async (t) => {
  const rig = new CredentialRig(t, { formerOwnersEnded: () => new Promise<void>(() => undefined) })
  rig.platform.bears = 'exclusive'
  const waiting = [1, 2, 3].map((credentialId) => rig.activate({ credentialId }))
  await settled()
  rig.platform.bears = 'shared'
  t.equal(stateOf(await rig.online({ credentialId: 4 })), 'live.online')
  for (const actor of waiting) actor.stop()
})

t.test('nor does one that has ended by the time it need not wait any more', async (t) => {
  const ended = Promise.withResolvers<void>()
  const rig = new CredentialRig(t, { formerOwnersEnded: () => ended.promise })
  rig.platform.bears = 'exclusive'
  const waiting = [1, 2].map((credentialId) => rig.activate({ credentialId }))
  await settled()
  for (const actor of waiting) actor.stop()
  ended.resolve()
  await settled()
  t.equal(stateOf(await rig.online({ credentialId: 3 })), 'live.online')
})

t.test('a session that closes in peace may write up to its end', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const { session } = rig.platform
  let mayWrite: boolean | undefined
  session.handOver = async () => {
    mayWrite = session.account.permit?.isValid
  }
  actor.effects.leave(Promise.resolve(false), true)
  actor.stop()
  await settled()
  t.equal(mayWrite, true)
  t.notOk(session.account.permit?.isValid)
})

t.test('a network that bears more is not made to wait', async (t) => {
  const formerOwnersEnded = () => new Promise<void>(() => undefined)
  const rig = new CredentialRig(t, { formerOwnersEnded })
  for (const bears of ['shared', 'displacing'] as const) {
    rig.platform.bears = bears
    t.equal(stateOf(await rig.online()), 'live.online')
  }
})

t.test('it ends with the lease, and begins again with it', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.bears = 'exclusive'
  const actor = await rig.online()
  const { permit } = rig.platform.session.account
  let cut = 0
  permit?.onEnd(() => cut++)
  rig.lease.end()
  t.equal(cut, 1, 'the connection is cut at once, whatever the session waits for')
  await settled()
  t.same(rig.platform.session.closings, [{ signOut: false }])
  await rig.clock.advance(30_000)
  t.equal(rig.platform.sessions.length, 1, 'not before the node may act again')
  rig.lease.renew()
  await rig.clock.advance(2_000)
  t.equal(stateOf(actor), 'live.online')
  t.equal(rig.platform.sessions.length, 2)
  t.notOk(permit?.isValid, 'the first one stays silent')
  t.ok(rig.platform.session.account.permit?.isValid)
  actor.stop()
  await settled()
  t.equal(rig.lease.listeners, 0)
})

t.test('where others may have a session, it stays and waits', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.bears = 'displacing'
  const actor = await rig.online()
  rig.lease.end()
  await settled()
  t.equal(stateOf(actor), 'live.online')
  const { permit } = rig.platform.session.account
  let mayWrite = false
  permit?.valid().then(() => (mayWrite = true))
  await settled()
  t.notOk(mayWrite)
  rig.lease.renew()
  await settled()
  t.ok(mayWrite)
})

t.test('a session that is lost in doubt says nothing of what waited', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.bears = 'displacing'
  const actor = await rig.online()
  rig.lease.end()
  const written = rig.platform.session.account.permit?.valid()
  // Another node has claimed it: it is found out, and the lease renewed, at the same moment.
  actor.stop()
  rig.lease.renew()
  await t.rejects(written ?? Promise.resolve())
})

t.test('nor does one that is signed out, whenever that is known', async (t) => {
  for (const isKnown of [true, false]) {
    const rig = new CredentialRig(t)
    rig.platform.bears = 'displacing'
    const actor = await rig.online()
    const { session } = rig.platform
    rig.lease.end()
    const written = t.rejects(session.account.permit?.valid() ?? Promise.resolve())
    const answer = Promise.withResolvers<boolean>()
    actor.effects.leave(isKnown || answer.promise)
    actor.stop()
    rig.lease.renew()
    await written
    answer.resolve(true)
    await settled()
    t.same(session.closings, [{ signOut: true }])
  }
})

t.test('the next session, and whoever stops the account, wait for the connection', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.bears = 'exclusive'
  const actor = await rig.online()
  const closing = Promise.withResolvers<void>()
  rig.platform.session.onClose = () => closing.promise
  await actor.ask({ type: 'credential.restart' })
  await settled()
  t.equal(rig.platform.sessions.length, 1)
  let isDisconnected = false
  actor.effects.disconnected.then(() => (isDisconnected = true))
  await settled()
  t.notOk(isDisconnected)
  closing.resolve()
  await settled()
  t.ok(isDisconnected)
  t.equal(await actor.effects.disconnected, undefined, 'it holds nothing of those before')
  t.equal(rig.platform.sessions.length, 2)
  t.equal(stateOf(actor), 'live.online')
})

t.test(
  'a session whose account is given away closes within the time of a handover, whoever is silent',
  async (t) => {
    const rig = new CredentialRig(t)
    rig.platform.bears = 'exclusive'
    const actor = await rig.online()
    const { session } = rig.platform
    const began = performance.now()
    // The time limit by itself does not keep the process alive.
    const alive = setInterval(() => undefined, 1_000)
    t.teardown(() => clearInterval(alive))
    actor.effects.leave(new Promise<boolean>(() => undefined))
    actor.stop()
    await actor.effects.disconnected
    t.same(session.closings, [{ signOut: false }])
    // The next owner may open its own session three seconds after a handover has begun.
    t.ok(performance.now() - began < 2_500)
  },
)
