/** Who joins, beats, is suspended, and is declared gone. */
import t from 'tap'
import { Membership } from '../../../actors/node/actor.ts'
import type { Clock } from '../../../actors/ports/ports.ts'
import { settled } from '../../support/clock.ts'
import { FakeLogger } from '../../support/fakes.ts'
import { quietLogger } from '../../support/logger.ts'
import { nodes, Rows, Way } from './rig.ts'

t.test('a node that has joined is up, and sees itself', async (t) => {
  const { rows, clock, all } = await nodes(1)
  const [{ node }] = all
  t.match(node.view, { incarnation: 1, state: 'up', rows: [{ name: 'node-1', state: 'up' }] })
  const before = rows.of(node)?.beats ?? 0
  await clock.advance(10_000)
  t.equal((rows.of(node)?.beats ?? 0) - before, 40)
  await node.leave()
  t.same(rows.states(), ['left'])
  t.equal(clock.timers, 0)
})

t.test(
  'a node that is declared gone before its first beat joins anew, and its start goes on',
  async (t) => {
    const rows = new Rows()
    const way = new Way(rows)
    const node = new Membership({ table: way, clock: rows.clock, logger: quietLogger })
    const { beat } = way
    way.beat = async (incarnation, state) => {
      const [first] = rows.all
      if (incarnation === 1 && first) first.state = 'gone'
      return beat.call(way, incarnation, state)
    }
    let hasJoined = false
    const joined = node.join().then(() => {
      hasJoined = true
    })
    await rows.clock.advance(1_000)
    t.ok(hasJoined)
    await joined
    t.match(node.view, { incarnation: 2, state: 'up' })
    t.same(rows.states(), ['gone', 'up'])
    await node.leave()
  },
)

t.test('a node that the database does not let join says why', async (t) => {
  const rows = new Rows()
  const way = new Way(rows)
  way.isCut = true
  const node = new Membership({ table: way, clock: rows.clock, logger: quietLogger })
  await t.rejects(node.join(), { message: 'the database does not answer' })
  way.isCut = false
  await rows.clock.advance(1_000)
  t.same(rows.all, [], 'and it does not try again')
})

t.test('a node that leaves before it has joined leaves no row behind', async (t) => {
  const rows = new Rows()
  const way = new Way(rows)
  const answer = Promise.withResolvers<void>()
  const join = way.join.bind(way)
  way.join = async () => {
    await answer.promise
    return join()
  }
  const node = new Membership({ table: way, clock: rows.clock, logger: quietLogger })
  void node.join()
  await node.leave()
  answer.resolve()
  await rows.clock.advance(1_000)
  t.same(rows.states(), ['left'])
  t.equal(rows.all[0]?.beats, 0)
})

t.test('a node drains by an order, and comes back without it', async (t) => {
  const { rows, clock, all } = await nodes(2)
  const [{ node }] = all
  const order = (isToDrain: boolean) => Object.assign(rows.of(node) ?? {}, { isToDrain })
  order(true)
  await clock.advance(1_000)
  t.equal(node.view.state, 'draining')
  t.same(rows.states(), ['draining', 'up'])
  order(false)
  await clock.advance(1_000)
  t.equal(node.view.state, 'up')
  t.same(rows.states(), ['up', 'up'])
  order(true)
  await clock.advance(1_000)
  node.drain()
  order(false)
  await clock.advance(1_000)
  t.equal(node.view.state, 'draining', 'a process that stops does not turn back')
})

t.test('three nodes see each other, and one that drains', async (t) => {
  const { clock, all } = await nodes(3)
  for (const { node } of all) t.equal(node.view.rows.length, 3)
  all[2]?.node.drain()
  await clock.advance(500)
  const states = all[0].node.view.rows.map(({ state }) => state)
  t.same(states, ['up', 'up', 'draining'])
  await all[2]?.node.leave()
  await clock.advance(500)
  t.equal(all[0].node.view.rows.length, 2)
})

t.test('a node without its database is suspended after seven seconds, and up again', async (t) => {
  const { rows, clock, all } = await nodes(1)
  const [{ node, way }] = all
  way.isCut = true
  await clock.advance(6_500)
  t.equal(node.view.state, 'up')
  await clock.advance(600)
  t.equal(node.view.state, 'suspended')
  t.ok(node.view.beatAgeMs > 7_000)
  way.isCut = false
  await clock.advance(300)
  t.equal(node.view.state, 'up')
  t.same(rows.states(), ['up'], 'nobody else was there to declare it gone')
})

t.test('a crashed node is gone within a second; the others stay', async (t) => {
  const { rows, clock, all } = await nodes(3)
  const dead = all[2]?.way as Way
  dead.isCut = true
  Object.assign(rows.all[2] ?? {}, { isLocked: false })
  await clock.advance(1_000)
  t.same(rows.states(), ['up', 'up', 'gone'])
})

t.test(
  'a late answer is followed by the next beat at once, and counts from its sending',
  async (t) => {
    const rows = new Rows()
    const way = new Way(rows)
    const heard: number[] = []
    const { clock } = rows
    const started = clock.now()
    const node = new Membership({
      table: way,
      clock,
      logger: quietLogger,
      heard: (sentAt) => void heard.push(sentAt - started),
    })
    await node.join()
    const { beat } = way
    way.beat = async (...sent) => {
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 2_000))
      return beat.apply(way, sent)
    }
    await clock.advance(6_500)
    t.same(heard, [0, 250, 2_250, 4_250])
    t.equal(clock.timers, 2, 'the answer to the fourth, and the lease')
    await node.leave()
    await clock.advance(5_000)
    t.equal(clock.timers, 0, 'the answer to the fourth has no beat follow it')
  },
)

t.test('a node hears of each change among the nodes, once', async (t) => {
  const rows = new Rows()
  const { clock } = rows
  let news = 0
  const world = { table: new Way(rows), clock, logger: quietLogger }
  const node = new Membership({ ...world, membersChanged: () => void news++ })
  const other = new Membership(world)
  const next = async () => {
    news = 0
    await clock.advance(10_000)
    return news
  }
  await node.join()
  t.equal(await next(), 0)
  await other.join()
  t.equal(await next(), 1)
  other.drain()
  t.equal(await next(), 1)
  await other.leave()
  t.equal(await next(), 1)
  await node.leave()
})

t.test('whoever fails at news of the nodes does not stop the beats', async (t) => {
  const rows = new Rows()
  const logger = new FakeLogger()
  let news = 0
  const node = new Membership({
    table: new Way(rows),
    clock: rows.clock,
    logger,
    membersChanged() {
      if (++news === 1) throw new Error('a defect of whoever hears it')
    },
  })
  const joined = node.join()
  await rows.clock.advance(10_000)
  await joined
  t.match(node.view, { state: 'up' })
  t.equal(rows.of(node)?.beats, 41)
  t.match(logger.errors, [{ text: 'a beat of this node has met a defect' }])
  await node.leave()
})

t.test('a silent node is gone after ten seconds; it comes back as another', async (t) => {
  const { rows, clock, all } = await nodes(2)
  const [, silent] = all
  if (silent) silent.way.isCut = true
  await clock.advance(9_500)
  t.same(rows.states(), ['up', 'up'])
  await clock.advance(1_000)
  t.same(rows.states(), ['up', 'gone'])
  t.equal(silent?.node.view.state, 'suspended')
  if (silent) silent.way.isCut = false
  await clock.advance(1_000)
  t.same(rows.states(), ['up', 'gone', 'up'])
  t.match(silent?.node.view, { incarnation: 3, state: 'up' })
})

t.test('until it comes back it has the number under which it can claim nothing', async (t) => {
  const { clock, all } = await nodes(2)
  const [, silent] = all
  const way = silent?.way as Way
  const node = silent?.node as Membership
  way.isCut = true
  await clock.advance(10_500)
  const joining = Promise.withResolvers<void>()
  const join = way.join.bind(way)
  way.join = async () => {
    await joining.promise
    return join()
  }
  way.isCut = false
  await clock.advance(1_000)
  t.match(node.view, { incarnation: 2, state: 'joining' })
  joining.resolve()
  await clock.advance(1_000)
  t.match(node.view, { incarnation: 3, state: 'up' })
})

t.test(
  'a node that is declared gone while it stops drops its accounts, and stays away',
  async (t) => {
    const rows = new Rows()
    let dropped = 0
    const declaredGone = () => void dropped++
    const { clock } = rows
    const node = new Membership({ table: new Way(rows), clock, logger: quietLogger, declaredGone })
    await node.join()
    node.drain()
    Object.assign(rows.all[0] ?? {}, { state: 'gone' })
    await clock.advance(2_000)
    t.equal(dropped, 1)
    t.same(rows.states(), ['gone'])
    t.equal(clock.timers, 0, 'it beats no more')
    await node.leave()
    t.equal(dropped, 1)
  },
)

t.test('a node whose actor crashes drops its accounts, because it joins as another', async (t) => {
  const { clock, ...rows } = new Rows()
  const logger = new FakeLogger()
  let dropped = 0
  let isBroken = false
  const world: Clock = {
    now: () => clock.now(),
    steadyNow: () => clock.steadyNow(),
    setTimeout(work, milliseconds) {
      // The timer of the lease belongs to the machine itself.
      if (isBroken && milliseconds > 6_000) throw new Error('boom')
      return clock.setTimeout(work, milliseconds)
    },
    clearTimeout: (timer) => clock.clearTimeout(timer as number),
  }
  const table = new Way({ ...rows, clock } as Rows)
  const declaredGone = () => void dropped++
  const node = new Membership({ table, clock: world, logger, declaredGone })
  await node.join()
  isBroken = true
  await clock.advance(250)
  isBroken = false
  t.match(logger.errors, [{ text: 'the actor of this node crashed' }])
  t.match(node.view, { incarnation: 1, state: 'gone' }, 'not up: its number ends')
  t.equal(dropped, 1)
  await clock.advance(1_000)
  t.match(node.view, { incarnation: 2, state: 'up' })
  await node.leave()
})

t.test('a database that was away for all has nobody declared gone', async (t) => {
  const { rows, clock, all } = await nodes(3)
  for (const { way } of all) way.isCut = true
  await clock.advance(20_000)
  for (const row of rows.all) row.isLocked = false
  // The first is back a second before the others.
  for (const { way } of all) {
    way.isCut = false
    await clock.advance(1_000)
  }
  await clock.advance(10_000)
  t.same(rows.states(), ['up', 'up', 'up'])
})

t.test('nor one that was away for the time of one beat', async (t) => {
  const { rows, clock, all } = await nodes(2)
  const [first, second] = all
  for (const { way } of all) way.isCut = true
  await clock.advance(250)
  for (const row of rows.all) row.isLocked = false
  first.way.isCut = false
  await clock.advance(2_000)
  t.ok((rows.of(first.node)?.beats ?? 0) > 8, 'the first is back')
  if (second) second.way.isCut = false
  await clock.advance(10_000)
  t.same(rows.states(), ['up', 'up'])
})

t.test('an outage of the database is one line, however many beats it takes', async (t) => {
  const rows = new Rows()
  const logger = new FakeLogger()
  const way = new Way(rows)
  const node = new Membership({ table: way, clock: rows.clock, logger })
  await node.join()
  const line = 'the database did not answer a beat of this node'
  for (const lines of [[line], [line, line]]) {
    way.isCut = true
    await rows.clock.advance(2_000)
    t.same(logger.warnings, lines)
    way.isCut = false
    await rows.clock.advance(1_000)
  }
  await node.leave()
})

t.test('a node that beats at the last moment is not declared gone', async (t) => {
  const { rows, clock, all } = await nodes(2)
  const [first, second] = all
  const declare = first.way.declareGone.bind(first.way)
  let outcome: boolean | undefined
  first.way.declareGone = async (row) => {
    if (second) second.way.isCut = false
    await second?.way.beat(2, 'up')
    outcome = await declare(row)
    return outcome
  }
  if (second) second.way.isCut = true
  await clock.advance(10_500)
  await settled()
  t.equal(outcome, false)
  t.same(rows.states(), ['up', 'up'])
})
