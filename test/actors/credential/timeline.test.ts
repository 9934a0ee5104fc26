/** The timeline: every visible change once, with why and for how long. */
import t from 'tap'
import { CredentialRig, stateOf, timing } from './rig.ts'

t.test('each change tells from where, to where, by what, and how long it lasted', async (t) => {
  const rig = new CredentialRig(t)
  const began = rig.clock.now()
  await rig.online({ state: 'waiting' })
  await rig.clock.advance(30_000)
  rig.platform.session.report.revoked('session_revoked')
  await rig.clock.advance(0)
  const owned = { credentialId: 1, epoch: 3 }
  const line = { ...owned, reason: undefined, limitedUntil: undefined, durationMs: 0 }
  t.same(rig.store.transitions, [
    {
      ...line,
      at: began,
      from: 'waiting',
      to: 'queued',
      event: 'actor.started',
      publicState: 'connecting',
      action: 'none',
    },
    {
      ...line,
      at: began,
      from: 'queued',
      to: 'live.starting',
      event: 'turn.granted',
      publicState: 'connecting',
      action: 'none',
    },
    {
      ...line,
      at: began,
      from: 'live.starting',
      to: 'live.online',
      event: 'probe.passed',
      publicState: 'active',
      action: 'none',
    },
    {
      ...line,
      at: began + 30_000,
      from: 'live.online',
      to: 'signedOut',
      event: 'session.revoked',
      reason: 'session_revoked',
      durationMs: 30_000,
      publicState: 'logged_out',
      action: 'link_again',
    },
  ])
})

t.test('what nobody sees is not written: probes, settings, operations', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const lines = rig.store.transitions.length
  await rig.clock.advance(5 * timing.probeEvery)
  await actor.ask({ type: 'credential.settings', settings: actor.snapshot.context.settings })
  t.ok(rig.platform.session.probes > 3)
  t.equal(rig.store.transitions.length, lines)
})

t.test('a restriction tells until when', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  rig.platform.session.report.limited('flood_wait', 60)
  await rig.clock.advance(0)
  t.match(rig.store.transitions.at(-1), {
    to: 'live.limited',
    event: 'session.limited',
    reason: 'flood_wait',
    publicState: 'degraded',
    action: 'wait',
    limitedUntil: rig.clock.now() + 60_000,
  })
})

t.test('what could not be told has a line, and the state stays as it was', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const [before] = rig.store.transitions.slice(-1)
  await rig.clock.advance(10_000)
  rig.platform.session.report.skipped('messages')
  await rig.clock.advance(10_000)
  t.equal(stateOf(actor), 'live.online')
  const remark = { from: 'live.online', to: 'live.online', publicState: 'active', action: 'none' }
  t.match(rig.store.transitions.at(-1), {
    ...remark,
    event: 'messages.skipped',
    reason: undefined,
    durationMs: 10_000,
  })
  rig.platform.session.report.unshared()
  await rig.clock.advance(0)
  t.match(rig.store.transitions.at(-1), { ...remark, event: 'rooms.unshared' })
  rig.platform.session.report.revoked('session_revoked')
  await rig.clock.advance(0)
  t.match(rig.store.transitions.at(-1), { from: 'live.online', durationMs: 20_000 })
  t.equal(rig.store.transitions.length, rig.store.transitions.indexOf(before!) + 4)
})

t.test('updates that cannot be shown have a line for each kind, which is counted', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  for (const kind of ['inline_query', 'poll', 'inline_query', 'inline_query']) {
    rig.platform.session.report.passedOver(kind)
    await rig.clock.advance(10)
  }
  const lines = rig.store.transitions.filter(({ event }) => event.endsWith('.skipped'))
  t.strictSame(
    lines.map(({ event, isRepeat = false, to }) => [event, isRepeat, to]),
    [
      ['inline_query.skipped', false, 'live.online'],
      ['poll.skipped', false, 'live.online'],
      ['inline_query.skipped', true, 'live.online'],
      ['inline_query.skipped', true, 'live.online'],
    ],
  )
})

t.test('an actor that begins where its facts say it was writes nothing', async (t) => {
  const rig = new CredentialRig(t)
  rig.activate({ state: 'signedOut', reason: 'session_revoked' }, 'signedOut')
  await rig.clock.advance(1_000)
  t.same(rig.store.transitions, [])
})

t.test('stopping the service is no change', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const lines = rig.store.transitions.length
  actor.stop()
  await actor.closed
  t.equal(rig.store.transitions.length, lines)
})

t.test(
  'a loop of reconnects is one incident, whose lines repeat until it was steady',
  async (t) => {
    const rig = new CredentialRig(t)
    const actor = await rig.online()
    const loss = async () => {
      rig.platform.session.report.lost('network')
      do await rig.clock.advance(500)
      while (stateOf(actor) !== 'live.online')
    }
    const written = () => rig.store.transitions.filter(({ isRepeat }) => !isRepeat).length
    const before = written()
    await loss()
    const incident = written() - before
    t.equal(incident, 4, 'lost, queued, starting, online')
    for (let again = 0; again < 5; again++) await loss()
    t.equal(written(), before + incident)
    t.equal(rig.store.transitions.filter(({ isRepeat }) => isRepeat).length, 5 * incident)
    await rig.clock.advance(61_000)
    await loss()
    t.equal(written(), before + 2 * incident, 'a later loss is another incident')
  },
)
