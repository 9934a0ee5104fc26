/** Link flows that nobody was there to end: the session that the network has opened for one is signed out, once. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { failureOf } from '../support/accounts.ts'
import { until } from '../support/client.ts'
import { MINUTE, scene } from './left-scene.ts'

/** Within it an actor that has begun would do what it must not do. */
const QUIET_MS = 300

const expired = { state: 'expired', sealed: false } as const

t.test(
  'a flow whose time is over while no process runs is ended, by one of all nodes',
  async (t) => {
    const { network, node, hasEnded, processOf, begun, stored } = await scene(t)
    const [before, here, there] = [await node(), await node(), await node()]
    await begun(before, MINUTE)
    const [one, two] = [processOf(here), processOf(there)]
    await one.flows.endLeft()
    await pause(QUIET_MS)
    t.same(network.ended, [], 'not while its node lives')
    await hasEnded(before)
    await Promise.all([one.flows.endLeft(), two.flows.endLeft()])
    await stored(expired)
    await processOf(await node()).flows.endLeft()
    await pause(QUIET_MS)
    t.same(network.ended, ['flow 1'], 'and never again')
  },
)

t.test('one that is asked for after its time, too', async (t) => {
  const { db, network, node, hasEnded, processOf, begun, stored, userId } = await scene(t)
  const [before, here] = [await node(), await node()]
  const flow = await begun(before, 1)
  await hasEnded(before)
  const { actor } = await processOf(here).flows.find(flow, userId)
  t.equal(actor.snapshot.value, 'expired')
  await stored(expired)
  t.same(network.ended, [flow])
  t.same(await db.query('select node from link_session', []), [{ node: here }])
})

t.test('a code that was scanned meanwhile has signed in the session that is ended', async (t) => {
  const { network, node, processOf, begun, stored } = await scene(t)
  const here = await node()
  await begun(here, MINUTE, 'waiting')
  const account = { native: 'somebody', firstName: 'Bo' }
  network.step = { kind: 'done', account, secrets: 'of the scan' }
  await processOf(here).flows.endLeft()
  await stored(expired)
  t.same(network.ended, ['of the scan'])
})

t.test('what a process had no more time for is done after its restart', async (t) => {
  const { network, node, hasEnded, processOf, begun, stored } = await scene(t)
  const [before, here] = [await node(), await node()]
  await begun(before, MINUTE, 'cancelled')
  await begun(before, MINUTE, 'failed')
  await begun(before, -MINUTE)
  await hasEnded(before)
  await processOf(here).flows.endLeft()
  await stored(
    { state: 'cancelled', sealed: false },
    { state: 'failed', sealed: false },
    { state: 'password_needed', sealed: true },
  )
  t.same(network.ended.toSorted(), ['flow 1', 'flow 2'])
})

t.test(
  'a network that is away is asked again by another actor, or once it is available',
  async (t) => {
    const { network, platform, node, processOf, begun, rows, stored } = await scene(t)
    const here = await node()
    await begun(here, MINUTE)
    platform.unavailable = 'not configured'
    const first = processOf(here)
    await first.flows.endLeft()
    await pause(QUIET_MS)
    t.match(await rows(), [{ state: 'password_needed', sealed: true }])
    platform.unavailable = ''
    network.isAway = true
    await first.flows.endLeft()
    await until(() => first.logger.warnings.length > 0)
    t.match(await rows(), [{ state: 'expired', sealed: true }])
    network.isAway = false
    await processOf(here).flows.endLeft()
    await stored(expired)
    t.same(network.ended, ['flow 1'])
  },
)

t.test('a secret that nobody can read keeps nothing from its end, and is given up', async (t) => {
  const { db, network, node, processOf, begun, stored } = await scene(t)
  const here = await node()
  await begun(here, MINUTE)
  await begun(here, MINUTE, 'cancelled')
  await begun(here, MINUTE)
  await db.query(`update link_session set stored = '\\x00' where id <> 'flow 3'`, [])
  await processOf(here).flows.endLeft()
  await stored(expired, { state: 'cancelled', sealed: false }, expired)
  t.same(network.ended, ['flow 3'])
})

/** More than one look takes up. */
const MANY = 25

/** So many flows like the first, all of them over for longer. */
const moreLike = `
  insert into link_session
    (id, user_id, platform, method, state, stored, attempts_left, expires_at, node)
  select id || '-' || n, user_id, $1, method, state, stored, attempts_left,
         expires_at - interval '1 minute', node
    from link_session, generate_series(1, ${MANY}) n`

t.test('flows of a network that is not available keep no other from its end', async (t) => {
  const { db, network, node, processOf, begun } = await scene(t)
  const here = await node()
  await begun(here, MINUTE)
  await db.query(moreLike, ['of another version'])
  await processOf(here).flows.endLeft()
  await until(() => network.ended.length > 0)
  t.same(network.ended, ['flow 1'])
})

t.test('nor do flows that cannot be loaded now, which are told once for each look', async (t) => {
  const { db, network, node, processOf, begun } = await scene(t)
  const here = await node()
  await begun(here, MINUTE)
  await db.query(moreLike, ['test'])
  const { flows, store, logger } = processOf(here)
  const { load } = store
  let loads = 0
  store.load = async (id) => {
    loads++
    if (id !== 'flow 1') throw new Error('the key file lacks a key')
    return load.call(store, id)
  }
  await flows.endLeft()
  t.same([loads, logger.warnings.length, network.ended], [20, 1, []])
  await flows.endLeft()
  await until(() => network.ended.length > 0)
  t.same([loads, logger.warnings.length, network.ended], [MANY + 1, 2, ['flow 1']])
  await flows.endLeft()
  t.equal(loads, MANY + 1 + 20, 'they are tried again, from the first')
})

t.test('two nodes never run one flow', async (t) => {
  const { db, network, node, hasEnded, processOf, begun, userId } = await scene(t)
  const [before, here, there] = [await node(), await node(), await node()]
  const flow = await begun(before, -MINUTE)
  const { flows } = processOf(here)
  const elsewhere = {
    ...{ code: 'unavailable', description: 'the link session is at another node' },
    retryAfterSeconds: 1,
  }
  t.match(await failureOf(flows.find(flow, userId)), elsewhere, 'its node lives')
  await hasEnded(before)
  const { actor, link } = await flows.find(flow, userId)
  t.match(actor.snapshot.value, { open: 'password_needed' })
  t.equal(link.node, here)
  t.match(
    await failureOf(processOf(there).flows.find(flow, userId)),
    elsewhere,
    'another has taken it',
  )
  t.same(await db.query('select state, node from link_session', []), [
    { state: 'password_needed', node: here },
  ])
  t.same(network.ended, [])
})
