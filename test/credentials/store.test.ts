/** The row of a credential: taken over from a node that still writes, and kept empty once it was wiped. */
import t, { type Test } from 'tap'
import { HealthBuffer } from '../../src/credentials/health.ts'
import { PostgresCredentialStore } from '../../src/credentials/store.ts'
import { TimelineBuffer } from '../../src/credentials/timeline.ts'
import type { Database } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLog } from '../support/log.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

async function storeOn(t: Test, db: Database) {
  return new PostgresCredentialStore({
    db,
    vault: await testVault(t, db),
    node: 'here',
    timeline: new TimelineBuffer(db, 'here', quietLog),
    health: new HealthBuffer(db, quietLog),
    keysRevoked: async () => undefined,
  })
}

t.test('a claim and a commit that wait for each other both go through', async (t) => {
  const { db, credential } = await stage(t)
  const [first, second] = [await credential(), await credential()]
  const store = await storeOn(t, db)
  const write =
    'update credential_log set next_update_id = next_update_id + 1 where credential_id = $1'
  const isWaiting = async () => {
    const locks = await db.query(
      `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%epoch + 1%'`,
    )
    return locks.length > 0
  }
  let claiming: ReturnType<typeof store.claimPage> | undefined
  const writing = db.transaction(async (tx) => {
    await tx.query(write, [second])
    claiming = store.claimPage(0, 10)
    claiming.catch(() => undefined)
    await until(isWaiting)
    await tx.query(write, [first])
  })
  // The server chooses whom it rolls back; the claim goes through all the same.
  await writing.catch(() => undefined)
  t.match(await claiming, [
    { credentialId: first, epoch: 1 },
    { credentialId: second, epoch: 1 },
  ])
})

t.test('secrets that were wiped stay wiped', async (t) => {
  const { db, credential } = await stage(t)
  const store = await storeOn(t, db)
  const id = await credential()
  await db.query(`update credential set secrets = 'linked' where id = $1`, [id])
  const owned = { credentialId: id, epoch: 0 }
  await store.saveSecrets(owned, 'moved on')
  t.equal((await store.account(id)).secrets, 'moved on')
  await store.deactivate(owned)
  await store.saveSecrets(owned, 'too late')
  t.same(await db.query('select secrets from credential where id = $1', [id]), [{ secrets: null }])
})
