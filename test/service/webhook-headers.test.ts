/** Headers that an owner adds to a webhook: delivered, kept over restarts and moves, and shown nowhere. */
import { Writable } from 'node:stream'
import t from 'tap'
import { createLogger } from '../../src/observability/logger.ts'
import { canariesIn } from '../support/canaries.ts'
import { until } from '../support/client.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

const lines: string[] = []
const destination = new Writable({
  write(chunk, _, done) {
    lines.push(`${chunk}`)
    done()
  },
})
const logger = createLogger({ level: 'trace', destination })
const { service, client, ada, key, keyId } = await scene(t, { logger })
const path = `/api_keys/${keyId}/webhook`
const VALUE = 'canary-of-the-tenant-7'
const BEARER = 'Bearer canary-of-the-bearer'
const headers = [
  { name: 'X-Tenant', value: VALUE },
  { name: 'Authorization', value: BEARER },
]

/** At most one change a second is let through. */
const patient = (change: () => ReturnType<typeof client.ask>) =>
  until(async () => {
    const answer = await change()
    return answer.status !== 429 && answer
  })
const put = (body: object) => patient(() => client.ask('PUT', path, body))
const setByBot = (body: object) => patient(() => client.bot(key, 'setWebhook', body))

async function next(receiver: Receiver) {
  const count = receiver.received.length + 1
  await client.write(ada.id, '@gatebot', 'hello')
  return (await receiver.count(count))[count - 1]?.headers
}

t.test('they are delivered, tested, and shown nowhere', async (t) => {
  const receiver = await Receiver.open(t, (_, response) => response.writeHead(500).end())
  t.match(await put({ url: receiver.url, headers }), {
    status: 200,
    body: { result: { webhook: { header_names: ['x-tenant', 'authorization'] } } },
  })
  const sent = { 'x-tenant': VALUE, authorization: BEARER, 'content-type': 'application/json' }
  t.match(await next(receiver), sent)
  const exchanges = await until(async () => {
    const { items } = await client.result('GET', `${path}/exchanges`)
    return items.length > 0 && items
  })
  t.match(new Map(exchanges[0].request.headers), new Map([['x-tenant', '[redacted]']]))

  receiver.answer = (_, response) => response.end()
  const before = receiver.received.length
  t.match(await patient(() => client.ask('POST', `${path}/test`, {})), {
    body: { result: { delivered: true } },
  })
  const tested = (await receiver.count(before + 1)).find(({ text }) => text === '{"update_id":0}')
  t.match(tested?.headers, sent)

  const shown = JSON.stringify([
    await client.result('GET', '/api_keys'),
    await client.result('GET', `/api_keys/${keyId}`),
    await client.result('GET', '/user/logs/api-requests'),
    await client.result('GET', '/user/logs/webhook-deliveries'),
    await client.result('POST', `/api_keys/${keyId}/diagnosis`, { all: true }),
    (await client.bot(key, 'getWebhookInfo')).body,
    exchanges,
  ])
  for (const canary of [VALUE, BEARER]) {
    t.notMatch(shown, canary, 'answers')
    t.notMatch(lines.join(''), canary, 'log')
  }
  t.same(await canariesIn(service.databaseUrl, [VALUE, BEARER]), [])
})

t.test('they stay over a restart and at the same origin, for bots too', async (t) => {
  const receiver = await Receiver.open(t)
  const { origin } = new URL(receiver.url)
  await put({ url: receiver.url, headers })
  await service.restart()
  t.match(await next(receiver), { 'x-tenant': VALUE })
  t.match(await setByBot({ url: `${origin}/moved`, secret_token: 'right' }), { status: 200 })
  t.match(await next(receiver), {
    'x-tenant': VALUE,
    'x-telegram-bot-api-secret-token': 'right',
  })
  const changed = await put({ url: receiver.url, headers: [{ name: 'x-tenant' }] })
  t.same(changed.body.result.webhook.header_names, ['x-tenant'])
  t.match(await next(receiver), { 'x-tenant': VALUE, authorization: undefined })
  t.match(await put({ url: receiver.url, headers: [] }), {
    body: { result: { webhook: { header_names: { length: 0 } } } },
  })
})

t.test('at another origin, none is sent that was not given for it', async (t) => {
  const first = await Receiver.open(t)
  const second = await Receiver.open(t)
  await put({ url: first.url, headers })
  t.match(await put({ url: second.url, headers: [{ name: 'x-tenant' }] }), {
    status: 400,
    body: {
      description:
        'Bad Request: field "headers.0.value" is required: none is stored for this address',
      errors: [{ field: 'headers.0.value', code: 'header_empty', params: { place: 1 } }],
    },
  })
  t.match(await setByBot({ url: second.url }), { status: 200 })
  const got = await next(second)
  t.equal(got?.['x-tenant'], undefined)
  t.equal(got?.authorization, undefined)
  t.same((await client.result('GET', `/api_keys/${keyId}`)).webhook.header_names, [])
})

t.test('bad lists are refused, and no bot sets headers', async (t) => {
  const receiver = await Receiver.open(t)
  const many = Array.from({ length: 11 }, (_, n) => ({ name: `x-${n}`, value: 'v' }))
  for (const bad of [
    many,
    [{ name: 'host', value: 'x' }],
    [{ name: 'x-a', value: 'a\r\nb: c' }],
    [{ name: 'x-a', value: 'v'.repeat(1_025) }],
    [{ name: 'x-a', value: 'v', more: 1 }],
    { 'x-a': 'v' },
  ]) {
    const answer = await put({ url: receiver.url, headers: bad })
    t.equal(answer.status, 400, JSON.stringify(bad).slice(0, 80))
    t.notMatch(answer.body, { ok: true })
  }
  t.match(await setByBot({ url: receiver.url, headers }), { status: 200 })
  t.equal((await next(receiver))?.['x-tenant'], undefined)
})
