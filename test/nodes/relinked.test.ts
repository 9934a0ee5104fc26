/** An account that is linked again at another node than its owner: whatever shows that owner the loss, it signs its old session out. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Bus } from '../../src/nodes/bus.ts'
import { linkedAccount } from '../service/scene.ts'
import { type Client, until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { startService } from '../support/service.ts'
import { startRemote } from './remote-service.ts'

const { tell } = Bus.prototype
const lostHints: string[] = []
Bus.prototype.tell = function (topic, hint) {
  if (topic === 'relinked') lostHints.push(topic)
  else tell.call(this, topic, hint)
}

const peers = { CLUSTER_ADDRESS: 'https://127.0.0.1:0' }
const calm = { REBALANCE_SECONDS: '3600' }
const one = await startService(t, { env: { ...calm, NODE_NAME: 'one' } })
const { databaseUrl, dataDir: DATA_DIR } = one
const clients = new Map<string, Client>()
for (const name of ['checked', 'writing', 'called', 'gone', 'leaving', 'taken']) {
  clients.set(name, await one.client())
}
const two = await startService(t, { databaseUrl, env: { ...calm, NODE_NAME: 'two', DATA_DIR } })
const { core } = one.gateway

const sessionsOf = async (client: Client, { id }: { readonly id: number }): Promise<number> =>
  (await client.result('GET', `/sandbox/people/${id}`)).linked_sessions

/** An account of the first node. */
async function accountAtOne(name: string) {
  const client = clients.get(name)
  if (!client) throw new Error(`nobody is signed in for ${name}`)
  const account = await linkedAccount({ ...one, client: async () => client }, `${name}_bot`)
  const { credentialId, bot, ada, key } = account
  return {
    ...account,
    held: () => core.supervisor.factsOf(credentialId),
    sessions: () => sessionsOf(client, bot),
    /** Resolves once the second node can send for it. */
    isServed: () =>
      until(async () => {
        const message = { chat_id: ada.id, text: 'from the next owner' }
        return (await client.at(two.url).bot(key, 'sendMessage', message)).status === 200
      }),
  }
}

type Account = Awaited<ReturnType<typeof accountAtOne>>

/** The account is linked again at the second node, and the first one learns of it by `shows` alone. */
async function signsOut(t: Test, name: string, shows: (account: Account) => unknown) {
  const account = await accountAtOne(name)
  const { client, bot, credentialId } = account
  const isChecked = name === 'checked'
  if (!isChecked) {
    core.ownership.stop()
    // The one that is under way.
    await core.ownership.check()
    t.teardown(() => core.ownership.watch())
  }
  const hints = lostHints.length
  t.equal(await client.at(two.url).link(bot), credentialId)
  t.equal(lostHints.length, hints + 1, 'no hint has told it')
  if (!isChecked) {
    t.equal(await account.sessions(), 2)
    t.ok(account.held(), 'and nothing else so far')
  }
  await shows(account)
  await until(() => account.held() === undefined)
  await until(async () => (await account.sessions()) === 1)
  await account.isServed()
  t.equal(await account.sessions(), 1)
}

t.test('its own check', (t) => signsOut(t, 'checked', () => undefined))

t.test('a write that is refused', (t) =>
  signsOut(t, 'writing', ({ client, ada, bot }) =>
    client.write(ada.id, `@${bot.username}`, 'an event for both sessions'),
  ),
)

t.test('a call for a key', (t) =>
  signsOut(t, 'called', async ({ client, key }) => {
    t.match((await client.bot(key, 'getMe')).body, { ok: false, error_code: 503 })
  }),
)

t.test('another node that has declared it gone', (t) =>
  signsOut(t, 'gone', ({ held }) => {
    const facts = held()
    if (facts) core.ownership.lost([facts])
  }),
)

t.test('nothing: it gives the account away', (t) =>
  signsOut(t, 'leaving', ({ held }) => {
    const facts = held()
    return facts && core.letGo([facts])
  }),
)

t.test('the session of an account that another node has only taken over goes on', async (t) => {
  const { held, sessions, isServed, client, credentialId } = await accountAtOne('taken')
  const facts = held()
  await core.store.release(facts ? [facts] : [])
  await isServed()
  await until(() => held() === undefined)
  await client.state(credentialId, 'active')
  await pause(500)
  t.equal(await sessions(), 1)
  await isServed()
})

for (const [how, frozenMs] of [
  ['for a moment', 1_000],
  ['until it was declared gone', 13_000],
] as const) {
  t.test(`it stood still ${how} while the account was linked again`, async (t) => {
    t.setTimeout(120_000)
    const { url } = await testDatabase(t)
    const owner = await startRemote(t, { databaseUrl: url, name: 'owner', env: calm })
    const client = await owner.client('+14155559901')
    const bot = await client.person('Bot', 'frozen_bot')
    const credentialId = await client.link(bot)
    const other = await startService(t, {
      databaseUrl: url,
      env: { ...calm, ...peers, NODE_NAME: 'other', DATA_DIR: owner.dataDir },
    })
    const elsewhere = client.at(other.url)
    owner.signal('SIGSTOP')
    t.equal(await elsewhere.link(bot), credentialId)
    await pause(frozenMs)
    t.equal(await sessionsOf(elsewhere, bot), 2)
    owner.signal('SIGCONT')
    await until(async () => (await sessionsOf(elsewhere, bot)) === 1)
    await elsewhere.state(credentialId, 'active')
  })
}

t.test('it died before it could sign out, so the next owner does', async (t) => {
  t.setTimeout(180_000)
  const { url } = await testDatabase(t)
  const owner = await startRemote(t, { databaseUrl: url, name: 'owner', env: calm })
  const client = await owner.client('+14155559902')
  const bot = await client.person('Bot', 'dead_bot')
  const credentialId = await client.link(bot)
  const env = { ...calm, ...peers, NODE_NAME: 'other', DATA_DIR: owner.dataDir }
  const other = await startService(t, { databaseUrl: url, env })
  const elsewhere = client.at(other.url)
  owner.signal('SIGSTOP')
  t.equal(await elsewhere.link(bot), credentialId)
  await owner.end('SIGKILL')
  t.equal(await sessionsOf(elsewhere, bot), 2)
  await until(async () => (await sessionsOf(elsewhere, bot)) === 1, 60_000)
  await elsewhere.state(credentialId, 'active')
})

t.test(
  'an account is deleted while its network is away, and signed out once that is back',
  async (t) => {
    t.setTimeout(120_000)
    const service = await startService(t, {})
    const { client, bot, credentialId } = await linkedAccount(service)
    const faults = `/sandbox/people/${bot.id}/faults`
    await client.result('PUT', `${faults}/drop`, { seconds: 3_600 })
    await client.state(credentialId, 'connecting')
    await client.result('DELETE', `/platforms/credentials/${credentialId}`)
    t.equal(await sessionsOf(client, bot), 1)
    await client.result('DELETE', faults)
    await until(async () => (await sessionsOf(client, bot)) === 0, 60_000)
  },
)
