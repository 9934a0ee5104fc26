/** Headers that owners add to deliveries: names and values that may be, and those that stay when a webhook moves. */
import t from 'tap'
import { RequestFailed } from '../../machines/model/failure.ts'
import type { WebhookTarget } from '../../machines/webhook/terms.ts'
import { headersAt, headersFrom } from '../../src/webhooks/headers.ts'

const place: Pick<WebhookTarget, 'url' | 'ipAddress' | 'certificate'> = {
  url: 'https://bot.example/hook',
  ipAddress: undefined,
  certificate: undefined,
}
const set = {
  ...place,
  maxConnections: 1,
  secretToken: undefined,
  headers: [{ name: 'x-tenant', value: 'seven' }],
}

/** What the owner is told of a list that is refused. */
function refusalOf(headers: { name: string; value?: string }[], next: typeof place) {
  try {
    return headersFrom(headers, next, set)
  } catch (cause) {
    if (cause instanceof RequestFailed) return cause.failure
    throw cause
  }
}

t.test('names are kept in small letters, values as they are', async (t) => {
  const given = [
    { name: 'X-Tenant', value: '7' },
    { name: 'Authorization', value: 'Bearer a b' },
  ]
  t.same(headersFrom(given, place, undefined), [
    { name: 'x-tenant', value: '7' },
    { name: 'authorization', value: 'Bearer a b' },
  ])
})

t.test('what frames a request, or proves who sent it, is refused', async (t) => {
  for (const name of [
    'Host',
    'Connection',
    'keep-alive',
    'Proxy-Authorization',
    'TE',
    'Transfer-Encoding',
    'Upgrade',
    'Content-Type',
    'content-length',
    'Expect',
    'X-Telegram-Bot-Api-Secret-Token',
    'webhook-id',
    'Webhook-Signature',
  ]) {
    const given = [{ name, value: 'v' }]
    t.match(refusalOf(given, place), {
      description: 'field "headers.0.name" is a header that the service sets itself',
      reason: 'header_name',
      params: { place: 1 },
    })
  }
  for (const name of ['a b', 'a:b', 'a\r\nb', 'é', '']) {
    const given = [{ name, value: 'v' }]
    t.match(refusalOf(given, place), { reason: 'header_name' }, name)
  }
  for (const value of ['a\r\nHost: x', 'a\0', 'é', ' a', 'a ', '']) {
    const given = [{ name: 'x-a', value }]
    t.match(refusalOf(given, place), { reason: 'header_value' }, value)
  }
  const twice = [
    { name: 'x-a', value: '1' },
    { name: 'X-A', value: '2' },
  ]
  t.match(refusalOf(twice, place), {
    description: 'field "headers.1.name" is there twice',
    params: { place: 2 },
  })
})

t.test('stored values stay at the same origin only', async (t) => {
  const elsewhere = [
    { ...place, url: 'https://other.example/hook' },
    { ...place, url: 'http://bot.example/hook' },
    { ...place, url: 'https://bot.example:8443/hook' },
    { ...place, ipAddress: '192.0.2.1' },
    { ...place, certificate: 'of the holder of the key' },
  ]
  t.same(headersAt({ ...place, url: 'https://bot.example/other' }, set), set.headers)
  t.same(headersFrom([{ name: 'X-Tenant' }], place, set), set.headers)
  for (const next of elsewhere) {
    t.same(headersAt(next, set), [], JSON.stringify(next))
    t.match(refusalOf([{ name: 'X-Tenant' }], next), {
      description: 'field "headers.0.value" is required: none is stored for this address',
      reason: 'header_empty',
    })
  }
})
