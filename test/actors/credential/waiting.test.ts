/** Calls that wait for an account. */
import t from 'tap'
import { OwnershipLost } from '../../../machines/model/failure.ts'
import { settled } from '../../support/clock.ts'
import { somebody } from '../../support/fakes.ts'
import { refused } from '../refused.ts'
import { factsOf, stateOf } from './rig.ts'
import { SupervisorRig } from './supervisor-rig.ts'

const sending = {
  type: 'operation.perform',
  now: 0,
  operation: { kind: 'send', chat: 1, content: { kind: 'text', text: 'x', entities: [] } },
} as const

t.test('a call waits for an account that is connecting, and for no other', async (t) => {
  const rig = new SupervisorRig(t)
  const { onOpen } = rig.platform
  rig.platform.onOpen = () => undefined
  rig.store.facts.set(1, factsOf(1))
  let isHere = true
  const ready = () => rig.supervisor.ready(1, () => !isHere)
  const waiting = ready()
  await rig.clock.advance(4_900)
  rig.platform.session.report.opened(somebody)
  t.equal(stateOf(await waiting), 'live.online')

  rig.platform.onOpen = onOpen
  await rig.crash(1)
  const restarted = ready()
  await rig.restart(1_000)
  t.equal(stateOf(await restarted), 'live.online', 'also while it is restarted')

  rig.platform.onOpen = () => undefined
  rig.platform.session.report.lost('network')
  await settled()
  const tooLong = ready()
  await rig.clock.advance(5_000)
  await refused(t, (await tooLong).ask({ ...sending }), { code: 'unavailable' })

  const gone = refused(t, ready(), { code: 'unavailable', description: 'the caller has left' })
  isHere = false
  await rig.clock.advance(5_000)
  await gone
  isHere = true
  rig.platform.session.report.revoked('session_revoked')
  await settled()
  t.equal(stateOf(await ready()), 'signedOut', 'what waiting does not help is said at once')
  rig.store.elsewhere.add(1)
  t.ok(rig.supervisor.lose({ credentialId: 1, epoch: 3 }))
  await refused(t, ready(), { description: 'another node owns the credential' })
})

t.test('a call that has to know what became of it waits longer', async (t) => {
  const rig = new SupervisorRig(t)
  rig.platform.onOpen = () => undefined
  rig.store.facts.set(1, factsOf(1))
  const waiting = rig.supervisor.ready(1, () => false, 30_000)
  await rig.clock.advance(20_000)
  rig.platform.session.report.opened(somebody)
  t.equal(stateOf(await waiting), 'live.online')
  rig.platform.session.report.lost('network')
  await settled()
  const tooLong = rig.supervisor.ready(1, () => false, 30_000)
  await rig.clock.advance(30_000)
  await refused(t, (await tooLong).ask({ ...sending }), { code: 'unavailable' })
})

t.test('whoever waits for an account that another node claims learns so', async (t) => {
  const rig = new SupervisorRig(t)
  rig.platform.onOpen = () => undefined
  await rig.find(1)
  const waiting = rig.supervisor.ready(1, () => false)
  await settled()
  rig.store.elsewhere.add(1)
  rig.supervisor.lose({ credentialId: 1, epoch: 3 })
  await refused(t, waiting, { description: 'another node owns the credential' })
  t.equal(rig.clock.timers, 0)
})

t.test('a call whose account is claimed by another node before its turn learns so', async (t) => {
  const rig = new SupervisorRig(t)
  rig.platform.onOpen = () => undefined
  const actor = await rig.find(1)
  rig.supervisor.lose({ credentialId: 1, epoch: 3 })
  await t.rejects(actor.ask({ ...sending }), new OwnershipLost())
})
