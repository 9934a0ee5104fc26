/** The owner of an account ends while bots call through another node: no call fails, and no message is lost or sent twice. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { startService } from '../support/service.ts'
import { startCallers, unlimited } from './callers.ts'
import { startRemote } from './remote-service.ts'

let phones = 9001

async function callersOfLostOwner(t: Test, signal: 'SIGKILL' | 'SIGTERM') {
  const { url: databaseUrl, database } = await testDatabase(t)
  const owner = await startRemote(t, { databaseUrl, name: 'owner', env: unlimited })
  const phone = `+1415555${phones++}`
  const client = await owner.client(phone)
  const bot = await client.person('Bot', 'movingbot')
  const ada = await client.person('Ada', 'moving_friend')
  const { key } = await client.key(await client.link(bot))
  const DATA_DIR = owner.dataDir
  const CLUSTER_ADDRESS = 'https://127.0.0.1:0'
  const env = { NODE_NAME: 'edge', DATA_DIR, CLUSTER_ADDRESS, HOLD_MS: '5000' }
  const edge = await startService(t, { databaseUrl, env })

  const callers = startCallers(edge.url, key, ada.id)
  await pause(1_000)
  await client.at(edge.url).write(ada.id, '@movingbot', 'before')
  const began = performance.now()
  await owner.end(signal)
  const endedMs = Math.round(performance.now() - began)
  await pause(3_000)
  await client.at(edge.url).write(ada.id, '@movingbot', 'after')
  // A busy machine sends fewer a second.
  await until(() => callers.seen.length > 1 && callers.sent.length > 50)
  await pause(1_000)
  await callers.end()

  t.comment(`${signal}: gone after ${endedMs} ms; the longest call took ${callers.longest()} ms`)
  t.same(callers.failures, [])
  t.equal(callers.cut(), 0)
  t.same(callers.seen, ['before', 'after'])
  const rows = await database.query<{ text: string }>(
    `select content ->> 'text' as text from sandbox_message where sender_id = $1 order by chat_id, id`,
    [bot.id],
  )
  t.ok(rows.length > 50, `${rows.length} were sent`)
  t.same(rows.map(({ text }) => text).sort(), [...callers.sent].sort())
  return callers
}

t.test('it is killed', async (t) => {
  const { longest } = await callersOfLostOwner(t, 'SIGKILL')
  t.ok(longest() < 5_000)
})

t.test('it is stopped in order, and hands its accounts over', async (t) => {
  const { longest } = await callersOfLostOwner(t, 'SIGTERM')
  t.ok(longest() < 2_500)
})
