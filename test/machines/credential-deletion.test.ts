/** Deleting a credential: signed out where it lives, wiped for certain, answered once. */
import t from 'tap'
import {
  begin,
  command,
  invalid,
  limited,
  lost,
  online,
  places,
  replaced,
  revoked,
  signedOut,
  stopped,
  wiped,
} from './credential-rig.ts'

const done = (requestId: string) => ({
  type: 'reply',
  requestId,
  outcome: { ok: true, result: true },
})
const gone = { ok: false, failure: { code: 'not_found', description: '' } }

t.test('one that lives is signed out, then wiped, then answered', async (t) => {
  const walk = online().send(command('delete', 'd1'))
  t.equal(walk.state, 'live.leaving')
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

t.test('one without a session is wiped at once', async (t) => {
  for (const place of ['queued', 'waiting', ...stopped] as const) {
    const walk = places[place]().send(command('delete', 'd1'))
    t.equal(walk.state, 'deactivating.wiping', place)
    t.same(walk.running, ['deactivation'])
    t.same(walk.send(wiped).replies, [done('d1')])
  }
})

t.test('deletion goes on however the session ends meanwhile', async (t) => {
  for (const event of [lost, replaced, revoked, invalid]) {
    const walk = online().send(command('delete'), event)
    t.equal(walk.state, 'deactivating.wiping', event.type)
  }
  const restricted = online().send(command('delete'), limited(9, 9))
  t.equal(restricted.state, 'live.leaving', 'a restriction does not bring it back')
})

t.test(
  'a second deletion is told that there is nothing, the first one gets its answer',
  async (t) => {
    const walk = online().send(command('delete', 'd1'), command('delete', 'd2'))
    t.same(walk.replies, [{ type: 'reply', requestId: 'd2', outcome: gone }])
    t.same(walk.send(signedOut, command('delete', 'd3')).outcome, gone)
    t.same(walk.send(wiped).replies, [done('d1')])
  },
)

t.test('nothing brings back what is being deleted', async (t) => {
  for (const place of ['live.leaving', 'deactivating.wiping', 'deactivating.pausing'] as const) {
    for (const what of ['restart', 'relinked'] as const) {
      const walk = places[place]().send(command(what))
      t.equal(walk.state, place)
      t.same(walk.outcome, gone)
    }
  }
})

t.test('wiping is tried again until it works', async (t) => {
  const walk = begin().send(command('delete', 'd1'))
  for (let round = 0; round < 3; round++) {
    walk.send({ type: 'deactivation.failed' })
    t.equal(walk.state, 'deactivating.pausing')
    t.same(walk.replies, [])
    walk.elapse('deactivateAgain')
    t.same(walk.running, ['deactivation'])
  }
  t.same(walk.send(wiped).replies, [done('d1')])
})
