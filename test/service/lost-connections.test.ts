/** Every connection of a running service to its database is ended, again and again: it lives, and goes on. */
import pg from 'pg'
import t from 'tap'
import { until } from '../support/client.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

const ROUNDS = 5

const { service, client, ada, credentialId } = await scene(t)

/** Waits for each of them to be gone. */
async function endConnections(): Promise<number> {
  const assassin = new pg.Client({ connectionString: service.databaseUrl })
  await assassin.connect()
  const { rows } = await assassin.query<{ ended: number }>(
    `select count(pg_terminate_backend(pid, 1000))::int as ended from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and application_name like 'chapar%'`,
  )
  await assassin.end()
  return rows[0]?.ended ?? 0
}

t.test('the process lives, calls succeed again, and webhooks get everything', async (t) => {
  const receiver = await Receiver.open(t)
  const { key } = await client.key(credentialId)
  t.equal((await client.bot(key, 'setWebhook', { url: receiver.url })).status, 200)
  const wanted: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // Some of them are at work just then.
    const calls = Array.from({ length: 20 }, () => client.bot(key, 'getWebhookInfo'))
    t.ok((await endConnections()) > 0)
    for (const { status } of await Promise.all(calls)) t.ok(status === 200 || status === 503)
    await until(async () => (await client.bot(key, 'getWebhookInfo')).status === 200)
    wanted.push(`round ${round}`)
    await client.write(ada.id, '@gatebot', `round ${round}`)
  }
  await receiver.count(ROUNDS)
  t.same([...new Set(receiver.texts)], wanted)
  const pending = async () =>
    (await client.bot(key, 'getWebhookInfo')).body.result?.pending_update_count
  await until(async () => (await pending()) === 0)
})
