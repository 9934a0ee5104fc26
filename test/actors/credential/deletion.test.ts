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

t.test('a session is kept for later unless the network has confirmed its end', async (t) => {
  const left: unknown[] = []
  const online = async (confirms: boolean) => {
    const store = new FakeCredentialStore(t, {
      deactivate: async (_, isLeft) => void left.push(isLeft),
      signedOut: async (...link) => void left.push(link),
    })
    const rig = new CredentialRig(t, { store: store.port })
    const actor = await rig.online()
    rig.platform.session.confirms = confirms
    return actor
  }
  for (const confirms of [true, false]) {
    await (await online(confirms)).ask({ type: 'credential.delete' })
    t.same(left.splice(0), [!confirms])
    const relinked = await online(confirms)
    t.ok(relinked.effects.uses(0))
    t.notOk(relinked.effects.uses(-1), 'only its link, and those before')
    await relinked.ask({ type: 'credential.relinked', link: 1 })
    await settled()
    t.same(left.splice(0), confirms ? [[1, 0]] : [])
  }
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
