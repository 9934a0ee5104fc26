/** How a credential comes online, stays so, goes deaf, is limited and loses its session. */
import t from 'tap'
import {
  begin,
  command,
  granted,
  invalid,
  limited,
  lost,
  online,
  opened,
  passed,
  perform,
  places,
  probeFailed,
  replaced,
  revoked,
} from './rig.ts'

t.test('it waits for its turn, then opens a session, then proves the round trip', async (t) => {
  const walk = begin()
  t.same(walk.running, ['turn'])
  t.same(walk.send(granted).running, ['session'])
  t.same(walk.send(opened).running, ['probe', 'session'])
  t.same(walk.effects, [], 'the turn is kept until it is known how the start went')
  walk.send(passed)
  t.equal(walk.state, 'live.online.quiet')
  t.same(walk.running, ['session'])
  t.same(walk.effects, [{ type: 'releaseTurn', params: undefined }])
})

t.test('a session that does not open in a minute is given up', async (t) => {
  const walk = begin().send(granted)
  t.equal(walk.timers.openingTakes, 60_000)
  walk.elapse('openingTakes')
  t.equal(walk.state, 'waiting')
  t.equal(walk.snapshot.context.reason, 'network')
  t.same(walk.effects, [{ type: 'releaseTurn', params: undefined }])
  t.same(walk.running, [])
  t.same(walk.timers, { backoff: 1_000 })
})

t.test('an open session whose first probe fails is deaf, never online', async (t) => {
  const walk = begin().send(granted, opened, probeFailed)
  t.equal(walk.state, 'live.deaf.pausing')
  t.equal(walk.snapshot.context.reason, 'no_traffic')
  t.same(walk.effects, [{ type: 'releaseTurn', params: undefined }])
  for (let failures = 2; failures < 4; failures++) {
    walk.elapse('probeAgain').send(probeFailed)
    t.equal(walk.state, 'live.deaf.pausing', `after ${failures}`)
  }
  t.equal(walk.elapse('probeAgain').send(probeFailed).state, 'waiting')
})

t.test('online, it is probed again and again', async (t) => {
  const walk = online()
  for (let round = 0; round < 3; round++) {
    walk.elapse('probeEvery')
    t.equal(walk.state, 'live.online.checking')
    t.same(walk.running, ['probe', 'session'])
    walk.send(passed)
    t.equal(walk.state, 'live.online.quiet')
  }
})

t.test('a failed probe makes it deaf; a probe that passes brings it back', async (t) => {
  const walk = online().elapse('probeEvery').send(probeFailed)
  t.equal(walk.state, 'live.deaf.pausing')
  t.same(walk.running, ['session'], 'the session is kept')
  walk.elapse('probeAgain')
  t.same(walk.running, ['probe', 'session'])
  walk.send(passed)
  t.equal(walk.state, 'live.online.quiet')
  t.equal(walk.snapshot.context.reason, undefined)
  t.equal(walk.snapshot.context.failedProbes, 0)
})

t.test('the fourth failed probe in a row renews the session', async (t) => {
  const walk = online().elapse('probeEvery').send(probeFailed)
  for (let failures = 2; failures < 4; failures++) {
    walk.elapse('probeAgain').send(probeFailed)
    t.equal(walk.state, 'live.deaf.pausing', `after ${failures}`)
  }
  walk.elapse('probeAgain').send(probeFailed)
  t.equal(walk.state, 'waiting')
  t.equal(walk.snapshot.context.reason, 'no_traffic')
  t.same(walk.running, [])
})

t.test('a session that is renewed counts as lost, with a pause of its own', async (t) => {
  const later = { type: 'session.lost', reason: 'network', retryAfterMs: 300_000 } as const
  const walk = online().send(later).elapse('backoff').send(granted, opened, probeFailed)
  for (let failures = 2; failures <= 4; failures++) walk.elapse('probeAgain').send(probeFailed)
  t.same(walk.timers, { backoff: 2_000 }, 'not that of the loss before')
  t.equal(walk.snapshot.context.failedProbes, 0)
})

t.test('probes that pass in between start the count anew', async (t) => {
  const walk = online()
  for (let round = 0; round < 5; round++) {
    walk.elapse('probeEvery').send(probeFailed)
    t.equal(walk.state, 'live.deaf.pausing')
    walk.elapse('probeAgain').send(passed)
  }
  t.equal(walk.state, 'live.online.quiet')
})

t.test('each loss doubles the pause, up to a minute', async (t) => {
  const walk = begin()
  const pauses = Array.from({ length: 9 }, () => {
    walk.send(granted, lost)
    const pause = walk.timers.backoff
    walk.elapse('backoff')
    return pause
  })
  t.same(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

t.test('a minute online forgets earlier losses, less does not', async (t) => {
  const back = () => online().send(lost).elapse('backoff').send(granted, opened, passed)
  t.equal(back().send(lost).timers.backoff, 2_000)
  t.equal(back().elapse('steady').send(lost).timers.backoff, 1_000)
})

t.test('a network that says when to come back is heard', async (t) => {
  const walk = online().send({
    type: 'session.lost',
    reason: 'server_overloaded',
    retryAfterMs: 90_000,
  })
  t.equal(walk.timers.backoff, 90_000)
  t.equal(walk.snapshot.context.reason, 'server_overloaded')
  walk.elapse('backoff').send(granted, lost)
  t.equal(walk.timers.backoff, 2_000, 'only once')
})

t.test('a session that is over for good stops the credential, with its reason', async (t) => {
  const endings = [
    [replaced, 'replaced', 'replaced_elsewhere'],
    [revoked, 'signedOut', 'session_revoked'],
    [invalid, 'invalid', 'account_banned'],
  ] as const
  const live = ['live.starting.opening', 'live.starting.verifying', 'live.online.checking'] as const
  for (const place of [...live, 'live.deaf.pausing', 'live.limited.quiet'] as const) {
    for (const [event, state, reason] of endings) {
      const walk = places[place]().send(event)
      t.equal(walk.state, state, place)
      t.equal(walk.snapshot.context.reason, reason)
      t.same(walk.running, [])
      const comesBack = state === 'replaced' ? { tryAgain: 300_000 } : {}
      t.same(walk.timers, comesBack, 'nothing else brings it back by itself')
    }
  }
})

t.test('a refusal that may pass is believed the second time', async (t) => {
  const doubted = { ...revoked, mayPass: true } as const
  const walk = online().send(doubted)
  t.equal(walk.state, 'waiting')
  t.equal(walk.snapshot.context.reason, 'session_revoked')
  t.equal(walk.timers.backoff, 20_000)
  walk.elapse('backoff').send(granted, doubted)
  t.equal(walk.state, 'signedOut')
  t.equal(walk.snapshot.context.reason, 'session_revoked')

  const back = online().send(doubted).elapse('backoff').send(granted, lost)
  back.elapse('backoff').send(granted, opened, passed)
  t.equal(back.state, 'live.online.quiet', 'it had passed')
  t.equal(back.send(doubted).state, 'waiting', 'and the next one is another')
  t.equal(online().send(doubted, command('relinked')).send(granted, doubted).state, 'waiting')

  const held = online().send(limited(30_000, 130_000), doubted).elapse('backoff')
  held.send(granted, opened, passed)
  t.equal(held.state, 'live.limited.quiet', 'let in, though the restriction goes on')
  t.equal(held.send(doubted).state, 'waiting')
  t.equal(begin().send(granted, doubted).state, 'waiting', 'so is the first one after a start')
})

t.test('it is probed each minute, four times as often while it is silent', async (t) => {
  t.same(online().timers, { probeEvery: 60_000, steady: 60_000, settled: 3_600_000 })
  t.same(begin().send(granted, opened, probeFailed).timers, { probeAgain: 15_000 })
})

t.test('reports of a session that is gone change nothing', async (t) => {
  for (const event of [opened, lost, replaced, revoked, invalid, limited(1, 1)]) {
    for (const place of ['queued', 'waiting', 'signedOut', 'failed'] as const) {
      const walk = places[place]().send(event)
      t.equal(walk.state, place, `${event.type} in ${place}`)
    }
  }
})

t.test('a flood wait refuses until its time, in the words of the reference', async (t) => {
  const walk = online().send(limited(30_000, 130_000))
  t.equal(walk.state, 'live.limited.quiet')
  t.equal(walk.timers.limitEnds, 30_000)
  t.equal(walk.snapshot.context.reason, 'flood_wait')
  const retry = (now: number) => {
    const outcome = walk.send(perform('p', now)).outcome
    return outcome && !outcome.ok && outcome.failure.retryAfterSeconds
  }
  t.equal(retry(100_000), 30)
  t.equal(retry(100_001), 30, 'rounded up')
  t.equal(retry(129_999), 1)
  t.equal(retry(130_500), 1, 'never less than a second')
})

t.test('a repeated flood wait counts from its own time', async (t) => {
  const walk = online().send(limited(30_000, 30_000), limited(90_000, 95_000))
  t.equal(walk.timers.limitEnds, 90_000)
  t.equal(walk.snapshot.context.limit.until, 95_000)
})

t.test('a restricted account that falls silent is found, and is restricted still', async (t) => {
  const walk = online().send(limited(30_000, 30_000)).elapse('probeEvery')
  t.same(walk.running, ['probe', 'session'])
  walk.send(probeFailed)
  t.equal(walk.state, 'live.deaf.pausing')
  t.equal(walk.snapshot.context.reason, 'no_traffic')
  walk.elapse('probeAgain').send(passed)
  t.equal(walk.state, 'live.limited.quiet')
  t.match(walk.snapshot.context, { reason: 'flood_wait', failedProbes: 0 })
  t.ok('limitEnds' in walk.timers)
  walk.elapse('probeEvery').send(passed)
  t.equal(walk.state, 'live.limited.quiet')
})

t.test('one that crashed again and again is tried every five minutes', async (t) => {
  const walk = begin({ resume: 'failed', reason: 'crash_loop' })
  t.same(walk.timers, { tryAgain: 300_000 })
  walk.elapse('tryAgain')
  t.equal(walk.state, 'queued')
  t.equal(walk.snapshot.context.reason, undefined)
  t.same(walk.send(granted, opened, passed).state, 'live.online.quiet')
})

t.test(
  'one that was replaced is tried once more after five minutes, and then left alone',
  async (t) => {
    const walk = online().send(replaced).elapse('tryAgain')
    t.equal(walk.state, 'queued')
    t.equal(walk.snapshot.context.reason, undefined)
    walk.send(granted, opened, passed).elapse('steady').send(replaced)
    t.equal(walk.elapse('tryAgain').state, 'replaced', 'two clients would take it from each other')
    for (const wish of ['restart', 'relinked'] as const) {
      const again = online().send(replaced).elapse('tryAgain').send(granted, replaced)
      again.send(command(wish), granted, opened, passed, replaced)
      t.equal(again.elapse('tryAgain').state, 'queued', `after ${wish} it may be tried again`)
    }
    const settled = online().send(replaced).elapse('tryAgain').send(granted, opened, passed)
    settled.elapse('settled').send(replaced)
    t.equal(settled.elapse('tryAgain').state, 'queued', 'another incident, an hour later')
  },
)

t.test('a session that the network has just answered needs no probe', async (t) => {
  const answered = { type: 'session.opened', isProven: true } as const
  const walk = begin().send(granted, answered)
  t.equal(walk.state, 'live.online.quiet')
  t.same(walk.running, ['session'])
  const limit = { reason: 'flood_wait' as const, forMs: 5_000, until: 9_000 }
  t.equal(begin({ limit }).send(granted, answered).state, 'live.limited.quiet')
})

t.test('after a flood wait the round trip is proved before anything is taken up', async (t) => {
  const walk = online().send(limited(30_000, 30_000)).elapse('limitEnds')
  t.equal(walk.state, 'live.starting.verifying')
  t.same(walk.running, ['probe', 'session'])
  t.equal(walk.send(passed).state, 'live.online.quiet')
})

t.test('a flood wait outlives a lost session and a restart of the service', async (t) => {
  const again = online().send(limited(30_000, 30_000), lost).elapse('backoff')
  t.equal(again.send(granted, opened, passed).state, 'live.limited.quiet')
  const limit = { reason: 'flood_wait' as const, forMs: 5_000, until: 9_000 }
  const restarted = begin({ limit }).send(granted, opened, passed)
  t.equal(restarted.state, 'live.limited.quiet')
  t.equal(restarted.timers.limitEnds, 5_000)
})

t.test('an account that is restarted or linked again has a clean record', async (t) => {
  for (const wish of ['restart', 'relinked'] as const) {
    const walk = begin({ crashes: [0, 1, 2] }).send(command(wish))
    t.equal(walk.state, 'queued')
    t.same(walk.snapshot.context.crashes, [], wish)
  }
})

t.test('a restart lifts a flood wait that the operator knows better about', async (t) => {
  const walk = online().send(limited(30_000, 30_000), command('restart'), granted, opened, passed)
  t.equal(walk.state, 'live.online.quiet')
})
