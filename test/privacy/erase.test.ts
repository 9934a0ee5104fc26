/** What of a user stays while a network that was away has to sign their session out, and for how long. */
import t, { type Test } from 'tap'
import { createUsers, phonePlaceOf } from '../../src/accounts/users.ts'
import { Eraser } from '../../src/privacy/erase.ts'
import { FakeLogger } from '../support/fakes.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

const place = { table: 'pending_sign_out', column: 'secrets', row: 'left' }

/** A user with a deleted account, whose session is still signed in. */
async function scene(t: Test) {
  const { db, credential, key } = await stage(t)
  const vault = await testVault(t, db)
  const credentialId = await credential()
  await key(credentialId)
  const [row] = await db.query<{ id: number }>(
    `update credential set deactivated_at = now(), deleting_at = now() where id = $1 returning user_id as id`,
    [credentialId],
  )
  const userId = row?.id ?? 0
  const sealed = await vault.seal(`user:${userId}`, place, Buffer.from('a session'))
  await db.query(
    `insert into pending_sign_out (id, user_id, credential_id, platform, link, secrets, due_at)
     values (gen_random_uuid(), $1, $2, 'test', 0, $3, now())`,
    [userId, credentialId, sealed],
  )
  const nothing = async () => undefined
  const sweeps = { answer: nothing as () => Promise<void> }
  const signsOut = { answer: nothing as () => Promise<void> }
  const logger = new FakeLogger()
  const eraser = new Eraser({
    db,
    vault,
    logger,
    deleteAccount: nothing,
    owns: () => false,
    tellOthers: nothing,
    signOut: () => signsOut.answer(),
    endLinks: nothing,
    forgetKeys: nothing,
    flush: nothing,
    sweepFiles: () => sweeps.answer(),
  })
  const tables = ['api_key', 'credential_log', 'pending_sign_out', 'credential', 'app_user']
  return {
    db,
    vault,
    eraser,
    logger,
    userId,
    sweeps,
    signsOut,
    credential,
    left: async () => {
      const rows = tables.map(async (table) => {
        const found = await db.query(`select from ${table}`)
        return found.length > 0 ? [table] : []
      })
      return (await Promise.all(rows)).flat()
    },
    opened: async () => {
      vault.forget(`user:${userId}`)
      const text = await vault.open(place, sealed).catch(() => undefined)
      return text?.toString()
    },
  }
}

t.test(
  'everything goes at once but what signs the session out, and that goes with it',
  async (t) => {
    const { db, eraser, userId, left, opened } = await scene(t)
    t.notOk(await eraser.erase(userId))
    t.same(await left(), ['pending_sign_out', 'credential', 'app_user'])
    t.equal(await opened(), 'a session')
    await db.query('delete from pending_sign_out')
    await eraser.resume()
    t.same(await left(), [])
    t.equal(await opened(), undefined)
  },
)

t.test('all the same goes where the sign-ins of the user could not be ended', async (t) => {
  const { eraser, userId, left, signsOut, logger } = await scene(t)
  signsOut.answer = async () => {
    throw new Error('the database does not answer')
  }
  t.notOk(await eraser.erase(userId))
  t.same(await left(), ['pending_sign_out', 'credential', 'app_user'])
  t.match(logger.errors, [{ text: 'a user was not erased yet' }])
})

t.test('the phone may sign in anew at once, and the rows that stay tell nothing', async (t) => {
  const { db, vault, eraser, userId, credential, left } = await scene(t)
  const users = createUsers(db, vault)
  const phone = '+14155550199'
  const index = Buffer.from('the index of that phone')
  await db.query('update app_user set phone_index = $2, phone_sealed = $3 where id = $1', [
    userId,
    index,
    await vault.seal(`user:${userId}`, phonePlaceOf(userId), Buffer.from(phone)),
  ])
  await credential()
  await db.query(
    `update credential set tags = '{of theirs}', pinned_node = 'here', user_id = $1, deactivated_at = now()`,
    [userId],
  )
  t.notOk(await eraser.erase(userId))
  t.same(
    await db.query('select tags, pinned_node from credential'),
    [{ tags: [], pinned_node: null }],
    'one without a session is gone',
  )
  const anew = await users.findOrCreate(phone, index, new Date())
  t.match(anew, { phone })
  t.not(anew.id, userId)
  const kept = () =>
    db.query('select phone_index, phone_sealed from app_user where id = $1', [userId])
  const before = await kept()
  t.match(before, [{ phone_sealed: { length: 0 } }])
  await eraser.resume()
  t.same(await kept(), before)
  await db.query('delete from pending_sign_out')
  await eraser.goOn(userId)
  t.same(await left(), ['app_user'], 'the new one')
  t.match(await users.get(anew.id), { phone })
})

t.test('a session that is signed out during the erasure completes it', async (t) => {
  const { db, eraser, userId, sweeps, left } = await scene(t)
  const held = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  sweeps.answer = () => {
    reached.resolve()
    return held.promise
  }
  const erasing = eraser.erase(userId)
  await reached.promise
  await db.query('delete from pending_sign_out')
  const goingOn = eraser.goOn(userId)
  held.resolve()
  t.notOk(await erasing, 'it has not seen that')
  await goingOn
  t.same(await left(), [])
})

t.test('a network that stays away for a day keeps nothing of them any longer', async (t) => {
  const { db, eraser, logger, userId, left, opened } = await scene(t)
  t.notOk(await eraser.erase(userId))
  t.same(logger.warnings, [])
  await db.query(`update app_user set erasing_at = now() - interval '25 hours'`)
  await eraser.resume()
  t.same(logger.warnings, [
    'a session of a user who is erased stays signed in: its network did not end it',
  ])
  t.same(await left(), [])
  t.equal(await opened(), undefined)
})
