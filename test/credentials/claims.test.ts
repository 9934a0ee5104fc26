/** Taking credentials over from a node that still writes to their logs. */
import t from 'tap'
import { HealthBuffer } from '../../src/credentials/health-buffer.ts'
import { PostgresCredentialStore } from '../../src/credentials/store.ts'
import { TimelineBuffer } from '../../src/credentials/timeline-buffer.ts'
import { until } from '../support/client.ts'
import { quietLog } from '../support/log.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

t.test('a claim and a commit that wait for each other both go through', async (t) => {
  const { db, credential } = await stage(t)
  const [first, second] = [await credential(), await credential()]
  const store = new PostgresCredentialStore({
    db,
    vault: await testVault(t, db),
    node: 'here',
    timeline: new TimelineBuffer(db, 'here', quietLog),
    health: new HealthBuffer(db, quietLog),
    keysRevoked: async () => undefined,
  })
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
