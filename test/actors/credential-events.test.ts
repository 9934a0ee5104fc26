/** Events on their way into the log: stored before they are acknowledged, or reported again. */
import t from 'tap'
import { EventsUnstorable, failed } from '../../actors/errors.ts'
import type { Appended } from '../../actors/ports.ts'
import { settled } from '../support/clock.ts'
import { CredentialRig, deleted, stateOf } from './credential-rig.ts'
import { refused } from './refused.ts'

const stored: Appended = { stored: true, count: 1 }

t.test('a session is told that its events are stored, and not before', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const commit = Promise.withResolvers<Appended>()
  rig.log.onAppend = () => commit.promise
  let isAcknowledged = false
  const acknowledged = rig.platform.session.report.events([deleted('a')], 'c1').then(() => {
    isAcknowledged = true
  })
  await settled()
  t.same(rig.log.appended, [
    { credentialId: 1, epoch: 3, happenings: [deleted('a')], checkpoint: 'c1' },
  ])
  t.notOk(isAcknowledged)
  commit.resolve(stored)
  await acknowledged
})

t.test('what the settings leave out moves the checkpoint all the same', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  await actor.ask({
    type: 'credential.settings',
    settings: { ...actor.snapshot.context.settings, includeDeletedUpdates: false },
  })
  await rig.platform.session.report.events([deleted('a')], 'c1')
  t.match(rig.log.appended, [{ happenings: [], checkpoint: 'c1' }])
})

t.test(
  'events that could not be stored end the session; the next one begins before them',
  async (t) => {
    const rig = new CredentialRig(t)
    const actor = await rig.online()
    rig.log.onAppend = () => Promise.reject(new Error('disk full'))
    await t.rejects(rig.platform.session.report.events([deleted('a')], 'c1'), {
      message: 'disk full',
    })
    t.equal(stateOf(actor), 'waiting')
    t.equal(actor.snapshot.context.reason, 'storage')
    await rig.clock.advance(2_000)
    t.equal(stateOf(actor), 'live.online')
    t.equal(rig.platform.sessions.length, 2)
  },
)

t.test('what follows a batch that failed is not stored past it', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const first = Promise.withResolvers<Appended>()
  rig.log.onAppend = () => first.promise
  const { report } = rig.platform.session
  const batches = Promise.allSettled([
    report.events([deleted('a')], 'c1'),
    report.events([deleted('b')], 'c2'),
    report.events([deleted('c')], 'c3'),
  ])
  await settled()
  rig.log.onAppend = async () => stored
  first.reject(new Error('disk full'))
  const states = (await batches).map(({ status }) => status)
  t.same(states, ['rejected', 'rejected', 'rejected'])
  t.match(rig.log.appended, [{ checkpoint: 'c1' }])
  t.equal(rig.log.appended.length, 1)
})

t.test('batches are stored in the order they were reported', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const { report } = rig.platform.session
  await Promise.all(['c1', 'c2', 'c3'].map((at) => report.events([deleted(at)], at)))
  t.same(
    rig.log.appended.map(({ checkpoint }) => checkpoint),
    ['c1', 'c2', 'c3'],
  )
})

t.test('events of a session that is over are refused, not stored', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const old = rig.platform.session
  const slow = Promise.withResolvers<Appended>()
  rig.log.onAppend = () => slow.promise
  const taken = old.report.events([deleted('a')], 'c1')
  const queued = old.report.events([deleted('b')], 'c2')
  await settled()
  old.report.lost('network')
  await refused(t, queued, { code: 'unavailable' })
  await refused(t, old.report.events([deleted('c')], 'c3'), { code: 'unavailable' })
  await rig.clock.advance(2_000)
  rig.log.onAppend = async () => stored
  const fresh = rig.platform.session.report.events([deleted('d')], 'c4')
  slow.resolve(stored)
  await Promise.all([taken, fresh])
  t.same(
    rig.log.appended.map(({ checkpoint }) => checkpoint),
    ['c1', 'c4'],
  )
})

t.test('a late failure of an old session leaves the new one alone', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const slow = Promise.withResolvers<Appended>()
  rig.log.onAppend = () => slow.promise
  const taken = rig.platform.session.report.events([deleted('a')], 'c1')
  await settled()
  rig.platform.session.report.lost('network')
  await rig.clock.advance(2_000)
  slow.reject(new Error('disk full'))
  await t.rejects(taken)
  await settled()
  t.equal(stateOf(actor), 'live.online')
  t.equal(rig.platform.sessions.length, 2)
})

t.test('an actor whose credential another node has taken over stops at once', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  rig.log.onAppend = async () => ({ stored: false })
  await refused(t, rig.platform.session.report.events([deleted('a')], 'c1'), {
    code: 'unavailable',
  })
  t.equal(await actor.closed, undefined)
  await settled()
  t.same(rig.platform.session.closings, [{ signOut: false }])
  t.equal(rig.store.states.at(-1), 'live.online', 'nothing is written about what is not its own')
  t.equal(rig.clock.timers, 0)
})

t.test('stopping leaves what is being stored to its end and refuses the rest', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const commit = Promise.withResolvers<Appended>()
  rig.log.onAppend = () => commit.promise
  const { report, signal } = rig.platform.session
  const taken = report.events([deleted('a')], 'c1')
  const queued = report.events([deleted('b')], 'c2')
  await settled()
  actor.stop()
  await refused(t, queued, { code: 'unavailable' })
  t.ok(signal.aborted)
  commit.resolve(stored)
  await taken
})

t.test(
  'an event that can never be stored is left out at its third try, and said to be',
  async (t) => {
    const rig = new CredentialRig(t)
    const actor = await rig.online()
    const stored = new Set<string>()
    rig.log.onAppend = async ({ happenings }) => {
      if (happenings.some(({ sourceKey }) => sourceKey === 'poison')) throw new EventsUnstorable()
      for (const { sourceKey } of happenings) stored.add(sourceKey)
      return { stored: true, count: happenings.length }
    }
    const report = () => {
      const events = ['a', 'poison', 'b'].map(deleted)
      return rig.platform.session.report.events(events, 'c1')
    }
    for (let time = 0; time < 2; time++) {
      await t.rejects(report(), EventsUnstorable)
      t.same([...stored], ['a'], 'what comes after it waits')
      await rig.clock.advance(5_000)
      t.equal(stateOf(actor), 'live.online')
    }
    await report()
    t.same([...stored], ['a', 'b'])
    t.match(rig.log.appended.at(-1), { happenings: [], checkpoint: 'c1' })
    t.match(rig.logger.errors.at(-1), { credentialId: 1, sourceKey: 'poison' })
    t.match(rig.store.transitions.at(-1), { event: 'messages.skipped' })
    t.equal(rig.platform.sessions.length, 3)
  },
)

t.test('a database that is away is no reason to leave anything out', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  for (let time = 0; time < 5; time++) {
    rig.log.onAppend = () => Promise.reject(failed('unavailable'))
    await refused(t, rig.platform.session.report.events([deleted('a')], 'c1'), {
      code: 'unavailable',
    })
    await rig.clock.advance(30_000)
  }
  rig.log.onAppend = async () => stored
  await rig.platform.session.report.events([deleted('a')], 'c1')
  t.match(rig.log.appended.at(-1), { happenings: [{ sourceKey: 'a' }], checkpoint: 'c1' })
})
