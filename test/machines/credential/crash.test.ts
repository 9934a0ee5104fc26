/** What a credential makes of the crashes of the actors before. */
import t from 'tap'
import type { Resume } from '../../../machines/credential/setup.ts'
import { crashesTooOften, restAfter, withCrash } from '../../../machines/supervision/machine.ts'
import { begin, command, stopped } from './rig.ts'

t.test('only the crashes of the last minute count', async (t) => {
  t.same(withCrash([], 5), [5])
  t.same(withCrash([0, 30_000, 59_999], 60_000), [30_000, 59_999, 60_000])
  t.notOk(crashesTooOften([1, 2, 3, 4]))
  t.ok(crashesTooOften([1, 2, 3, 4, 5]))
  t.same([[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]].map(restAfter), [1_000, 2_000, 4_000, 8_000])
})

t.test('after a crash it rests, and then goes on where it was', async (t) => {
  for (const resume of [...stopped, 'queued'] satisfies Resume[]) {
    const walk = begin({ resume, reason: 'policy_violation', crashes: [0] })
    t.equal(walk.state, 'crashed')
    t.equal(walk.snapshot.context.reason, 'crashed')
    walk.elapse('crashRest')
    t.equal(walk.state, resume)
    t.equal(walk.snapshot.context.reason, 'policy_violation')
  }
})

t.test('the fifth crash within a minute is one too many', async (t) => {
  const crashes = [1, 2, 3, 4, 5]
  const walk = begin({ crashes })
  t.equal(walk.state, 'failed')
  t.equal(walk.snapshot.context.reason, 'crash_loop')
  walk.send(command('restart'))
  t.equal(walk.state, 'queued')
  t.same(walk.snapshot.context.crashes, [], 'whoever restarts it gives it all its chances back')
  t.equal(begin({ crashes }).elapse('tryAgain').state, 'queued')
})

t.test('a deletion is never given up', async (t) => {
  for (const crashes of [[1], [1, 2, 3, 4, 5, 6]]) {
    const walk = begin({ resume: 'deleting', crashes })
    t.equal(walk.state, 'deactivating.crashed')
    t.equal(walk.send(command('restart')).state, 'deactivating.crashed')
    t.equal(walk.elapse('crashRest').state, 'live.leaving.returning')
  }
})
