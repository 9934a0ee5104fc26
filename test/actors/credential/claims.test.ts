/** An account that a call claims while it is claimed with all others: it is run once, by the newer epoch. */
import t from 'tap'
import { CredentialSupervisor } from '../../../actors/credential/supervisor.ts'
import { CredentialRig, factsOf } from './rig.ts'

t.test('the newer of two claims counts, and all that ran by the older one ends', async (t) => {
  const rig = new CredentialRig(t)
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
  rig.store.facts.set(1, factsOf(1, { epoch: 3 }))
  const started = supervisor.start(1)
  supervisor.adopt(factsOf(1, { epoch: 2 }))
  await started
  t.match(rig.lost, [{ credentialId: 1, epoch: 2 }])
  t.equal(supervisor.factsOf(1)?.epoch, 3)
})
