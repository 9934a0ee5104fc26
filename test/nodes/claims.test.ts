/** What a node that drains may claim, what becomes of a link that ends there, and that facts of an older owner end no newer one. */
import pg from 'pg'
import t from 'tap'
import { OwnershipLost } from '../../machines/model/failure.ts'
import { linkedAccount } from '../service/scene.ts'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'

const env = { REBALANCE_SECONDS: '3600', CLUSTER_ADDRESS: 'https://127.0.0.1:0', HOLD_MS: '5000' }
const one = await startService(t, { env: { ...env, NODE_NAME: 'one' } })
const account = await linkedAccount(one, 'claims_bot')
const { databaseUrl, dataDir: DATA_DIR } = one
const two = await startService(t, { databaseUrl, env: { ...env, NODE_NAME: 'two', DATA_DIR } })
const [first, second] = [one.gateway.core, two.gateway.core]

const database = new pg.Client(databaseUrl)
await database.connect()
t.teardown(() => database.end())

/** Orders these nodes to drain, and the others not to; resolves once they do, and both have seen it. */
async function drain(...names: string[]): Promise<void> {
  await database.query('update node set drain = (name = any($1)) where ended_at is null', [names])
  await until(async () => {
    const { rows } = await database.query<{ name: string }>(
      `select name from node where state = 'draining' and ended_at is null order by name`,
    )
    return `${rows.map(({ name }) => name)}` === `${names}`
  })
  await new Promise((resolve) => setTimeout(resolve, 600))
}

t.test('facts that were read under an older owner end no newer one', async (t) => {
  const { credentialId, keyId } = account
  const held = first.supervisor.factsOf(credentialId)
  const { load } = first.keyStore
  let loads = 0
  first.keyStore.load = async (apiKeyId) => {
    const facts = await load.call(first.keyStore, apiKeyId)
    // As if this node had claimed the account once more since.
    return facts && loads++ === 0 ? { ...facts, epoch: facts.epoch - 1 } : facts
  }
  const live = first.keys.peek(keyId)
  live?.stop()
  await live?.closed
  t.ok(await first.keys.find(keyId))
  t.equal(loads, 2)
  t.equal(first.supervisor.factsOf(credentialId), held)
  first.keyStore.load = load
})

/** The account belongs to nobody from now on. */
async function release(core: typeof first): Promise<void> {
  const facts = core.supervisor.factsOf(account.credentialId)
  if (!facts) throw new Error('the account is not there')
  await core.letGo([facts])
  await core.store.release([facts])
}

async function ownerInTable(): Promise<number | null | undefined> {
  const { rows } = await database.query<{ owner: number | null }>(
    'select owner from credential_log where credential_id = $1',
    [account.credentialId],
  )
  return rows[0]?.owner
}

t.test('a node that drains claims nothing, unless all of them do', async (t) => {
  const { credentialId, client, key } = account
  await drain('one', 'two')
  await release(first)
  t.equal((await client.bot(key, 'getMe')).status, 200, 'somebody has to')
  const [owner, drained, name] = first.supervisor.factsOf(credentialId)
    ? [first, second, 'two']
    : [second, first, 'one']
  await drain(name)
  await release(owner)
  await t.rejects(drained.store.claim(credentialId), new OwnershipLost())
  t.equal(await ownerInTable(), null, 'although it was free')
  t.equal((await client.bot(key, 'getMe')).status, 200)
  t.ok(owner.supervisor.factsOf(credentialId))
  await drain()
})

t.test('a link that ends at a node which drains is linked, and runs at another', async (t) => {
  const { client } = account
  const bot = await client.person('Bot', 'late_bot')
  const start = { phone: bot.phone }
  const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', start)
  const otp = await client.code(bot.id)
  await drain('one')
  const answer = await client.ask('POST', '/platforms/sandbox/link/verify', { session_id, otp })
  t.equal(answer.status, 200)
  const [{ credential_id }] = (await client.result('GET', '/platforms/credentials')).items.filter(
    ({ credential_id }: { credential_id: number }) => credential_id !== account.credentialId,
  )
  const { key } = await client.key(credential_id)
  t.equal((await client.bot(key, 'getMe')).status, 200)
  t.ok(second.supervisor.factsOf(credential_id), 'which is told at once')
  await drain()
})
