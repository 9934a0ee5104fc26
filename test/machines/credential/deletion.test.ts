/** Deleting a credential: signed out where it lives, wiped for certain, answered once. */
import t from 'tap'
import {
  begin,
  command,
  invalid,
  limited,
  lost,
  online,
  opened,
  places,
  replaced,
  revoked,
  signedOut,
  stopped,
  stored,
  wiped,
} from './rig.ts'

const done = (requestId: string) => ({
  type: 'reply',
  requestId,
  outcome: { ok: true, result: true },
})
const gone = { ok: false, failure: { code: 'not_found', description: '' } }

t.test('one that lives: the deletion is stored, then signed out, wiped, answered', async (t) => {
  const walk = online().send(command('delete', 'd1'))
  t.equal(walk.state, 'live.leaving.noting')
  t.same(walk.running, ['deletion', 'session'], 'nothing is undone before it is stored')
  walk.send(stored)
  t.equal(walk.state, 'live.leaving.signingOut')
  t.same(walk.running, ['session', 'signOut'])
  t.same(walk.replies, [])
  walk.send(signedOut)
  t.equal(walk.state, 'deactivating.wiping')
  t.same(walk.running, ['deactivation'])
  t.same(walk.replies, [], 'not answered before its secrets are gone')
  walk.send(wiped)
  t.equal(walk.state, 'deactivated')
  t.same(walk.replies, [done('d1')])
  t.equal(walk.snapshot.status, 'done')
})

t.test('one without a session is wiped once its deletion is stored', async (t) => {
  for (const place of ['queued', 'waiting', ...stopped] as const) {
    const walk = places[place]().send(command('delete', 'd1'))
    t.equal(walk.state, 'deactivating.noting', place)
    t.same(walk.running, ['deletion'])
    walk.send(stored)
    t.same(walk.running, ['deactivation'])
    t.same(walk.send(wiped).replies, [done('d1')])
  }
})

t.test('deletion goes on however the session ends meanwhile', async (t) => {
  for (const event of [lost, replaced, revoked, invalid]) {
    const early = online().send(command('delete'), event)
    t.equal(early.state, 'deactivating.noting', event.type)
    const late = online().send(command('delete'), stored, event)
    t.equal(late.state, 'deactivating.noting', event.type)
  }
  const restricted = online().send(command('delete'), limited(9, 9))
  t.equal(restricted.state, 'live.leaving.noting', 'a restriction does not bring it back')
})

t.test('a deletion that a stop of the service cut short is carried out', async (t) => {
  const walk = begin({ resume: 'deleting' })
  t.equal(walk.state, 'live.leaving.returning')
  t.same(walk.running, ['session'])
  walk.send(opened)
  t.equal(walk.state, 'live.leaving.signingOut', 'signed out on the network too')
  t.equal(walk.send(signedOut, wiped).state, 'deactivated')
  t.same(walk.replies, [{ ...done(''), requestId: '' }])
  const unreachable = begin({ resume: 'deleting' }).elapse('openingTakes')
  t.equal(unreachable.state, 'deactivating.noting', 'nobody waits for a network for ever')
  t.equal(begin({ resume: 'deleting' }).send(lost).state, 'deactivating.noting')
})

t.test(
  'a second deletion is told that there is nothing, the first one gets its answer',
  async (t) => {
    const walk = online().send(command('delete', 'd1'), command('delete', 'd2'))
    t.same(walk.replies, [{ type: 'reply', requestId: 'd2', outcome: gone }])
    t.same(walk.send(stored, signedOut, command('delete', 'd3')).outcome, gone)
    t.same(walk.send(wiped).replies, [done('d1')])
  },
)

t.test('nothing brings back what is being deleted', async (t) => {
  const leaving = ['noting', 'pausing', 'signingOut', 'returning'] as const
  const ending = ['noting', 'wiping', 'pausing'] as const
  for (const place of [
    ...leaving.map((state) => `live.leaving.${state}` as const),
    ...ending.map((state) => `deactivating.${state}` as const),
  ]) {
    for (const what of ['restart', 'relinked'] as const) {
      const walk = places[place]().send(command(what))
      t.equal(walk.state, place)
      t.same(walk.outcome, gone)
    }
  }
})

t.test('storing and wiping are tried again until they work', async (t) => {
  const walk = online().send(command('delete', 'd1'))
  for (let round = 0; round < 3; round++) {
    walk.send({ type: 'deletion.failed' })
    t.equal(walk.state, 'live.leaving.pausing')
    t.same(walk.elapse('deleteAgain').running, ['deletion', 'session'])
  }
  walk.send(stored, signedOut)
  for (let round = 0; round < 3; round++) {
    walk.send({ type: 'deactivation.failed' })
    t.equal(walk.state, 'deactivating.pausing')
    t.same(walk.replies, [])
    walk.elapse('deleteAgain').send(stored)
    t.same(walk.running, ['deactivation'])
  }
  t.same(walk.send(wiped).replies, [done('d1')])
  const without = places.waiting().send(command('delete', 'd2'), { type: 'deletion.failed' })
  t.equal(without.state, 'deactivating.pausing')
  t.same(without.elapse('deleteAgain').running, ['deletion'])
})
