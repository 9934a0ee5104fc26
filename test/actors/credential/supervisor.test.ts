/** The supervisor: restarts what crashes, gives up visibly, and leaves the others alone. */
import t from 'tap'
import { OwnershipLost } from '../../../machines/model/failure.ts'
import { settled } from '../../support/clock.ts'
import { refused } from '../refused.ts'
import { deleted, factsOf, stateOf } from './rig.ts'
import { SupervisorRig } from './supervisor-rig.ts'

t.test('a credential that crashed is back after a second, and others never notice', async (t) => {
  const rig = new SupervisorRig(t)
  const other = await rig.find(2)
  await rig.find(1)
  await rig.crash(1)
  const resting = await rig.supervisor.find(1)
  await refused(
    t,
    resting.ask({ type: 'operation.perform', operation: { kind: 'describe', chat: 1 }, now: 0 }),
    { code: 'unavailable', description: 'the credential is restarting', retryAfterSeconds: 1 },
  )
  await rig.clock.advance(799)
  t.equal(stateOf(resting), 'crashed', 'not sooner than a fifth before its time')
  await rig.restart(1_000)
  const again = await rig.supervisor.find(1)
  t.equal(stateOf(again), 'live.online')
  t.match(rig.crashes, [{ message: 'boom' }])
  t.equal(await rig.supervisor.find(2), other)
  t.equal(stateOf(other), 'live.online')
})

t.test('a crash is a line of the timeline, and what operators see until it is over', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1)
  await rig.clock.advance(30_000)
  await rig.crash(1)
  t.match(rig.store.transitions.at(-1), {
    from: 'live.online',
    event: 'actor.crashed',
    to: 'crashed',
    publicState: 'degraded',
    reason: 'crashed',
    action: 'wait',
    durationMs: 30_000,
  })
  const lines = rig.store.transitions.length
  await rig.restart(1_000)
  t.match(rig.store.transitions.slice(lines), [
    { from: 'crashed', event: 'after.crashRest', to: 'queued', reason: undefined },
    { from: 'queued', to: 'live.starting' },
    { from: 'live.starting', to: 'live.online', publicState: 'active', reason: undefined },
  ])
})

t.test('one that crashes goes on where it was, and takes no session it had lost', async (t) => {
  const rig = new SupervisorRig(t)
  for (const [index, state] of (['signedOut', 'invalid', 'replaced'] as const).entries()) {
    const id = index + 1
    await rig.find(id, { state, reason: 'policy_violation' })
    await rig.crash(id)
    t.equal(stateOf(await rig.supervisor.find(id)), 'crashed')
    await rig.crash(id)
    await rig.restart(2_000)
    const again = await rig.supervisor.find(id)
    t.equal(stateOf(again), state, 'also after a crash in its rest')
    t.equal(again.snapshot.context.reason, 'policy_violation')
  }
  t.equal(rig.platform.sessions.length, 0)
})

t.test('a restriction of the network outlives a crash, with its own reason', async (t) => {
  for (const reason of ['flood_wait', 'server_overloaded'] as const) {
    const rig = new SupervisorRig(t)
    await rig.find(1)
    rig.platform.session.report.limited(reason, 600)
    await settled()
    if (reason === 'server_overloaded') rig.platform.session.report.lost('network')
    await settled()
    await rig.crash(1)
    await rig.restart(1_000)
    const again = await rig.supervisor.find(1)
    t.equal(stateOf(again), 'live.limited')
    t.equal(again.snapshot.context.reason, reason)
  }
})

t.test('whoever cannot wait restarts a crashed one at once', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1)
  for (let crash = 0; crash < 4; crash++) {
    await rig.crash(1)
    await (await rig.supervisor.find(1)).ask({ type: 'credential.restart' })
    await settled()
    t.equal(stateOf(await rig.supervisor.find(1)), 'live.online')
  }
})

t.test('each crash in a row doubles the pause', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1)
  for (const pause of [1_000, 2_000, 4_000, 8_000]) {
    await rig.crash(1)
    await rig.clock.advance(pause * 0.8 - 1)
    t.equal(stateOf(await rig.supervisor.find(1)), 'crashed', `within ${pause}`)
    await rig.clock.advance(pause * 0.4 + 1)
    t.equal(stateOf(await rig.supervisor.find(1)), 'live.online', `after ${pause}`)
  }
})

t.test('the fifth crash within a minute ends in failed, until somebody restarts it', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1)
  for (let crash = 1; crash < 5; crash++) {
    await rig.crash(1)
    await rig.restart(1_000 * 2 ** (crash - 1))
  }
  await rig.crash(1)
  const failed = await rig.supervisor.find(1)
  t.equal(stateOf(failed), 'failed')
  t.equal(failed.snapshot.context.reason, 'crash_loop')
  t.match(rig.store.transitions.at(-1), {
    from: 'live.online',
    event: 'actor.crashed',
    to: 'failed',
    publicState: 'failed',
    reason: 'crash_loop',
    action: 'restart',
  })
  await rig.clock.advance(3 * 60_000)
  t.equal(stateOf(failed), 'failed')
  await failed.ask({ type: 'credential.restart' })
  await settled()
  t.equal(stateOf(failed), 'live.online')
  await rig.crash(1)
  await rig.restart(1_000)
  t.equal(stateOf(await rig.supervisor.find(1)), 'live.online', 'and the count begins anew')
})

t.test(
  'without anybody it is tried again after five minutes, and fails visibly again',
  async (t) => {
    const rig = new SupervisorRig(t)
    await rig.find(1)
    const giveUp = async () => {
      for (let crash = 1; crash < 5; crash++) {
        await rig.crash(1)
        await rig.restart(1_000 * 2 ** (crash - 1))
      }
      await rig.crash(1)
    }
    for (let round = 0; round < 2; round++) {
      await giveUp()
      const failed = await rig.supervisor.find(1)
      t.equal(stateOf(failed), 'failed')
      await rig.clock.advance(239_000)
      t.equal(stateOf(failed), 'failed')
      await rig.clock.advance(122_000)
      t.equal(stateOf(failed), 'live.online')
      t.ok(rig.store.transitions.some(({ event }) => event === 'after.tryAgain'))
    }
  },
)

t.test('one that crashes while it is deleted is deleted all the same', async (t) => {
  const rig = new SupervisorRig(t)
  const actor = await rig.find(1)
  rig.platform.session.close = () => new Promise(() => {})
  const deletion = refused(t, actor.ask({ type: 'credential.delete' }), { code: 'unavailable' })
  await settled()
  t.equal(stateOf(actor), 'live.leaving')
  await rig.crash(1)
  await deletion
  await rig.restart(1_000)
  await settled()
  t.same(rig.platform.session.closings, [{ signOut: true }])
  t.same(rig.store.deactivated, [1])
  t.equal(rig.supervisor.peek(1), undefined)
})

t.test('a deletion that a stop of the service cut short is carried out', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1, { state: 'deleting' })
  t.same(rig.platform.session.closings, [{ signOut: true }])
  t.same(rig.store.deactivated, [1])
})

t.test('crashes that are far apart never add up', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1)
  for (let crash = 0; crash < 8; crash++) {
    await rig.crash(1)
    await rig.clock.advance(60_000)
    t.equal(stateOf(await rig.supervisor.find(1)), 'live.online')
  }
})

t.test('settings outlive a crash', async (t) => {
  const rig = new SupervisorRig(t)
  const actor = await rig.find(1)
  const settings = { ...actor.snapshot.context.settings, includeSelfUpdates: false }
  await actor.ask({ type: 'credential.settings', settings })
  await rig.crash(1)
  await rig.restart(1_000)
  t.same((await rig.supervisor.find(1)).snapshot.context.settings, settings)
})

t.test('callers of one credential share one claim', async (t) => {
  const rig = new SupervisorRig(t)
  rig.store.facts.set(1, factsOf(1))
  const [one, other] = await Promise.all([rig.supervisor.find(1), rig.supervisor.find(1)])
  t.equal(one, other)
  await settled()
  t.equal(rig.platform.sessions.length, 1)
})

t.test('what does not exist or was deleted is not found, again and again', async (t) => {
  const rig = new SupervisorRig(t)
  await refused(t, rig.supervisor.find(9), { code: 'not_found' })
  await refused(t, rig.find(1, { state: 'deactivated' }), { code: 'not_found' })
  const actor = await rig.find(2)
  await actor.ask({ type: 'credential.delete' })
  await settled()
  rig.store.facts.delete(2)
  await refused(t, rig.supervisor.find(2), { code: 'not_found' })
  t.same([...rig.supervisor.live()], [])
})

t.test('an account that was lost as soon as it was started is at another node', async (t) => {
  const rig = new SupervisorRig(t)
  rig.store.facts.set(1, factsOf(1))
  rig.isRobbed = true
  // By its kind the call is known as one that the next owner can answer.
  for (const asked of [rig.supervisor.find(1), rig.supervisor.platformOf(1)]) {
    t.ok((await asked.catch((cause: unknown) => cause)) instanceof OwnershipLost)
  }
})

t.test('a claim that fails is tried again by the next caller', async (t) => {
  const rig = new SupervisorRig(t)
  await t.rejects(rig.supervisor.find(1))
  t.equal(stateOf(await rig.find(1)), 'live.online')
})

t.test('states that last are taken up again, a failed one gets a new chance', async (t) => {
  const rig = new SupervisorRig(t)
  const states = ['signedOut', 'invalid', 'replaced'] as const
  for (const [index, state] of states.entries()) {
    const actor = await rig.find(index + 1, { state, reason: 'policy_violation' })
    t.equal(stateOf(actor), state)
    t.equal(actor.snapshot.context.reason, 'policy_violation')
  }
  t.equal(rig.platform.sessions.length, 0)
  t.equal(stateOf(await rig.find(4, { state: 'failed', reason: 'crash_loop' })), 'live.online')
})

t.test(
  'an account whose platform is not there waits, says why, and hurts nobody else',
  async (t) => {
    const rig = new SupervisorRig(t)
    const actor = await rig.find(1, { platform: 'gone' })
    t.equal(stateOf(actor), 'waiting')
    t.equal(actor.snapshot.context.reason, 'platform_unavailable')
    t.equal(stateOf(await rig.find(2)), 'live.online')
  },
)

t.test('stopping closes every session and cancels every restart', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1)
  await rig.find(2)
  await rig.crash(1)
  await rig.supervisor.stop()
  await settled()
  t.ok(rig.platform.sessions.every(({ signal }) => signal.aborted))
  t.equal(rig.clock.timers, 0)
  rig.supervisor.adopt(factsOf(3))
  t.equal(rig.supervisor.peek(3), undefined, 'and nothing begins any more')
})

t.test(
  'what another node has claimed ends without a word, and is left to it as long as it lives',
  async (t) => {
    const rig = new SupervisorRig(t)
    const actor = await rig.find(1)
    const { session } = rig.platform
    const lines = rig.store.transitions.length
    t.notOk(rig.supervisor.lose({ credentialId: 1, epoch: 2 }), 'that was an owner before')
    t.ok(rig.supervisor.lose({ credentialId: 1, epoch: 3 }))
    t.notOk(rig.supervisor.lose({ credentialId: 1, epoch: 3 }), 'once')
    t.notOk(actor.isActive)
    await settled()
    t.same(session.closings, [{ signOut: false }])
    t.equal(rig.store.transitions.length, lines)
    t.same([...rig.supervisor.owned()], [])
    rig.store.elsewhere.add(1)
    await refused(t, rig.supervisor.find(1), {
      code: 'unavailable',
      description: 'another node owns the credential',
      retryAfterSeconds: 1,
    })
    rig.store.elsewhere.clear()
    t.equal(stateOf(await rig.find(1, { epoch: 5 })), 'live.online')
    t.match([...rig.supervisor.owned()], [{ credentialId: 1, epoch: 5 }])
  },
)

t.test('one that was linked anew at another node is signed out here', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1)
  const { session } = rig.platform
  t.ok(rig.supervisor.lose({ credentialId: 1, epoch: 3 }, true))
  await settled()
  t.same(session.closings, [{ signOut: true }])
})

t.test('a session of a lost account is closed once it is known how', async (t) => {
  for (const signOut of [true, false]) {
    const rig = new SupervisorRig(t)
    await rig.find(1)
    const { session } = rig.platform
    const happened: string[] = []
    session.onClose = async () => void happened.push('closed')
    rig.updates.onAppend = () => new Promise(() => undefined)
    session.report.events([deleted('a')], 'c1')
    await settled()
    session.report.events([deleted('b')], 'c2').catch(() => happened.push('refused'))
    await settled()
    const answer = Promise.withResolvers<boolean>()
    t.ok(rig.supervisor.lose({ credentialId: 1, epoch: 3 }, answer.promise))
    t.equal(rig.supervisor.peek(1), undefined, 'the account itself is dropped at once')
    await settled()
    t.same(happened, [])
    answer.resolve(signOut)
    await settled()
    t.same(session.closings, [{ signOut }])
    t.same(happened, ['closed', 'refused'], 'a session that is refused first would end by itself')
  }
})

t.test('a session is handed over where its account is given away, and nowhere else', async (t) => {
  const owned = { credentialId: 1, epoch: 3 }
  const ways: readonly (readonly [string, (rig: SupervisorRig) => unknown, boolean])[] = [
    ['given away', (rig) => rig.supervisor.lose(owned, false, true), true],
    ['the service stops', (rig) => rig.supervisor.stop(), true],
    ['claimed by another node', (rig) => rig.supervisor.lose(owned), false],
    ['linked anew', (rig) => rig.supervisor.lose(owned, true, true), false],
    ['crashed', (rig) => rig.crash(1), false],
  ]
  for (const [how, end, isHandedOver] of ways) {
    const rig = new SupervisorRig(t)
    const actor = await rig.find(1)
    const { session } = rig.platform
    const happened: string[] = []
    const stored = Promise.withResolvers<void>()
    session.handOver = async () => {
      happened.push(session.signal.aborted ? 'handed over too late' : 'handed over')
      await stored.promise
      happened.push('stored')
    }
    session.onClose = async () => void happened.push('closed')
    const ending = end(rig)
    await settled()
    if (isHandedOver) {
      t.same(happened, ['handed over'], how)
      void actor.effects.disconnected.then(() => happened.push('let go'))
    }
    stored.resolve()
    await ending
    await settled()
    t.same(happened, isHandedOver ? ['handed over', 'stored', 'closed', 'let go'] : ['closed'], how)
  }
})

t.test('one that is lost while it waits for its restart is not restarted', async (t) => {
  const rig = new SupervisorRig(t)
  await rig.find(1)
  await rig.crash(1)
  t.ok(rig.supervisor.lose({ credentialId: 1, epoch: 3 }))
  await rig.restart(1_000)
  t.equal(rig.supervisor.peek(1), undefined)
  t.equal(rig.clock.timers, 0)
})
