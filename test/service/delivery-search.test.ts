/** The log of deliveries, searched by what the updates contain, by how attempts ended, and by time. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'

const service = await startService(t, { env: { WEBHOOK_ALLOW_PRIVATE: 'true' } })
const client = await service.client()
const [ada, bob] = [await client.person('Ada'), await client.person('Bob')]
const bot = await client.person('Bot', 'searched_bot')
const key = await client.key(await client.link(bot))
let status = 200
const receiver = await Receiver.open(t, (_received, response) => response.writeHead(status).end())
await client.bot(key.key, 'setWebhook', { url: receiver.url })
const path = `/user/logs/webhook-deliveries?api_key_id=${key.api_key_id}`
const search = (query: string) => client.result('GET', `${path}&${query}`)
const found = async (query: string) => {
  const { items } = await search(query)
  return items.map(({ chat_id, status }: { chat_id: number; status: number }) => [chat_id, status])
}
await client.write(ada.id, '@searched_bot', 'a Needle in "hay"')
await client.write(bob.id, '@searched_bot', 'hay')
await until(async () => (await found('limit=10')).length === 2)
status = 404
await client.write(bob.id, '@searched_bot', 'lost')
await until(async () => (await found('limit=10')).length > 2)

t.test('deliveries are found', async (t) => {
  const lost = { kind: 'message', chat_id: bob.id, chat_name: 'Bob', excerpt: 'lost', status: 404 }
  t.match(await search('limit=1'), { items: [{ ...lost, delivered_at: null }] })
  t.same(await found('text=needle'), [[ada.id, 200]], 'whatever the case')
  t.same(
    await found(`text=${encodeURIComponent('in "hay"')}`),
    [[ada.id, 200]],
    'as it was written',
  )
  t.same(await found(`chat_id=${ada.id}`), [[ada.id, 200]])
  t.same(await found(`chat_id=${bob.id}&status=2xx`), [[bob.id, 200]])
  t.same((await found('status=4xx'))[0], [bob.id, 404])
  t.same(await found('status=5xx'), [])
  t.same(await found('status=none'), [])
  t.same(await found('kind=poll'), [])
  t.same((await found('kind=message&outcome=delivered')).length, 2)
  const soon = new Date(Date.now() + 60_000).toISOString()
  t.same(await found(`since=${soon}`), [])
  t.same((await found(`until=${soon}&outcome=delivered`)).length, 2)
})

t.test('a failed attempt tells of the later one that delivered its update', async (t) => {
  status = 200
  const [delivered] = await until(async () => {
    const { items } = await search('limit=1')
    return items[0].status === 200 && items
  })
  t.match(delivered, { chat_id: bob.id, delivered_at: null })
  const { items } = await search('outcome=failed')
  for (const one of items) t.equal(one.delivered_at, delivered.at)
  t.not(items.length, 0)
})

const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
t.teardown(() => database.close())

t.test(
  'a line tells the beginning of a long text, and nothing of what it cannot read',
  async (t) => {
    const [{ update_id: id }] = (await search('limit=1')).items
    const first = async (payload: string) => {
      await database.query('update update_log set payload = $1 where update_id = $2', [payload, id])
      const [{ chat_name, excerpt }] = (await search('limit=1')).items
      return [chat_name, excerpt]
    }
    const { payload } = (
      await database.query<{ payload: string }>(
        'select payload from update_log where update_id = $1',
        [id],
      )
    )[0] as { payload: string }
    const chat = { first_name: 'Ada', last_name: 'Lovelace' }
    const long = JSON.stringify({ chat, caption: `one\n${'😀'.repeat(200)}` })
    t.same(await first(`"message":${long}`), ['Ada Lovelace', `one ${'😀'.repeat(76)}…`])
    const pressed = JSON.stringify({ message: { chat: { title: 'Tea' } }, data: 'yes' })
    t.same(await first(`"callback_query":${pressed}`), ['Tea', 'yes'])
    for (const odd of ['"message":null', '"message":{"chat":null,"text":1}', '"message":{', '']) {
      t.same(await first(odd), [null, null], odd)
    }
    t.same(await first(`"message":{"text":"${'x'.repeat(20_000)}"}`), [null, null], 'too long')
    await first(payload)
  },
)

t.test('far back, in several steps', async (t) => {
  await database.query(
    `insert into webhook_delivery (at, user_id, api_key_id, update_id, attempt, url, duration_ms)
     select now(), c.user_id, k.id, 1, 1, 'https://bot.test', 1
       from api_key k join credential c on c.id = k.credential_id, generate_series(1, 10000)
      where k.id = $1`,
    [key.api_key_id],
  )
  const first = await search('text=needle')
  t.same(first.items, [], 'not among the newest')
  t.type(first.next_before, 'string')
  const second = await search(`text=needle&before=${first.next_before}`)
  t.match(second.items, [{ chat_id: ada.id }])
  t.equal(second.next_before, null, 'and there is nothing behind it')
})

t.test('what is no such search is refused', async (t) => {
  for (const query of ['status=6xx', 'kind=a-b', 'text=', 'chat_id=x', 'since=yesterday']) {
    t.match(await client.ask('GET', `${path}&${query}`), { status: 400 }, query)
  }
})
