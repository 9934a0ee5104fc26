/** A credential's actor and its connection: opening, proving, losing and limiting it. */
import t from 'tap'
import type { CredentialActor } from '../../../actors/credential/actor.ts'
import { settled } from '../../support/clock.ts'
import { FakeCredentialStore, somebody } from '../../support/fakes.ts'
import { CredentialRig, stateOf, timing } from './rig.ts'

t.test('it is online only once a probe has passed', async (t) => {
  const rig = new CredentialRig(t)
  const probe = Promise.withResolvers<number>()
  rig.platform.onOpen = (session) => {
    session.onProbe = () => probe.promise
    session.report.opened(somebody)
  }
  const actor = rig.activate()
  await settled()
  t.equal(rig.platform.session.probes, 1, 'also of a session that opens within the call')
  t.equal(stateOf(actor), 'live.starting')
  probe.resolve(42)
  await settled()
  t.equal(stateOf(actor), 'live.online')
  t.same(rig.store.health, [{ healthy: true, latencyMs: 42, at: rig.clock.now() }])
  t.same(rig.logger.errors, [])
})

t.test('a session that the network has just answered is online without a probe', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = ({ report }) => report.opened(somebody, 42)
  const actor = rig.activate()
  await settled()
  t.equal(stateOf(actor), 'live.online')
  t.equal(rig.platform.session.probes, 0)
  t.same(rig.store.health, [{ healthy: true, latencyMs: 42, at: rig.clock.now() }])
})

t.test('a session that never opens is given up after a minute', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = () => undefined
  const actor = rig.activate()
  await rig.clock.advance(59_999)
  t.equal(stateOf(actor), 'live.starting')
  await rig.clock.advance(1)
  t.equal(stateOf(actor), 'waiting')
  t.same(rig.platform.session.closings, [{ signOut: false }])
  t.ok(rig.platform.session.signal.aborted)
})

t.test('a probe that fails makes it deaf, the next that passes online again', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const { session } = rig.platform
  session.onProbe = async () => {
    throw new Error('silence')
  }
  await rig.clock.advance(timing.probeEvery * 1.2)
  t.equal(stateOf(actor), 'live.deaf')
  t.equal(rig.store.health.at(-1)?.healthy, false)
  session.onProbe = async () => 5
  await rig.clock.advance(timing.probeAgain * 1.2)
  t.equal(stateOf(actor), 'live.online')
  t.equal(rig.platform.sessions.length, 1, 'in the same session')
})

t.test('a session that stays deaf is renewed', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  rig.platform.session.onProbe = async () => {
    throw new Error('silence')
  }
  await rig.clock.advance(timing.probeEvery * 1.2 + 3 * timing.probeAgain * 1.2 + 2_000)
  t.equal(rig.platform.sessions.length, 2)
  t.equal(stateOf(actor), 'live.online')
  t.same(rig.platform.sessions[0]?.closings, [{ signOut: false }])
})

t.test('pauses between attempts grow, each within a fifth of its figure', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = (session) => session.report.lost('network')
  rig.activate()
  await rig.clock.advance(10 * 60_000)
  const waits = rig.store.transitions
    .filter(({ from }) => from === 'waiting')
    .map(({ durationMs }) => durationMs)
  const figures = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
  t.ok(waits.length > figures.length)
  for (const [index, figure] of figures.entries()) {
    const wait = waits[index] ?? 0
    t.ok(wait >= figure * 0.8 && wait <= figure * 1.2, `${wait} for ${figure}`)
  }
  const exact = figures.filter((figure, index) => waits[index] === figure)
  t.ok(exact.length < figures.length, 'not all at the same moment')
})

t.test('a time that the network names is never shortened, and spread behind it', async (t) => {
  const back = []
  for (let account = 0; account < 20; account++) {
    const rig = new CredentialRig(t)
    await rig.online()
    rig.platform.session.report.lost('flood_wait', 20)
    await settled()
    await rig.clock.advance(19_999)
    t.equal(rig.platform.sessions.length, 1)
    await rig.clock.advance(2_000)
    back.push(rig.platform.sessions.length)
    await rig.clock.advance(2_001)
    t.equal(rig.platform.sessions.length, 2)
  }
  t.ok(back.includes(1) && back.includes(2), 'not all of them at once')
})

t.test('a flood wait lasts until its time, whatever happens to the session', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  rig.platform.session.report.limited('flood_wait', 100)
  await rig.clock.advance(90_000)
  t.equal(stateOf(actor), 'live.limited')
  rig.platform.session.report.lost('network')
  await rig.clock.advance(3_000)
  t.equal(rig.platform.sessions.length, 2)
  t.equal(stateOf(actor), 'live.limited')
  await rig.clock.advance(6_999)
  t.equal(stateOf(actor), 'live.limited')
  await rig.clock.advance(1)
  t.equal(stateOf(actor), 'live.online', 'and not a moment longer')
})

t.test('a flood wait of before a restart of the service holds for what is left', async (t) => {
  const rig = new CredentialRig(t)
  const actor = rig.activate({ limitedUntil: rig.clock.now() + 5_000, reason: 'flood_wait' })
  await rig.clock.advance(4_999)
  t.equal(stateOf(actor), 'live.limited')
  await rig.clock.advance(1)
  t.equal(stateOf(actor), 'live.online')
  const past = new CredentialRig(t)
  const free = past.activate({ limitedUntil: past.clock.now() - 1, reason: 'flood_wait' })
  await settled()
  t.equal(stateOf(free), 'live.online')
})

t.test('a session that is over is listened to no longer', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const { report } = rig.platform.session
  report.lost('network')
  await rig.clock.advance(2_000)
  t.equal(stateOf(actor), 'live.online')
  report.revoked('network')
  report.invalid('network')
  report.replaced()
  report.limited('network', 5)
  report.lost('network')
  await settled()
  t.equal(stateOf(actor), 'live.online')
})

t.test('secrets that cannot be read cost no more than an attempt', async (t) => {
  const rig = new CredentialRig(t)
  const { account } = rig.store.port
  let reads = 0
  const store = {
    ...rig.store.port,
    account: (id: number) => {
      if (++reads === 1) return Promise.reject(new Error('storage is down'))
      return account(id)
    },
  }
  const other = new CredentialRig(t, { store: Object.setPrototypeOf(store, rig.store.port) })
  const actor = other.activate()
  await other.clock.advance(2_000)
  t.equal(stateOf(actor), 'live.online')
  t.match(other.logger.errors, [{ err: { message: 'storage is down' } }])
})

t.test('deleting signs the session out, wipes, answers and ends the actor', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  t.equal(await actor.ask({ type: 'credential.delete' }), true)
  t.same(rig.platform.session.closings, [{ signOut: true }])
  t.same(rig.store.deactivated, [1])
  t.equal(await actor.closed, undefined)
  t.equal(rig.store.states.at(-1), 'deactivated')
  t.equal(rig.clock.timers, 0)
})

t.test('linking anew signs the old session out and never the new one', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  await actor.ask({ type: 'credential.relinked', link: 1 })
  await settled()
  t.same(rig.platform.sessions[0]?.closings, [{ signOut: true }])
  t.equal(stateOf(actor), 'live.online')
  rig.platform.session.report.revoked('session_revoked')
  await settled()
  await actor.ask({ type: 'credential.relinked', link: 1 })
  await settled()
  t.equal(stateOf(actor), 'live.online')
  actor.stop()
  await settled()
  t.equal(rig.platform.sessions.length, 3)
  t.same(rig.platform.session.closings, [{ signOut: false }])
})

t.test('a session that was opened with the new link already is not signed out', async (t) => {
  const { port } = new FakeCredentialStore(t, {
    account: async (credentialId) => ({
      credentialId,
      epoch: 3,
      link: 2,
      identity: somebody,
      secrets: 'of the new link',
      checkpoint: null,
    }),
  })
  const rig = new CredentialRig(t, { store: port })
  const actor = await rig.online()
  await actor.ask({ type: 'credential.relinked', link: 2 })
  await settled()
  t.same(rig.platform.sessions[0]?.closings, [{ signOut: false }])
  t.equal(stateOf(actor), 'live.online')
})

t.test('a session of a link before leaves the secrets of the new one alone', async (t) => {
  const saved: unknown[] = []
  const { port } = new FakeCredentialStore(t, {
    saveSecrets: async (_, __, secrets) => void saved.push(secrets),
  })
  const rig = new CredentialRig(t, { store: port })
  const actor = await rig.online()
  const [old] = rig.platform.sessions
  await old?.report.secrets('moved on')
  await actor.ask({ type: 'credential.relinked', link: 1 })
  await settled()
  await old?.report.secrets('signed out')
  await rig.platform.session.report.secrets('new')
  t.same(saved, ['moved on', 'new'])
})

t.test('a session that the next owner took is no matter of a stranger', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  rig.store.fenced = [{ credentialId: 1, epoch: 3, signsOut: true }]
  const lines = rig.store.transitions.length
  rig.platform.session.report.replaced()
  await settled()
  t.same(rig.lost, [{ credentialId: 1, epoch: 3, signsOut: true }], 'with what was found out')
  t.notOk(actor.isActive)
  t.equal(rig.store.transitions.length, lines, 'the state is the next owner’s to tell')
})

t.test('a session that is taken soon after the link is opened once more', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  rig.platform.session.report.replaced()
  await rig.clock.advance(2_000)
  t.equal(stateOf(actor), 'live.online')
  t.equal(rig.platform.sessions.length, 2)
  rig.platform.session.report.replaced()
  await settled()
  t.equal(stateOf(actor), 'replaced', 'nobody had it before')
})

t.test('a session that is taken soon after a takeover is opened again each time', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online({ former: { name: 'node-2', hasReleased: false } })
  const began = rig.clock.now()
  let taken = 0
  for (const waitMs of [2_000, 4_000, 8_000, 12_000]) {
    rig.platform.session.report.replaced()
    taken++
    await rig.clock.advance(waitMs)
    t.equal(stateOf(actor), 'live.online', 'the owner before may not have heard yet')
    t.equal(rig.platform.sessions.length, taken + 1)
  }
  await rig.clock.advance(60_000 - (rig.clock.now() - began))
  rig.platform.session.report.replaced()
  await settled()
  t.equal(stateOf(actor), 'replaced', 'two would take it from each other for ever')
  t.same(rig.lost, [])
})

t.test('a session that is taken later is left to whoever took it', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  await rig.clock.advance(60_000)
  rig.platform.session.report.replaced()
  await settled()
  t.equal(stateOf(actor), 'replaced')
  t.equal(rig.platform.sessions.length, 1)
})

t.test('while nobody can say who owns it, a taken session is opened again', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  await rig.clock.advance(60_000)
  const fenced = rig.store.port.fenced
  rig.store.port.fenced = () => Promise.reject(new Error('storage is down'))
  rig.platform.session.report.replaced()
  await settled()
  t.equal(stateOf(actor), 'stalled', 'until the database is back')
  t.equal(actor.snapshot.context.reason, 'storage')
  rig.store.port.fenced = fenced
  await rig.clock.advance(2_000)
  t.equal(stateOf(actor), 'live.online')
})

t.test('a restriction is not blamed on what was wrong when the service stopped', async (t) => {
  const rig = new CredentialRig(t)
  const limitedUntil = rig.clock.now() + 60_000
  for (const [state, reason, shown] of [
    ['waiting', 'network', 'flood_wait'],
    ['failed', 'crash_loop', 'flood_wait'],
    ['live.limited', 'server_overloaded', 'server_overloaded'],
  ] as const) {
    const actor = rig.activate({ state, reason, limitedUntil })
    await settled()
    t.equal(stateOf(actor), 'live.limited')
    t.equal(actor.snapshot.context.reason, shown)
    actor.stop()
  }
})

t.test('accounts that the network does not let in make way for the next ones slowly', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = () => undefined
  const actors = [1, 2, 3].map(() => rig.activate())
  await settled()
  const states = () => actors.map(stateOf)
  t.same(states(), ['live.starting', 'live.starting', 'queued'])
  rig.platform.sessions[0]?.report.lost('network')
  await settled()
  t.same(states(), ['waiting', 'live.starting', 'queued'])
  await rig.clock.advance(499)
  t.equal(states()[2], 'queued')
  await rig.clock.advance(1)
  t.equal(states()[2], 'live.starting')
  const late = rig.activate()
  await settled()
  t.equal(stateOf(late), 'queued', 'a turn that was waited for is kept, too')
})

t.test('one that ends before its turn takes none', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = () => undefined
  const [first, , queued, last] = [1, 2, 3, 4].map(() => rig.activate())
  await settled()
  queued?.stop()
  t.equal(stateOf(last as CredentialActor), 'queued')
  first?.stop()
  await settled()
  t.equal(stateOf(last as CredentialActor), 'live.starting')
})

t.test('and those that it lets in make way at once', async (t) => {
  const rig = new CredentialRig(t)
  rig.platform.onOpen = () => undefined
  const actors = [1, 2, 3].map(() => rig.activate())
  await settled()
  rig.platform.sessions[0]?.report.opened(somebody)
  await settled()
  t.same(actors.map(stateOf), ['live.online', 'live.starting', 'live.starting'])
})
