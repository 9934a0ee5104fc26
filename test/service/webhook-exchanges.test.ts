/** What went over the wire in deliveries: kept as each key chooses, bounded, without secrets, sealed, erased. */
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import t from 'tap'
import { until } from '../support/client.ts'
import { answers, Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

const { service, client, ada, credentialId } = await scene(t)
const write = (text: string) => client.write(ada.id, '@gatebot', text)

async function hooked(
  t: Parameters<typeof Receiver.open>[0],
  answer?: Parameters<typeof Receiver.open>[1],
) {
  const receiver = await Receiver.open(t, answer)
  const { key, api_key_id: id } = await client.key(credentialId)
  const url = receiver.url.replace('http://', 'http://bot:hunter2@')
  const set = await client.bot(key, 'setWebhook', { url, secret_token: 'open-sesame' })
  if (!set.body.ok) throw new Error(set.body.description)
  const path = `/api_keys/${id}/webhook/exchanges`
  const attempts = (count: number) =>
    until(async () => {
      const found = await client.result('GET', `/user/logs/webhook-deliveries?api_key_id=${id}`)
      return found.items.length >= count && found.items
    })
  const of = (update: number) => client.result('GET', `${path}?update_id=${update}`)
  return { receiver, id, key, path, attempts, of }
}

t.test('a failed attempt is kept with both sides, without secrets', async (t) => {
  const leak = `token=abcdefgh and 123456789:${'A'.repeat(35)}`
  let calls = 0
  const { attempts, of, receiver } = await hooked(t, (_, response) => {
    response.statusCode = calls++ === 0 ? 500 : 200
    response.setHeader('content-encoding', 'gzip')
    response.setHeader('set-cookie', 'session=hunter2')
    response.end(gzipSync(`it broke: ${leak} ${'x'.repeat(20_000)}`))
  })
  await write('one')
  const [good, bad] = await attempts(2)
  t.same([good.status, bad.status], [200, 500])
  const { items, keep, update } = await of(bad.update_id)
  t.equal(keep, 'failed')
  t.equal(items.length, 1, 'what worked is not kept')
  const sent = receiver.received[1]?.update
  t.same(JSON.parse(update.body), sent, 'but the update that was its body is stored')
  t.equal(update.is_cut, false)
  const [{ attempt, request, response }] = items
  t.equal(attempt, 1)
  t.same(JSON.parse(request.body), receiver.received[0]?.update, 'the payload as it was sent')
  t.equal(response.body.length, 16_384)
  t.equal(response.is_cut, true)
  t.match(response.body, /^it broke/, 'inflated')
  t.match(new Map(request.headers).get('webhook-id'), /^\d+-\d+$/)
  const all = JSON.stringify(items)
  for (const secret of [
    'hunter2',
    'Ym90Omh1bnRlcjI',
    'open-sesame',
    'abcdefgh',
    'v1,',
    'AAAAAAAAAA',
  ]) {
    t.notMatch(all, secret, secret)
  }
})

t.test('a key chooses what is kept', async (t) => {
  const { attempts, of, path } = await hooked(t)
  t.same(await client.result('PUT', path, { keep: 'all' }), { keep: 'all' })
  await write('two')
  const [first] = await attempts(1)
  const { items } = await of(first.update_id)
  t.equal(items.length, 1)
  t.same(items[0].response.body, '')
  await client.result('PUT', path, { keep: 'none' })
  const kept = await until(async () => {
    await write('again')
    const [newest] = (await client.result('GET', `/user/logs/webhook-deliveries?limit=1`)).items
    return newest && (await of(newest.update_id)).items.length === 0
  })
  t.ok(kept, 'after a moment nothing more is kept')
})

t.test('what never got an answer has none', async (t) => {
  const { receiver, attempts, of } = await hooked(t, (_, response) => response.destroy())
  await write('three')
  await receiver.count(1)
  const [newest] = await attempts(1)
  const { items } = await of(newest.update_id)
  t.match(items[0], { response: null, request: { is_cut: false } }, 'there may be a second attempt')
})

t.test('only its owner reads it, and the table holds no text', async (t) => {
  const { path } = await hooked(t, answers(500))
  const stranger = await service.client()
  t.match(await stranger.ask('GET', `${path}?update_id=1`), { status: 404 })
  t.match(await stranger.ask('PUT', path, { keep: 'all' }), { status: 404 })
  t.match(await client.ask('GET', `${path}?update_id=x`), { status: 400 })
  const nothing = { items: [], update: null }
  t.match(await client.result('GET', path), nothing, 'nothing was sent yet')
  t.match(await client.result('GET', `${path}?update_id=1`), nothing, 'no such update')
  t.match(await client.ask('PUT', path, { keep: 'some' }), { status: 400 })
  const signedOut = await fetch(`${service.url}${path}?update_id=1`)
  t.equal(signedOut.status, 401)
  const db = new pg.Client({ connectionString: service.databaseUrl })
  await db.connect()
  t.teardown(() => db.end())
  const { rows } = await db.query('select sealed from webhook_exchange')
  t.ok(rows.length > 0)
  for (const { sealed } of rows) t.notMatch(sealed.toString('latin1'), 'message')
})
