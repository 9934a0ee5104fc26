/** The balancer of the compose file before real nodes: calls and held polls go through it while nodes come and go. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startCallers, unlimited } from '../nodes/callers.ts'
import { startRemote } from '../nodes/remote-service.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { haproxyConfiguration, hasHaproxy, startHaproxy } from '../support/haproxy.ts'
import { freePort } from '../support/ports.ts'

const skip = hasHaproxy ? false : 'haproxy is not installed'

/**
 * Three places, of which the first two have a node. Its account is the first one's. Codes are printed by any node,
 * so it signs in while there is one only.
 */
async function cluster(t: Test, username: string, phone: string) {
  const { url: databaseUrl, database } = await testDatabase(t)
  const ports = [await freePort(), await freePort(), await freePort()]
  const start = (place: 1 | 2 | 3, env = {}) =>
    startRemote(t, {
      databaseUrl,
      name: `chapar-${place}`,
      port: ports[place - 1] ?? 0,
      env: { ...unlimited, TRUST_PROXY: '127.0.0.1', ...env },
    })
  const first = await start(1)
  const client = await first.client(phone)
  const bot = await client.person('Bot', username)
  const ada = await client.person('Ada', `${username}_friend`)
  const credentialId = await client.link(bot)
  const { key } = await client.key(credentialId)
  const { key: holder } = await client.key(credentialId)
  const DATA_DIR = first.dataDir
  const second = await start(2, { DATA_DIR })
  const url = await startHaproxy(t, ports)
  const polled = async (query: string) => {
    const response = await fetch(`${url}/bot${holder}/getUpdates?${query}`)
    return (await response.json()) as { readonly result: readonly { readonly update_id: number }[] }
  }
  return {
    url,
    database,
    bot,
    first,
    second,
    startThird: () => start(3, { DATA_DIR }),
    call: () => startCallers(url, key, ada.id),
    write: (text: string) => client.at(url).write(ada.id, `@${username}`, text),
    /** A poll of another key that waits for the next update: its answer, and how long that took. */
    async hold() {
      const newest = await until(async () => (await polled('timeout=0&offset=-1')).result[0])
      const began = performance.now()
      const answer = await polled(`timeout=50&offset=${newest.update_id + 1}`)
      return { answer, seconds: (performance.now() - began) / 1000 }
    },
  }
}

t.test('nodes come, leave and are lost behind it', { skip, timeout: 120_000 }, async (t) => {
  const nodes = await cluster(t, 'rollingbot', '+14155559301')
  const { bot, database, url, first, second, startThird, call, hold, write } = nodes
  const callers = call()
  await write('before')
  await until(() => callers.seen.includes('before'))
  const held = hold()
  await pause(1_500)
  await first.end('SIGTERM')
  const { answer, seconds } = await held
  t.same(answer, { ok: true, result: [] }, 'a held poll ends with nothing when its owner leaves')
  t.ok(seconds < 20, `and is not left to its time: ${seconds.toFixed(1)} s`)
  const third = await startThird()
  await write('after')
  await until(() => callers.seen.includes('after'))
  await callers.end()

  t.comment(`${callers.sent.length} were sent, the longest call took ${callers.longest()} ms`)
  t.same(callers.failures, [], 'no call fails while one leaves and another one comes')
  t.equal(callers.cut(), 0)
  t.same(callers.seen, ['before', 'after'])
  const rows = await database.query<{ text: string }>(
    `select content ->> 'text' as text from sandbox_message where sender_id = $1`,
    [bot.id],
  )
  t.ok(rows.length > 100, `${rows.length} were sent`)
  t.same(rows.map(({ text }) => text).sort(), [...callers.sent].sort(), 'each of them once')

  const others = call()
  await pause(1_500)
  await third.end('SIGKILL')
  await pause(2_500)
  await write('still there?')
  await until(() => others.seen.includes('still there?'))
  await others.end()
  // On a connection that carried a call before, HAProxy leaves it to the caller to repeat: it closes.
  const lost = others.failures.length + others.cut()
  t.ok(lost <= 3, `only what a node that is killed worked on is lost, and here ${lost} calls`)
  for (const failure of others.failures) t.match(failure, { ok: false, error_code: 502 })

  await second.end('SIGKILL')
  const nobody = await until(async () => {
    // The connection of an earlier call may be closed under this one, as above.
    const response = await fetch(`${url}/health/ready`).catch(() => undefined)
    return response?.status === 503 && response
  })
  t.equal(
    nobody.headers.get('retry-after'),
    '1',
    'without any node, callers are told when to repeat',
  )
  t.match(await nobody.json(), { ok: false, error_code: 503, parameters: { retry_after: 1 } })
})

t.test(
  'calls reach nodes of which none is ready, so that they may wait there',
  { skip },
  async (t) => {
    const server = createServer((request, response) => {
      // HAProxy itself asks without naming a host.
      const isAsked = request.url === '/health/ready' && request.headers.host === undefined
      asked += Number(isAsked)
      response.writeHead(isAsked ? 503 : 200).end('{}')
    }).listen(0, '127.0.0.1')
    let asked = 0
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const url = await startHaproxy(t, [port, await freePort(), await freePort()])
    await until(() => asked > 4)
    for (let at = 0; at < 6; at++) t.equal((await fetch(`${url}/bot/getMe`)).status, 200)
  },
)

t.test('its times are longer than what the service lets callers wait', async (t) => {
  const text = await haproxyConfiguration()
  const seconds = (name: string) => Number(new RegExp(`^  ${name} (\\d+)s$`, 'm').exec(text)?.[1])
  for (const side of ['client', 'server']) t.ok(seconds(`timeout ${side}`) > 60, side)
  t.ok(seconds('hard-stop-after') > 50, 'a held poll ends before the balancer does')
  t.match(text, /^ {2}retry-on conn-failure$/m, 'what was sent is never sent twice')
})
