/** What the metrics say when accounts change their node: who owns them, how long callers wait, and what the fence refuses. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { linkedAccount } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { type Service, startService } from '../support/service.ts'

const METRICS_TOKEN = 'a-token-of-operators'
const OPERATOR_TOKEN = 'a-token-for-orders'
const env = {
  METRICS_TOKEN,
  OPERATOR_TOKEN,
  HOLD_MS: '5000',
  CLUSTER_ADDRESS: 'https://127.0.0.1:0',
  // Nothing moves that the test has not ordered.
  REBALANCE_SECONDS: '3600',
}

/** The value of one series; 0 if there is none. */
async function metric({ url }: Service, series: string): Promise<number> {
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1) ?? 0)
}

async function call({ url }: Service, key: string, method: string, parameters: object = {}) {
  const response = await fetch(`${url}/bot${key}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parameters),
  })
  return (await response.json()) as { readonly ok: boolean }
}

t.test('an account on its way from node to node', async (t) => {
  const one = await startService(t, { env: { ...env, NODE_NAME: 'one' } })
  const { credentialId, key } = await linkedAccount(one, 'countedbot')
  const { dataDir: DATA_DIR, databaseUrl } = one
  const two = await startService(t, { databaseUrl, env: { ...env, NODE_NAME: 'two', DATA_DIR } })
  const owned = 'chapar_owned{platform="sandbox"}'
  t.equal(await metric(one, owned), 1)
  t.equal(await metric(two, owned), 0)

  t.match(await call(two, key, 'getMe'), { ok: true })
  t.equal(await metric(two, 'chapar_forward_seconds_count'), 1)
  t.match(await call(two, key, 'getUpdates', { timeout: 1 }), { ok: true })
  t.equal(await metric(two, 'chapar_forwarded_total{outcome="answered"}'), 2)
  t.equal(
    await metric(two, 'chapar_forward_seconds_count'),
    1,
    'a held poll tells nothing of the way',
  )

  const answer = await fetch(`${one.url}/nodes/move`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ credential_id: credentialId, node: 'two' }),
  })
  t.equal(answer.status, 200)
  await until(async () => (await metric(two, owned)) === 1)
  t.equal(await metric(one, owned), 0)
  t.equal(await metric(two, 'chapar_takeovers_total{cause="handover"}'), 1)
  t.equal(await metric(two, 'chapar_takeovers_total{cause="ended"}'), 0)
  await until(async () => (await metric(one, 'chapar_handover_seconds_count')) === 1)
  t.equal(await metric(two, 'chapar_takeover_seconds_count'), 0, 'nobody has ended')
  await until(async () => (await call(two, key, 'getMe')).ok)
  for (const table of ['api_key', 'credential', 'message_identity', 'update_log', 'webhook']) {
    const refused = `chapar_fenced_writes_total{table="${table}"}`
    t.equal(await metric(one, refused), 0, `a handover leaves no late write for ${table}`)
  }

  // In a hurry it gives nothing away.
  const before = performance.now()
  await two.gateway.stop({ atOnce: true })
  await until(async () => (await metric(one, 'chapar_takeover_seconds_count')) === 1)
  const seconds = (performance.now() - before) / 1000
  t.equal(await metric(one, 'chapar_takeovers_total{cause="ended"}'), 1)
  t.equal(await metric(one, owned), 1)
  const took = await metric(one, 'chapar_takeover_seconds_sum')
  t.ok(took > 0 && took < seconds + 1, `${took} s of ${seconds} s`)
})

t.test('a write that another owner has fenced is counted', async (t) => {
  const service = await startService(t, { env: { ...env, NODE_NAME: 'fenced' } })
  const { client, ada, bot, credentialId } = await linkedAccount(service, 'fencedbot')
  const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => db.close())
  // Only the log knows of the new owner: the look at all accounts must not come first.
  await db.query('update credential_log set epoch = epoch + 1 where credential_id = $1', [
    credentialId,
  ])
  await client.write(ada.id, `@${bot.username}`, 'for another node')
  await until(
    async () => (await metric(service, 'chapar_fenced_writes_total{table="update_log"}')) === 1,
  )
  t.equal(await metric(service, 'chapar_fenced_writes_total{table="credential"}'), 0)
})
