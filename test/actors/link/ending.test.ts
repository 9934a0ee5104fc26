/** The end of a link flow: nothing is told that is not stored. */
import t from 'tap'
import type { LinkAttempt } from '../../../actors/ports/platform.ts'
import { settled } from '../../support/clock.ts'
import { refused } from '../refused.ts'
import { LinkRig, stateOf, wrong } from './rig.ts'

const failing = () => {
  const down = Promise.reject(new Error('disk full'))
  down.catch(() => undefined)
  return down
}

t.test('an end that cannot be stored is not told, and is tried again', async (t) => {
  const rig = new LinkRig(t)
  const unstored = { code: 'unavailable', retryAfterSeconds: 1 } as const
  const actor = rig.begin({ attemptsLeft: 2 })
  rig.attempt.next = async () => {
    rig.saving = failing()
    return wrong
  }
  await refused(t, actor.ask({ type: 'link.verify', code: '1' }), unstored)
  await refused(t, actor.ask({ type: 'link.cancel' }), unstored)
  await refused(t, actor.ask({ type: 'link.cancel' }), unstored)
  t.same(rig.ends, [])
  rig.saving = Promise.resolve()
  await refused(t, actor.ask({ type: 'link.cancel' }), {
    description: 'the link session is over; start again',
  })
  t.same(rig.ends, [['cancelled', 1, undefined]], 'the newest, once')
  t.match(rig.logger.errors[0], { err: { message: 'disk full' } })
})

t.test('a flow that expires while storage is down is expired once storage is back', async (t) => {
  const rig = new LinkRig(t)
  const actor = rig.begin()
  rig.saving = failing()
  await rig.clock.advance(900_000)
  t.equal(stateOf(actor), '"expired"')
  rig.saving = Promise.resolve()
  await refused(t, actor.ask({ type: 'link.cancel' }), { code: 'bad_request' })
  await settled()
  t.same(rig.ends, [['expired', 3, undefined]])
})

t.test('an attempt that resumes as the flow ends is closed', async (t) => {
  const rig = new LinkRig(t)
  const resumed = Promise.withResolvers<LinkAttempt>()
  rig.platform.onResumeLink = () => resumed.promise
  const actor = rig.begin({}, false)
  const asked = actor.ask({ type: 'link.verify', code: '1' })
  asked.catch(() => undefined)
  await settled()
  await actor.ask({ type: 'link.cancel' }).catch(() => undefined)
  actor.stop()
  resumed.resolve(rig.attempt)
  await settled()
  t.equal(rig.attempt.closed, 1)
  t.same(rig.attempt.answers, [])
})
