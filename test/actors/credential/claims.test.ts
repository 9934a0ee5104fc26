/** An account that a call claims while it is claimed with all others: it is run once, by the newer epoch. */
import t from 'tap'
import { CredentialSupervisor } from '../../../actors/credential/supervisor.ts'
import { settled } from '../../support/clock.ts'
import { FakeCredentialStore } from '../../support/fakes.ts'
import { CredentialRig, factsOf, stateOf } from './rig.ts'
import { SupervisorRig } from './supervisor-rig.ts'

t.test('the newer of two claims counts, and all that ran by the older one ends', async (t) => {
  const answered = Promise.withResolvers<void>()
  const store = new FakeCredentialStore(t, {
    claim: async (credentialId) => {
      await answered.promise
      store.facts.set(credentialId, factsOf(credentialId, { epoch: 3 }))
      return store.facts.get(credentialId)
    },
  })
  store.facts.set(1, factsOf(1, { epoch: 2 }))
  const rig = new CredentialRig(t, { store: store.port })
  const supervisor: CredentialSupervisor = new CredentialSupervisor({
    ...rig.world,
    platforms: new Map([['fake', rig.platform.port]]),
    onCrash: () => undefined,
    lost: (owned) => {
      rig.world.lost(owned)
      supervisor.lose(owned)
    },
  })
  t.teardown(() => supervisor.stop())
  const started = supervisor.start(1)
  supervisor.adopt(factsOf(1, { epoch: 2 }))
  await settled()
  t.equal(rig.platform.sessions.length, 1, 'it is connected before the answer comes')
  answered.resolve()
  await started
  t.match(rig.lost, [{ credentialId: 1, epoch: 2 }])
  t.equal(supervisor.factsOf(1)?.epoch, 3)
})

t.test('whoever reads an account of a newer claim opens no session', async (t) => {
  const rig = new SupervisorRig(t)
  rig.store.facts.set(1, factsOf(1, { epoch: 4 }))
  rig.supervisor.adopt(factsOf(1, { epoch: 3 }))
  await settled()
  t.match(rig.lost, [{ credentialId: 1, epoch: 3 }])
  t.equal(rig.platform.sessions.length, 0)
})

t.test('callers that need it at the same moment claim it once', async (t) => {
  let claims = 0
  const { port } = new FakeCredentialStore(t, {
    claim: async (credentialId) => {
      claims++
      await settled()
      return factsOf(credentialId)
    },
  })
  const rig = new CredentialRig(t, { store: port })
  const platforms = new Map([['fake', rig.platform.port]])
  const supervisor = new CredentialSupervisor({ ...rig.world, platforms, onCrash: () => undefined })
  t.teardown(() => supervisor.stop())
  const [first, second] = await Promise.all([supervisor.find(1), supervisor.find(1)])
  t.equal(claims, 1)
  t.equal(first, second)
})

t.test('an account that comes back at once waits for the session that it had here', async (t) => {
  for (const end of ['lost', 'crashed'] as const) {
    const rig = new SupervisorRig(t)
    rig.platform.bears = 'exclusive'
    await rig.find(1)
    const closing = Promise.withResolvers<void>()
    rig.platform.session.onClose = () => closing.promise
    if (end === 'crashed') await rig.crash(1)
    for (const epoch of end === 'lost' ? [4, 5] : []) {
      rig.supervisor.lose(factsOf(1, { epoch: epoch - 1 }))
      rig.store.facts.set(1, factsOf(1, { epoch }))
      rig.supervisor.adopt(factsOf(1, { epoch }))
    }
    await rig.clock.advance(2_000)
    t.equal(rig.platform.sessions.length, 1, `${end}: never two`)
    let isDisconnected = false
    rig.supervisor.disconnected(1).then(() => (isDisconnected = true))
    await settled()
    t.notOk(isDisconnected)
    closing.resolve()
    await rig.clock.advance(1_000)
    t.ok(isDisconnected)
    t.equal(rig.platform.sessions.length, 2)
    t.equal(stateOf(await rig.supervisor.find(1)), 'live.online')
  }
})
