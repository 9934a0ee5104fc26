/** What is revoked at one node ends at the others at once, although they remember for seconds who is signed in. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'

/** Below the time for which an answer is remembered. */
const AT_ONCE_MS = 2_000

const METRICS_TOKEN = 'figures of a test'
const one = await startService(t, { env: { NODE_NAME: 'one', METRICS_TOKEN } })
// While this one is alone it sends the codes itself.
const clients = [await one.client(), await one.client()] as const
const two = await startService(t, {
  databaseUrl: one.databaseUrl,
  env: { NODE_NAME: 'two', DATA_DIR: one.dataDir, METRICS_TOKEN },
})
const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
await until(async () => {
  const answer = (await (await fetch(`${one.url}/nodes`, { headers })).json()) as {
    readonly result: readonly { readonly state: string }[]
  }
  return answer.result.filter(({ state }) => state === 'up').length === 2
})
await until(async () => {
  const metrics = await (await fetch(`${two.url}/metrics`, { headers })).text()
  return /chapar_bus\{[^}]*postgres[^}]*\} 1/.test(metrics)
})

const status = async (authorization: string) => {
  const own = { authorization }
  return (await fetch(`${two.url}/api_keys`, { headers: own })).status
}

/** Milliseconds until the other node refuses what it has just accepted. */
async function refusedAfter(
  authorization: string,
  revoke: () => Promise<unknown>,
): Promise<number> {
  t.equal(await status(authorization), 200)
  await revoke()
  const began = performance.now()
  await until(async () => (await status(authorization)) === 401)
  return performance.now() - began
}

t.test('a sign-out', async (t) => {
  const [client] = clients
  const ms = await refusedAfter(`Bearer ${client.token}`, () =>
    client.result('POST', '/auth/logout', { refresh_token: client.refreshToken }),
  )
  t.ok(ms < AT_ONCE_MS, `${ms}`)
})

t.test('a token of a script', async (t) => {
  const [, client] = clients
  const { token_id: id, token } = await client.result('POST', '/user/tokens', { name: 'script' })
  const ms = await refusedAfter(`apikey ${token}`, () =>
    client.result('DELETE', `/user/tokens/${id}`),
  )
  t.ok(ms < AT_ONCE_MS, `${ms}`)
})
