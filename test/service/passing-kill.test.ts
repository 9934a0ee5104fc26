/** SIGKILL between an answer of the network and its commit: the network is not told that it was received, and tells again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import pg from 'pg'
import t from 'tap'
import { linkBot, receive, type Update } from '../platforms/upstream-bot/chain.ts'
import { startStub, token, update } from '../platforms/upstream-bot/stub.ts'
import { Client, until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'

/** Without what the test runner would load into it. */
const { DATABASE_URL: _, NODE_OPTIONS: __, ...rest } = process.env

const stub = await startStub(t)
const { url } = await testDatabase(t)
const dataDir = t.testdir()
const codes = new Map<string, string>()

async function start() {
  const env = {
    ...rest,
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    TELEGRAM_BOT_API_URL: stub.url,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'info',
  }
  const service = spawn(process.execPath, ['src/main.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => service.kill('SIGKILL'))
  const address = Promise.withResolvers<string>()
  createInterface(service.stdout).on('line', (line) => {
    const [, phone, code] = /for (\+\d+): (\d+)/.exec(line) ?? []
    if (phone && code) codes.set(phone, code)
    const [, listening] = /Server listening at (http:[^"]+)/.exec(line) ?? []
    if (listening) address.resolve(listening)
  })
  return { service, address: await address.promise }
}

const textOf = (some?: Update) => (some?.message as { readonly text?: string })?.text

t.test('nothing is lost, and nothing comes twice', { timeout: 120_000 }, async (t) => {
  const first = await start()
  const phone = '+14155550199'
  const client = await Client.signIn(first.address, phone, codes)
  const credentialId = await linkBot(client, { token })
  const { key } = await client.key(credentialId)
  const [one, two, three] = [update('one'), update('two'), update('three')]
  stub.push(one)
  await receive(client, key, (updates) => textOf(updates.at(-1)) === 'one')

  const db = new pg.Client({ connectionString: url })
  await db.connect()
  await db.query('begin')
  // Reading goes on; what is to be stored waits.
  await db.query('lock table update_log in exclusive mode')
  stub.push(two, three)
  await until(async () => {
    const { rows } = await db.query(
      `select 1 from pg_locks where not granted and relation = 'update_log'::regclass`,
    )
    return rows.length > 0
  })
  first.service.kill('SIGKILL')
  await once(first.service, 'exit')
  const offsets = () =>
    stub.asked.flatMap(({ method, body }) => (method === 'getUpdates' ? [body.offset] : []))
  t.equal(offsets().at(-1), one.update_id + 1, 'only what is stored was acknowledged')
  // The statement that waited for the lock is of a client that is gone.
  await db.query(
    `select pg_terminate_backend(pid) from pg_locks where not granted and relation = 'update_log'::regclass`,
  )
  await db.query('commit')
  await db.end()

  const second = await start()
  const again = await Client.signIn(second.address, phone, codes)
  await again.state(credentialId, 'active')
  const updates = await receive(again, key, (some) => textOf(some.at(-1)) === 'three')
  stub.push(update('four'))
  const last = await receive(again, key, (some) => textOf(some.at(-1)) === 'four')
  const texts = [...updates, ...last].map(textOf)
  t.strictSame(
    [...new Set(texts)],
    ['one', 'two', 'three', 'four'].slice(texts[0] === 'one' ? 0 : 1),
  )
  const ids = new Map([...updates, ...last].map((some) => [some.update_id, textOf(some)]))
  t.equal(ids.size, new Set(texts).size, 'each has one id')
  second.service.kill('SIGTERM')
  await once(second.service, 'exit')
})
