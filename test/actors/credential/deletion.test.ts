/** The deletion of a credential is stored before it is carried out, and goes on whoever gives up waiting for it. */
import t from 'tap'
import { SecretsUnreadable } from '../../../machines/model/failure.ts'
import { settled } from '../../support/clock.ts'
import { FakeCredentialStore } from '../../support/fakes.ts'
import { refused } from '../refused.ts'
import { CredentialRig, stateOf } from './rig.ts'

t.test('nothing is signed out or wiped before the deletion is stored', async (t) => {
  const disk = Promise.withResolvers<void>()
  const store = new FakeCredentialStore(t, { saveDeletion: () => disk.promise })
  const rig = new CredentialRig(t, { store: store.port })
  const actor = await rig.online()
  const deletion = actor.ask({ type: 'credential.delete' })
  await settled()
  t.same(rig.platform.session.closings, [])
  t.same(store.deactivated, [])
  disk.resolve()
  t.equal(await deletion, true)
  t.same(rig.platform.session.closings, [{ signOut: true }])
  t.same(store.deactivated, [1])
})

t.test('a deletion that cannot be stored is tried again', async (t) => {
  let tries = 0
  const saveDeletion = async () => {
    tries += 1
    if (tries < 3) throw new Error('storage is down')
  }
  const store = new FakeCredentialStore(t, { saveDeletion })
  const rig = new CredentialRig(t, { store: store.port })
  const actor = await rig.online()
  const deletion = actor.ask({ type: 'credential.delete' })
  await rig.clock.advance(2_000)
  t.equal(await deletion, true)
  t.equal(tries, 3)
  t.match(rig.logger.errors, [{ err: { message: 'storage is down' } }, {}])
})

t.test('a caller who gives up does not stop it', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const network = Promise.withResolvers<void>()
  rig.platform.session.close = () => network.promise
  const leaving = new AbortController()
  const deletion = refused(t, actor.ask({ type: 'credential.delete' }, leaving.signal), {
    code: 'timeout',
    certain: false,
  })
  await settled()
  leaving.abort()
  await deletion
  t.equal(stateOf(actor), 'live.leaving')
  await refused(t, actor.ask({ type: 'credential.delete' }), { code: 'not_found' })
  network.resolve()
  await settled()
  t.same(rig.store.deactivated, [1])
  t.equal(await actor.closed, undefined)
})

t.test('secrets that cannot be read make the credential invalid, and it can go', async (t) => {
  const store = new FakeCredentialStore(t, {
    account: () => Promise.reject(new SecretsUnreadable()),
  })
  const rig = new CredentialRig(t, { store: store.port })
  const actor = rig.activate()
  await settled()
  t.equal(stateOf(actor), 'invalid')
  t.equal(actor.snapshot.context.reason, 'secrets_unreadable')
  t.equal(rig.clock.timers, 0, 'it is not tried again')
  t.equal(await actor.ask({ type: 'credential.delete' }), true)
})
