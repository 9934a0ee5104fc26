/** What of a user stays while a network that was away has to sign their session out, and for how long. */
import t, { type Test } from 'tap'
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
  const eraser = new Eraser({
    db,
    vault,
    logger: new FakeLogger(),
    deleteAccount: nothing,
    owns: () => false,
    tellOthers: nothing,
    signOut: nothing,
    endLinks: nothing,
    forgetKeys: nothing,
    flush: nothing,
    sweepFiles: nothing,
  })
  const tables = ['api_key', 'credential_log', 'pending_sign_out', 'credential', 'app_user']
  return {
    db,
    eraser,
    userId,
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

t.test('a network that stays away for a day keeps nothing of them any longer', async (t) => {
  const { db, eraser, userId, left, opened } = await scene(t)
  t.notOk(await eraser.erase(userId))
  await db.query(`update app_user set erasing_at = now() - interval '25 hours'`)
  await eraser.resume()
  t.same(await left(), [])
  t.equal(await opened(), undefined)
})
