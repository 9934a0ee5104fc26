/** The log of deliveries, searched by what the updates contain, by how attempts ended, and by time. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'

t.test('deliveries are found', async (t) => {
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
    return items.map(({ chat_id, status }: { chat_id: number; status: number }) => [
      chat_id,
      status,
    ])
  }
  await client.write(ada.id, '@searched_bot', 'a Needle in "hay"')
  await client.write(bob.id, '@searched_bot', 'hay')
  await until(async () => (await found('limit=10')).length === 2)
  status = 404
  await client.write(bob.id, '@searched_bot', 'lost')
  await until(async () => (await found('limit=10')).length > 2)

  t.match(await search('limit=1'), { items: [{ kind: 'message', chat_id: bob.id, status: 404 }] })
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

  await t.test('far back, in several steps', async (t) => {
    const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
    t.teardown(() => database.close())
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

  for (const query of ['status=6xx', 'kind=a-b', 'text=', 'chat_id=x', 'since=yesterday']) {
    t.match(await client.ask('GET', `${path}&${query}`), { status: 400 }, query)
  }
})
