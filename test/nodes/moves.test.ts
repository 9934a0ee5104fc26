/** Accounts go to where they are placed: after a node has joined, by the orders of operators, and back; callers notice nothing. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { placeOf } from '../../actors/node/placement.ts'
import type { Client } from '../support/client.ts'
import { until } from '../support/client.ts'
import { type TestDatabase, testDatabase } from '../support/database.ts'
import { startCallers, unlimited } from './callers.ts'
import { startRemote } from './remote-service.ts'

const ACCOUNTS = 12
const OPERATOR_TOKEN = 'a token of operators'
const shared = { ...unlimited, OPERATOR_TOKEN, REBALANCE_SECONDS: '1', NODE_WEIGHT: '1' }

async function startTwo(t: Test, databaseUrl: string) {
  const first = await startRemote(t, { databaseUrl, name: 'first', env: shared })
  const client = await first.client(`+1415556${process.pid % 10_000}`.padEnd(12, '0'))
  const bots = await Promise.all(
    Array.from({ length: ACCOUNTS }, async (_, n) => {
      const name = `moves${n}`
      const friend = await client.person('Ada', `${name}_friend`)
      const credential = await client.link(await client.person('Bot', name))
      const { key } = await client.key(credential)
      return { name: `@${name}`, friend, key }
    }),
  )
  const env = { ...shared, DATA_DIR: first.dataDir }
  const startSecond = () => startRemote(t, { databaseUrl, name: 'second', env })
  return { first, client, bots, startSecond }
}

const ownersIn =
  ({ database }: TestDatabase) =>
  async () => {
    const rows = await database.query<{ name: string; accounts: number }>(
      `select n.name, count(*)::int as accounts from credential_log l join node n on n.id = l.owner
      group by n.name`,
    )
    return Object.fromEntries(rows.map(({ name, accounts }) => [name, accounts]))
  }

const order = async (url: string, path: string, body: object = {}) => {
  const response = await fetch(`${url}/nodes/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

/** Runs a command of the operator; resolves with what it says. */
async function command(databaseUrl: string, ...words: string[]): Promise<string> {
  const file = join(import.meta.dirname, '../../src/nodes/order-command.ts')
  const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...words], { env })
  return stdout
}

const write = (client: Client, bots: readonly { friend: { id: number }; name: string }[]) =>
  Promise.all(bots.map(({ friend, name }) => client.write(friend.id, name, 'are you there?')))

t.test('accounts move while bots call, and no call fails', { timeout: 240_000 }, async (t) => {
  const on = await testDatabase(t)
  const owners = ownersIn(on)
  const { first, client, bots, startSecond } = await startTwo(t, on.url)
  const callers = bots.map(({ key, friend }) => startCallers(first.url, key, friend.id))
  const end = () => Promise.all(callers.map((one) => one.end()))
  t.teardown(end)
  t.same(await owners(), { first: ACCOUNTS })

  const second = await startSecond()
  // One that is on its way has no owner for a moment.
  await until(async () => {
    const { first = 0, second = 0 } = await owners()
    return second >= 2 && first + second === ACCOUNTS
  })
  await write(client, bots)

  const said = await command(on.url, 'drain', 'first', '--wait', '20')
  t.match(said, /gives its accounts away\.\nIt has none left\.\n/)
  await until(async () => (await owners()).second === ACCOUNTS)
  t.equal((await fetch(`${first.url}/health/ready`)).status, 503, 'no balancer sends calls there')
  await write(client, bots)
  await t.rejects(command(on.url, 'drain', 'second'), /no other node takes accounts/)

  await command(on.url, 'undrain', 'first')
  await until(async () => ((await owners()).first ?? 0) >= 2)
  t.equal((await fetch(`${first.url}/health/ready`)).status, 200)

  const places = ['first', 'second'].map((name) => ({ name, weight: 1 }))
  const ofSecond = await on.database.query<{ id: number }>(
    `select l.credential_id as id from credential_log l join node n on n.id = l.owner
      where n.name = 'second'`,
  )
  // Others may be on their way to the first one still, and would stay there.
  const moved = ofSecond.find(({ id }) => placeOf(id, places) === 'second')?.id ?? 0
  const { status } = await order(second.url, 'move', { credential_id: moved, node: 'first' })
  t.equal(status, 200)
  const ownerOf = async () => {
    const [row] = await on.database.query<{ node: string }>(
      'select node from credential where id = $1',
      [moved],
    )
    return row?.node
  }
  await until(async () => (await ownerOf()) === 'first')
  await pause(2_500)
  t.equal(await ownerOf(), 'first', 'it stays where it was put')
  await command(on.url, 'move', `${moved}`, '--anywhere')
  await until(async () => (await ownerOf()) === 'second')
  await write(client, bots)
  await pause(1_000)

  await end()
  const longest = Math.max(...callers.map((one) => one.longest()))
  t.comment(
    `${callers.reduce((sum, { sent }) => sum + sent.length, 0)} sent, the longest took ${longest} ms`,
  )
  for (const { failures, seen, cut } of callers) {
    t.same(failures, [])
    t.equal(cut(), 0)
    t.same(seen, Array(3).fill('are you there?'))
  }
  t.ok(longest < 4_000)
})

t.test('a command that makes no sense says how it is used', async (t) => {
  const { url } = await testDatabase(t)
  for (const words of [
    ['drain'],
    ['drain', '--wait'],
    ['move', 'x', 'first'],
    ['undrain', 'a', 'b'],
  ]) {
    await t.rejects(command(url, ...words), { code: 2, stderr: /^usage:/ })
  }
  await t.rejects(command(url, 'drain', 'nobody'), { code: 1, stderr: /there is no such node/ })
})
