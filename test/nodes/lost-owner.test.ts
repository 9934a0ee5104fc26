/** The owner of an account is killed while bots call through another node: no call fails, and no message is sent twice. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { testDatabase } from '../support/database.ts'
import { startService } from '../support/service.ts'
import { startRemote } from './remote-service.ts'

interface Answer {
  readonly ok: boolean
  readonly error_code?: number
  readonly result?: { readonly update_id: number; readonly message?: { readonly text: string } }[]
}

const limited = ['CALL', 'SEND', 'CHAT']
const CALLS = Object.fromEntries(
  limited.flatMap((of) => [
    [`${of}_RATE`, '1000000'],
    [`${of}_BURST`, '1000000'],
  ]),
)

t.test('bots that call another node notice nothing but a delay', async (t) => {
  const { url: databaseUrl, database } = await testDatabase(t)
  const owner = await startRemote(t, { databaseUrl, name: 'owner', env: CALLS })
  const client = await owner.client('+14155559001')
  const bot = await client.person('Bot', 'movingbot')
  const ada = await client.person('Ada', 'moving_friend')
  const { key } = await client.key(await client.link(bot))
  const KEY_FILE = join(owner.dataDir, 'keys')
  const CLUSTER_ADDRESS = 'https://127.0.0.1:0'
  const edge = await startService(t, {
    databaseUrl,
    env: { NODE_NAME: 'edge', KEY_FILE, CLUSTER_ADDRESS, HOLD_MS: '5000' },
  })

  const call = async (method: string, parameters: object) => {
    const response = await fetch(`${edge.url}/bot${key}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(parameters),
    })
    return (await response.json()) as Answer
  }
  const failures: unknown[] = []
  const seen: string[] = []
  let isOver = false
  let longest = 0
  const send = async () => {
    for (let at = 0; !isOver; at++) {
      const began = performance.now()
      const answer = await call('sendMessage', { chat_id: ada.id, text: `message ${at}` })
      longest = Math.max(longest, performance.now() - began)
      if (!answer.ok) failures.push(answer)
      await pause(10)
    }
  }
  const poll = async () => {
    for (let offset = 0; !isOver; ) {
      const answer = await call('getUpdates', { offset, timeout: 5 })
      if (!answer.ok) failures.push(answer)
      for (const { update_id, message } of answer.result ?? []) {
        offset = update_id + 1
        if (message) seen.push(message.text)
      }
    }
  }
  const callers = [send(), send(), poll()]
  await pause(1_000)
  await client.write(ada.id, '@movingbot', 'before')
  await owner.end('SIGKILL')
  await pause(4_000)
  const other = await edge.client('+14155559001')
  await other.write(ada.id, '@movingbot', 'after')
  await pause(1_000)
  isOver = true
  await Promise.all(callers)

  t.same(failures, [])
  t.same(seen, ['before', 'after'])
  t.comment(`the longest call took ${Math.round(longest)} ms`)
  const rows = await database.query<{ text: string }>(
    `select content ->> 'text' as text from sandbox_message where sender_id = $1`,
    [bot.id],
  )
  const sent = rows.map(({ text }) => text)
  t.ok(sent.length > 50, `${sent.length} were sent`)
  // Each of the two callers sends every text once.
  const twice = [...new Set(sent)].filter((text) => sent.filter((one) => one === text).length > 2)
  t.same(twice, [])
})
