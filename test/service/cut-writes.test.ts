/** The connection to the database breaks while it carries out a request: whoever asked is told what is known. */
import t from 'tap'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { Relay } from '../support/relay.ts'
import { startService } from '../support/service.ts'

const { url } = await testDatabase(t)
const address = new URL(url)
const { port } = address
const relay = await Relay.start(() => Number(port))
address.port = `${relay.port}`
const service = await startService(t, { databaseUrl: address.href })
t.teardown(() => relay.stop())
const client = await service.client()
const person = await client.person('Support', 'support_bot')
const credential_id = await client.link(person)

const untold = {
  status: 504,
  body: {
    ok: false,
    error_code: 504,
    description: 'Gateway Timeout: the database did not answer in time; it may have been done',
    code: 'write_unconfirmed',
  },
}

const makings = [
  [
    'a key',
    [/insert into "?api_key"?\W/i, /commit/i],
    '/api_keys',
    { name: 'cut', credential_id, scopes: ['bot:send'] },
    '/api_keys',
  ],
  [
    'a person of the sandbox',
    [/insert into sandbox_person\W/i, /commit/i],
    '/sandbox/people',
    { first_name: 'Cut', username: 'cut_person' },
    '/sandbox/people',
  ],
  [
    'an action on accounts',
    [/insert into bulk_item\W/i, /commit/i],
    '/platforms/credentials/actions',
    { kind: 'restart', credential_ids: [credential_id] },
    '/platforms/credentials/actions',
  ],
] as const

for (const [name, requests, path, body, list] of makings) {
  t.test(`${name} whose connection is cut at the commit may have been made`, async (t) => {
    const countOf = async () => (await client.result('GET', list)).items.length
    const before = await countOf()
    relay.cutAnswerTo(...requests)
    const answer = await client.ask('POST', path, body)
    t.ok(relay.hasCut, 'the connection was cut')
    t.match(answer, untold)
    t.equal(answer.headers.get('retry-after'), null, 'no client repeats it by itself')
    await until(async () => (await client.ask('GET', list)).status === 200)
    t.equal(await countOf(), before + 1, 'it was done')
  })
}

t.test('what only reads, or leaves things as they are wanted, is to be repeated', async (t) => {
  relay.cutAnswerTo(/from "?api_key"?\W/i)
  const read = await client.ask('GET', '/api_keys')
  t.ok(relay.hasCut)
  t.match(read, { status: 503, body: { parameters: { retry_after: 1 }, code: 'database_away' } })
  t.equal(read.headers.get('retry-after'), '1')
})
