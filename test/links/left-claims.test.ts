/** A link flow that is ended while its account is about to be linked: it is linked or signed out, never both. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { LinkStep } from '../../actors/ports/platform.ts'
import { failureOf } from '../support/accounts.ts'
import { until } from '../support/client.ts'
import { MINUTE, scene } from './left-scene.ts'

/** Within it an actor that has begun would do what it must not do. */
const QUIET_MS = 300

const account = { native: 'somebody', firstName: 'Bo' }
const done: LinkStep = { kind: 'done', account, secrets: 'the session' }
const over = { reason: 'link_over', description: 'the link session is over; start again' }

/** A flow whose account the network has accepted, while the row of its user is locked. */
async function accepted(t: Parameters<typeof scene>[0]) {
  const all = await scene(t)
  const { db, network, node, processOf, begun, userId } = all
  const here = await node()
  const flow = await begun(here, -MINUTE)
  network.answer = async () => done
  const { flows, store } = processOf(here)
  const { actor } = await flows.find(flow, userId)
  const [locked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = db.transaction(async (tx) => {
    await tx.query('select from app_user where id = $1 for no key update', [userId])
    locked.resolve()
    await free.promise
  })
  await locked.promise
  const finishing = Promise.withResolvers<void>()
  const { finish } = store
  store.finish = (...link) => {
    finishing.resolve()
    return finish.apply(store, link)
  }
  const verified = actor.ask({ type: 'link.verify', password: 'x' }).then(
    () => 'linked',
    () => 'refused',
  )
  await finishing.promise
  const unlock = async () => {
    free.resolve()
    await holding
  }
  return { ...all, here, flow, flows, actor, verified, unlock }
}

t.test('a suspension leaves an account that is being linked to its actor', async (t) => {
  const { network, flow, flows, actor, verified, unlock, stored, userId } = await accepted(t)
  await flows.endAll(userId)
  t.equal((await flows.find(flow, userId)).actor, actor, 'no second one begins')
  await pause(QUIET_MS)
  t.same(network.ended, [])
  await unlock()
  t.equal(await verified, 'linked')
  await stored({ state: 'linked', sealed: false })
  await pause(QUIET_MS)
  t.same(network.ended, [])
})

t.test('what the next actor has signed out, the one before links no more', async (t) => {
  const { db, network, flow, flows, actor, unlock, stored, userId } = await accepted(t)
  const accounts = await db.query('select id from credential', [])
  await actor.ask({ type: 'link.cancel' })
  // As a crash does it, or a node that takes the flow.
  actor.stop()
  await flows.find(flow, userId)
  await until(() => network.ended.length > 0)
  await unlock()
  await pause(QUIET_MS)
  await stored({ state: 'cancelled', sealed: false })
  t.same(await db.query('select id from credential', []), accounts)
})

t.test('what the actor before has linked, the next one does not sign out', async (t) => {
  const { network, here, flow, processOf, actor, unlock, stored, userId } = await accepted(t)
  await actor.ask({ type: 'link.cancel' })
  actor.stop()
  const next = processOf(here)
  const { claimLeft } = next.store
  next.store.claimLeft = async (id) => {
    await unlock()
    await stored({ state: 'linked', sealed: false })
    return claimLeft.call(next.store, id)
  }
  await next.flows.find(flow, userId)
  await pause(QUIET_MS)
  t.same(network.ended, [])
})

t.test(
  'whoever signs a session out has claimed its flow, which has to be over and its own',
  async (t) => {
    const { db, node, processOf, begun } = await scene(t)
    const [here, there] = [await node(), await node()]
    const { store } = processOf(here)
    const flow = await begun(here, -MINUTE)
    t.equal(await store.claimLeft(flow), false, 'it is open')
    await store.saveEnd(flow, 'cancelled', 5)
    t.equal(await processOf(there).store.claimLeft(flow), false, 'of another node')
    t.equal(await store.claimLeft(flow), true)
    t.equal(await store.claimLeft(flow), true, 'once more, where the answer was lost')
    t.match(await failureOf(store.finish(flow, account, 'late')), over)

    const linked = await begun(here, -MINUTE)
    await store.saveEnd(linked, 'cancelled', 5)
    t.ok(await store.finish(linked, account, 'secrets'))
    t.equal(await store.claimLeft(linked), false, 'an account has the session')
    await db.query('delete from link_session', [])
    t.equal(await store.claimLeft(flow), true, 'one that is gone can be linked no more')
  },
)

t.test('flows of a user are cancelled also where their node has ended', async (t) => {
  const { network, node, hasEnded, processOf, begun, stored, userId } = await scene(t)
  const [before, here] = [await node(), await node()]
  await begun(before, -MINUTE)
  await hasEnded(before)
  await processOf(here).flows.endAll(userId)
  await stored({ state: 'cancelled', sealed: false })
  t.same(network.ended, ['flow 1'])
})

t.test('and signed out also where a code was scanned meanwhile', async (t) => {
  const { network, node, hasEnded, processOf, begun, stored, userId } = await scene(t)
  const [before, here] = [await node(), await node()]
  await begun(before, -MINUTE, 'waiting')
  await hasEnded(before)
  network.step = done
  await processOf(here).flows.endAll(userId)
  await stored({ state: 'cancelled', sealed: false })
  t.same(network.ended, ['the session'])
})
