/** Events on their way into the log: stored before they are acknowledged, or reported again. */
import t from 'tap'
import type { Appended } from '../../../actors/ports/ports.ts'
import { EventsUnstorable, failed } from '../../../machines/model/failure.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { settled } from '../../support/clock.ts'
import { refused } from '../refused.ts'
import { CredentialRig, deleted, stateOf } from './rig.ts'

const stored: Appended = { stored: true, count: 1 }

const keysOf = (batch: { readonly happenings: readonly Happening[] } | undefined) =>
  batch?.happenings.map(({ sourceKey }) => sourceKey)

t.test('a session is told that its events are stored, and not before', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const commit = Promise.withResolvers<Appended>()
  rig.updates.onAppend = () => commit.promise
  let isAcknowledged = false
  const acknowledged = rig.platform.session.report.events([deleted('a')], 'c1').then(() => {
    isAcknowledged = true
  })
  await settled()
  t.same(rig.updates.appended, [
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
  t.match(rig.updates.appended, [{ happenings: { length: 0 }, checkpoint: 'c1' }])
})

t.test(
  'a database in trouble costs no session: the batch is tried until it is stored',
  async (t) => {
    const rig = new CredentialRig(t)
    const actor = await rig.online()
    for (const trouble of [failed('unavailable'), new Error('deadlock detected')]) {
      rig.updates.appended.length = 0
      rig.updates.onAppend = () => Promise.reject(trouble)
      const acknowledged = rig.platform.session.report.events([deleted('a')], 'c1')
      await rig.clock.advance(10_000)
      t.equal(stateOf(actor), 'live.online')
      const tries = rig.updates.appended.length
      t.ok(tries >= 10 && tries <= 20, `it was tried ${tries} times in ten seconds`)
      rig.updates.onAppend = async () => stored
      await rig.clock.advance(1_000)
      await acknowledged
      t.match(rig.updates.appended.at(-1), { happenings: [{ sourceKey: 'a' }], checkpoint: 'c1' })
    }
    t.equal(rig.platform.sessions.length, 1)
    t.equal(actor.snapshot.context.losses, 0, 'and it is no loss of the network')
  },
)

t.test('as soon as the database takes writes again, what waits is stored', async (t) => {
  const recovery = Promise.withResolvers<void>()
  const rig = new CredentialRig(t, { storage: { recovered: () => recovery.promise } })
  await rig.online()
  rig.updates.onAppend = () => Promise.reject(failed('unavailable'))
  const acknowledged = rig.platform.session.report.events([deleted('a')], 'c1')
  await rig.clock.advance(60_000)
  t.equal(rig.updates.appended.length, 1, 'nobody tries while it is known to be in vain')
  rig.updates.onAppend = async () => stored
  recovery.resolve()
  await acknowledged
})

t.test(
  'what the database answers but never stores is reported again by another session',
  async (t) => {
    const rig = new CredentialRig(t)
    const actor = await rig.online()
    rig.updates.onAppend = () => Promise.reject(new Error('relation does not exist'))
    const rejected = t.rejects(rig.platform.session.report.events([deleted('a')], 'c1'), {
      message: 'relation does not exist',
    })
    await rig.clock.advance(60_000)
    await rejected
    t.equal(stateOf(actor), 'live.online')
    t.ok(
      rig.store.transitions.some(
        ({ to, reason }) => to === 'waiting' && reason === 'events_not_stored',
      ),
    )
    t.equal(rig.platform.sessions.length, 2)
  },
)

t.test('what follows a batch that failed is not stored before it', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const first = Promise.withResolvers<Appended>()
  rig.updates.onAppend = () => first.promise
  const { report } = rig.platform.session
  const begun = report.events([deleted('a')], 'c1')
  await settled()
  const batches = Promise.all([
    begun,
    report.events([deleted('b')], 'c2'),
    report.events([deleted('c')], 'c3'),
  ])
  await settled()
  rig.updates.onAppend = async () => stored
  first.reject(new Error('disk full'))
  await rig.clock.advance(1_000)
  await batches
  t.same(
    rig.updates.appended.map(({ checkpoint }) => checkpoint),
    ['c1', 'c1', 'c3'],
  )
  t.same(keysOf(rig.updates.appended.at(-1)), ['b', 'c'], 'those that waited go together')
})

t.test('a session that ends while its batch waits for the database is told so', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  rig.updates.onAppend = () => Promise.reject(failed('unavailable'))
  const { report } = rig.platform.session
  const waiting = report.events([deleted('a')], 'c1')
  await settled()
  report.lost('network')
  await refused(t, waiting, { code: 'unavailable', description: 'the session is over' })
  rig.updates.onAppend = async () => stored
  await rig.clock.advance(5_000)
  t.equal(rig.updates.appended.length, 1, 'the next session reports it again')
})

t.test(
  'a session that cannot be begun for want of the database begins when there is one',
  async (t) => {
    const rig = new CredentialRig(t, {})
    let isAway = true
    const account = rig.store.port.account.bind(rig.store.port)
    const store = Object.assign(Object.create(rig.store.port), {
      account: (id: number) => (isAway ? Promise.reject(failed('unavailable')) : account(id)),
    })
    Object.assign(rig.world, { store })
    const actor = rig.activate()
    await settled()
    t.equal(stateOf(actor), 'stalled')
    t.match(rig.store.transitions.at(-1), {
      publicState: 'connecting',
      reason: 'storage',
      action: 'wait',
    })
    await rig.clock.advance(30_000)
    isAway = false
    await rig.clock.advance(1_000)
    t.equal(stateOf(actor), 'live.online')
    t.equal(actor.snapshot.context.losses, 0)
  },
)

t.test(
  'an account begins its session all the same when nobody can say whether the database is back',
  async (t) => {
    let asked = 0
    const recovered = () => Promise.reject(new Error(`boom ${++asked}`))
    const rig = new CredentialRig(t, { storage: { recovered } })
    let isAway = true
    const account = rig.store.port.account.bind(rig.store.port)
    const store = Object.assign(Object.create(rig.store.port), {
      account: (id: number) => (isAway ? Promise.reject(failed('unavailable')) : account(id)),
    })
    Object.assign(rig.world, { store })
    const actor = rig.activate()
    await rig.clock.advance(10_000)
    t.equal(stateOf(actor), 'stalled')
    t.ok(asked >= 9 && asked <= 11, `it tried ${asked} times in ten seconds`)
    isAway = false
    await rig.clock.advance(1_000)
    t.equal(stateOf(actor), 'live.online')

    rig.updates.onAppend = () => Promise.reject(failed('unavailable'))
    const acknowledged = rig.platform.session.report.events([deleted('a')], 'c1')
    await rig.clock.advance(10_000)
    t.equal(stateOf(actor), 'live.online', 'nor does a batch end a session by that')
    rig.updates.onAppend = async () => stored
    await rig.clock.advance(1_000)
    await acknowledged
  },
)

t.test('reports are stored in their order, and those of one moment share a commit', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const { report } = rig.platform.session
  await Promise.all(['c1', 'c2', 'c3'].map((at) => report.events([deleted(at)], at)))
  t.same(rig.updates.appended.flatMap(keysOf), ['c1', 'c2', 'c3'])
  t.equal(rig.updates.appended.at(-1)?.checkpoint, 'c3')
  t.ok(rig.updates.appended.length < 3, `${rig.updates.appended.length} commits`)
})

t.test('what is reported during a commit shares the next one, up to a limit', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const commits = new Set<PromiseWithResolvers<Appended>>()
  rig.updates.onAppend = () => {
    const commit = Promise.withResolvers<Appended>()
    commits.add(commit)
    return commit.promise
  }
  const { report } = rig.platform.session
  const acknowledged: number[] = []
  const tell = async (number: number, events: number) => {
    const keys = Array.from({ length: events }, (_, place) => deleted(`${number}.${place}`))
    await report.events(keys, number)
    acknowledged.push(number)
  }
  const all = [tell(1, 1)]
  await settled()
  for (let number = 2; number <= 7; number++) all.push(tell(number, 150))
  all.push(tell(8, 900), tell(9, 1))
  const commit = async () => {
    await settled()
    for (const { resolve } of commits) resolve(stored)
    commits.clear()
    await settled()
    return acknowledged.splice(0)
  }
  t.same(await commit(), [1])
  t.same(await commit(), [2, 3, 4], 'as many as fit')
  t.same(await commit(), [5, 6, 7])
  t.same(await commit(), [8], 'one alone may be larger')
  t.same(await commit(), [9])
  t.same(
    rig.updates.appended.map(({ checkpoint }) => checkpoint),
    [1, 4, 7, 8, 9],
  )
  await Promise.all(all)
})

t.test(
  'events are stored in every state in which a session lives, without a transition',
  async (t) => {
    const rig = new CredentialRig(t)
    const actor = await rig.online()
    const { report } = rig.platform.session
    const places: string[] = []
    const isStored = async () => {
      places.push(stateOf(actor))
      const { snapshot } = actor
      await report.events([deleted(`in ${places.length}`)], places.length)
      t.equal(actor.snapshot, snapshot, stateOf(actor))
    }
    await isStored()
    report.limited('flood_wait', 60)
    await settled()
    await isStored()
    await rig.clock.advance(60_000)
    await isStored()
    t.same(places, ['live.online', 'live.limited', 'live.online'])
    t.match(rig.updates.appended, [{ checkpoint: 1 }, { checkpoint: 2 }, { checkpoint: 3 }])
  },
)

t.test('events of a session that is over are refused, not stored', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  const old = rig.platform.session
  const slow = Promise.withResolvers<Appended>()
  rig.updates.onAppend = () => slow.promise
  const taken = old.report.events([deleted('a')], 'c1')
  await settled()
  const queued = old.report.events([deleted('b')], 'c2')
  await settled()
  old.report.lost('network')
  await refused(t, queued, { code: 'unavailable' })
  await refused(t, old.report.events([deleted('c')], 'c3'), { code: 'unavailable' })
  await rig.clock.advance(2_000)
  rig.updates.onAppend = async () => stored
  const fresh = rig.platform.session.report.events([deleted('d')], 'c4')
  slow.resolve(stored)
  await Promise.all([taken, fresh])
  t.same(
    rig.updates.appended.map(({ checkpoint }) => checkpoint),
    ['c1', 'c4'],
  )
})

t.test('a late failure of an old session leaves the new one alone', async (t) => {
  const rig = new CredentialRig(t)
  const actor = await rig.online()
  const slow = Promise.withResolvers<Appended>()
  rig.updates.onAppend = () => slow.promise
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
  rig.updates.onAppend = async () => ({ stored: false })
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
  rig.updates.onAppend = () => commit.promise
  const { report, signal } = rig.platform.session
  const taken = report.events([deleted('a')], 'c1')
  await settled()
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
    let poisoned = 0
    rig.updates.onAppend = async ({ happenings }) => {
      if (happenings.some(({ sourceKey }) => sourceKey === 'poison')) {
        if (happenings.length === 1) poisoned++
        throw new EventsUnstorable()
      }
      for (const { sourceKey } of happenings) stored.add(sourceKey)
      return { stored: true, count: happenings.length }
    }
    const events = ['a', 'poison', 'b'].map(deleted)
    const reported = rig.platform.session.report.events(events, 'c1')
    await settled()
    t.same([...stored], ['a'], 'what comes after it waits')
    await rig.clock.advance(5_000)
    await reported
    t.equal(poisoned, 3)
    t.same([...stored], ['a', 'b'])
    t.match(rig.updates.appended.at(-1), { happenings: { length: 0 }, checkpoint: 'c1' })
    t.match(rig.logger.errors.at(-1), { credentialId: 1, sourceKey: 'poison' })
    t.match(rig.store.transitions.at(-1), { event: 'messages.skipped' })
    t.equal(stateOf(actor), 'live.online')
    t.equal(rig.platform.sessions.length, 1)
  },
)

t.test('a database that is away is no reason to leave anything out', async (t) => {
  const rig = new CredentialRig(t)
  await rig.online()
  rig.updates.onAppend = () => Promise.reject(failed('unavailable'))
  const reported = rig.platform.session.report.events([deleted('a')], 'c1')
  await rig.clock.advance(600_000)
  rig.updates.onAppend = async () => stored
  await rig.clock.advance(1_000)
  await reported
  t.match(rig.updates.appended.at(-1), { happenings: [{ sourceKey: 'a' }], checkpoint: 'c1' })
  t.equal(rig.platform.sessions.length, 1)
})
