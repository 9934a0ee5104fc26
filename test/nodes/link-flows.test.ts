/** A flow of linking belongs to one node: after that has ended, to the first one that is asked for it. */
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import type { OwnerRecord } from '../../src/nodes/owners.ts'
import { type Client, until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { SELF, startForwarder } from './forwarder-scene.ts'

const ended = { code: 400, description: 'Bad Request: the link session is over; start again' }
const path = '/platforms/sandbox/link'

/** A flow that waits for its code, begun by the first of two nodes, which has restarted since. */
async function begunBefore(t: Test, person: string) {
  const env = { HOLD_MS: '5000', CLUSTER_ADDRESS: 'https://127.0.0.1:0' }
  const one = await startService(t, { env: { ...env, NODE_NAME: 'one' } })
  const here = await one.client()
  const bot = await here.person('Bot', person)
  const { session_id } = await here.result('POST', `${path}/start`, { phone: bot.phone })
  const otp = await here.code(bot.id)
  await one.restart()
  const two = await startService(t, {
    databaseUrl: one.databaseUrl,
    env: { ...env, NODE_NAME: 'two', DATA_DIR: one.dataDir },
  })
  const stateAt = async (client: Client) =>
    (await client.result('GET', `${path}/${session_id}`)).state
  return { here, there: here.at(two.url), session_id, otp, stateAt }
}

t.test('whichever node is asked after that, all tell the same', async (t) => {
  const { here, there, session_id, otp, stateAt } = await begunBefore(t, 'adopted_bot')
  t.equal(await stateAt(here), 'code_sent')
  t.match(await there.result('POST', `${path}/verify`, { session_id, otp }), { state: 'linked' })
  t.equal(await stateAt(here), 'linked')
  t.equal(await stateAt(there), 'linked')
})

t.test('a flow that was cancelled at one node takes no answer at another', async (t) => {
  const { here, there, session_id, otp, stateAt } = await begunBefore(t, 'cancelled_bot')
  t.equal(await stateAt(there), 'code_sent')
  t.equal(await stateAt(here), 'code_sent')
  await here.result('DELETE', `${path}/${session_id}`)
  const late = await there.ask('POST', `${path}/verify`, { session_id, otp })
  t.match(late.body, { ok: false, error_code: ended.code, description: ended.description })
  t.equal(await stateAt(there), 'cancelled')
})

t.test('a link session that nobody ended is ended after a restart', async (t) => {
  const own = await startService(t, { env: { PASSIVATE_AFTER_MS: '200' } })
  const client = await own.client()
  const { phone } = await client.person('Ivy')
  const { session_id } = await client.result('POST', `${path}/start`, { phone })
  await own.gateway.stop()
  const table = openDatabase({ url: own.databaseUrl, logger: quietLogger })
  t.teardown(() => table.close())
  await table.query(`update link_session set expires_at = now() - interval '1 minute'`)
  await own.restart()
  await until(async () => {
    const [link] = await table.query<{ state: string; sealed: boolean }>(
      'select state, stored is not null as sealed from link_session where id = $1',
      [session_id],
    )
    return link?.state === 'expired' && !link.sealed
  })
})

t.test('a node that is too late to take a flow passes the request on', async (t) => {
  const taken: [string, number | null][] = []
  const flow = 'a_-'.padEnd(22, '0')
  const table: OwnerRecord = { credentialId: undefined, sessionId: flow, owner: 7 }
  const here = { ...table, owner: SELF }
  const looked = [{ ...table, owner: 8 }, here]
  const { port } = await startForwarder(t, {
    rows: [{ incarnation: SELF, address: 'https://127.0.0.1:1' }],
    find: async () => table,
    look: async () => looked.shift() ?? here,
    adopt: async (...from) => void taken.push(from),
  })
  const answer = await fetch(`http://127.0.0.1:${port}${path}/${flow}`)
  t.equal(await answer.text(), 'served here')
  t.same(taken, [
    [flow, 7],
    [flow, 8],
  ])
  t.same(looked, [], 'only once the table names this node')
})
