/** A user is erased while a network does not answer: what it has signed in for a link flow is signed out later. */
import t, { type Test } from 'tap'
import type { LinkStep } from '../../actors/ports/platform.ts'
import { Eraser } from '../../src/privacy/erase.ts'
import { MINUTE, scene } from '../links/left-scene.ts'
import { failureOf } from '../support/accounts.ts'
import { until } from '../support/client.ts'
import { FakeLogger } from '../support/fakes.ts'

/** A node where the user of a flow is erased. */
async function erasing(t: Test) {
  const { db, vault, network, node, processOf, begun, rows, userId } = await scene(t)
  const here = await node()
  const flow = await begun(here, -MINUTE)
  const logger = new FakeLogger()
  const nothing = async () => undefined
  const eraserOf = ({ flows }: ReturnType<typeof processOf>) => {
    const eraser = new Eraser({
      ...{ db, vault, logger, deleteAccount: nothing, owns: () => false, tellOthers: nothing },
      ...{ signOut: nothing, forgetKeys: nothing, flush: nothing, sweepFiles: nothing },
      endLinks: async (id) => {
        await flows.endAll(id)
        await flows.signedOut(id)
      },
    })
    flows.onErased((id) => void eraser.goOn(id))
    return eraser
  }
  const userIsGone = async () =>
    (await db.query('select from app_user where id = $1', [userId])).length === 0
  /** Another process of the node, which begins anew with all flows. */
  const restarted = () => {
    const process = processOf(here)
    return { ...process, eraser: eraserOf(process) }
  }
  return {
    db,
    network,
    begun: () => begun(here, -MINUTE),
    rows,
    userId,
    flow,
    logger,
    restarted,
    userIsGone,
  }
}

t.test('at once where the network answers, and then nothing stays', async (t) => {
  const { network, flow, userId, restarted, userIsGone, logger } = await erasing(t)
  t.ok(await restarted().eraser.erase(userId))
  t.same(network.ended, [flow])
  t.ok(await userIsGone())
  t.same([logger.warnings, logger.errors], [[], []])
})

t.test('later where it does not, and that completes the erasure', async (t) => {
  const { db, network, rows, flow, userId, restarted, userIsGone } = await erasing(t)
  await db.query(
    `update link_session set target = 'theirs', reason = 'network', relinks = c.id, credential_id = c.id
       from credential c`,
  )
  network.isAway = true
  t.notOk(await restarted().eraser.erase(userId))
  t.same(await rows(), [{ state: 'cancelled', sealed: true }])
  t.same(
    await db.query(
      `select step, target, reason, relinks, credential_id, expires_at <= now() as is_over
         from link_session`,
    ),
    [{ step: null, target: null, reason: null, relinks: null, credential_id: null, is_over: true }],
    'nothing that tells of them',
  )
  t.same(await db.query('select from credential'), [])
  t.match(await db.query('select phone_sealed from app_user'), [{ phone_sealed: { length: 0 } }])
  network.isAway = false
  await db.query(`update link_session set expires_at = now() - interval '1 minute'`)
  await restarted().flows.endLeft()
  await until(userIsGone)
  t.same(network.ended, [flow])
  t.same(await rows(), [])
})

t.test('for a day, and then nothing of them stays', async (t) => {
  const { db, network, rows, userId, logger, restarted, userIsGone } = await erasing(t)
  network.isAway = true
  const { eraser } = restarted()
  t.notOk(await eraser.erase(userId))
  t.same(logger.warnings, [])
  await db.query(`update app_user set erasing_at = now() - interval '25 hours'`)
  await eraser.resume()
  t.same(logger.warnings, [
    'a session of a user who is erased stays signed in: its network did not end it',
  ])
  t.ok(await userIsGone())
  t.same(await rows(), [])
})

t.test('what the network accepts only then is signed out, and not stored later', async (t) => {
  const { network, flow, userId, restarted, userIsGone, logger } = await erasing(t)
  const answered = Promise.withResolvers<LinkStep>()
  network.answer = () => answered.promise
  const { eraser, flows } = restarted()
  const { actor } = await flows.find(flow, userId)
  const verifying = failureOf(actor.ask({ type: 'link.verify', password: 'secret' }))
  const erased = eraser.erase(userId)
  const account = { native: 'theirs', firstName: 'Theirs' }
  answered.resolve({ kind: 'done', account, secrets: 'new session' })
  t.match(await verifying, { reason: 'link_over' })
  t.ok(await erased)
  t.same(network.ended, ['new session', flow])
  t.ok(await userIsGone())
  t.same(logger.errors, [])
})

t.test('meanwhile no flow begins', async (t) => {
  const { network, begun, rows, userId, restarted } = await erasing(t)
  network.isAway = true
  t.notOk(await restarted().eraser.erase(userId))
  t.match(await failureOf(begun()), { code: 'unavailable', retryAfterSeconds: 60 })
  t.same((await rows()).length, 1)
})
