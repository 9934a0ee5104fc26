/** Updates on their way to a webhook: order, retries, signatures, calls in the answer, the log, restarts. */
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { until } from '../support/client.ts'
import { answers, Receiver } from '../webhooks/receiver.ts'
import { refused, scene } from './scene.ts'

const { service, client, ada, bot: account, credentialId } = await scene(t, {})
const write = (text: string, from = ada) => client.write(from.id, '@gatebot', text)

async function hooked(url: string, more: object = {}) {
  const { key, api_key_id: id } = await client.key(credentialId)
  const call = (method: string, body: unknown = {}) => client.bot(key, method, body)
  const set = await call('setWebhook', { url, ...more })
  if (!set.body.ok) throw new Error(set.body.description)
  const path = `/api_keys/${id}/webhook`
  const deliveries = async (query = '') =>
    (await client.result('GET', `/user/logs/webhook-deliveries?api_key_id=${id}${query}`)).items
  return { id, key, call, path, deliveries }
}

t.test('what fails is tried again, in order, and the owner sees every attempt', async (t) => {
  const receiver = await Receiver.open(t, answers(500, 404))
  const { call, deliveries } = await hooked(`${receiver.url}?token=secret`)
  t.match((await call('getWebhookInfo')).body.result, { ip_address: '127.0.0.1' })
  await write('first')
  await write('second')
  await receiver.count(4)
  t.same(receiver.texts, ['first', 'first', 'first', 'second'])
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  t.equal(new Set(ids.slice(0, 3)).size, 1, 'the id is that of the update')
  const found = await until(async () => {
    const items = await deliveries()
    return items.length === 4 && items
  })
  const seen = found.map((item: Record<string, unknown>) => [item.attempt, item.status, item.error])
  t.same(seen, [
    [1, 200, null],
    [3, 200, null],
    [2, 404, 'Wrong response from the webhook: 404 Not Found'],
    [1, 500, 'Wrong response from the webhook: 500 Internal Server Error'],
  ])
  t.equal(found[0].url, receiver.url, 'without the query')
  t.type(found[3].next_attempt_at, 'string')
  t.equal(found[0].next_attempt_at, null)
  t.equal((await deliveries('&outcome=failed')).length, 2)
  t.equal((await deliveries(`&update_id=${found[0].update_id}`)).length, 1)
  const page = await client.result('GET', '/user/logs/webhook-deliveries?limit=1')
  t.equal(page.items.length, 1)
  t.type(page.next_before, 'string')
  const info = (await call('getWebhookInfo')).body.result
  t.equal(info.last_error_message, 'Wrong response from the webhook: 404 Not Found')
  t.equal(info.pending_update_count, 0)
  t.equal(info.ip_address, '127.0.0.1', 'where the receiver was found')
})

t.test(
  'an own message is delivered to other keys, with the id of the call that sent it',
  async (t) => {
    const settings = `/platforms/credentials/${credentialId}/settings`
    const include = (include_self_updates: boolean) =>
      client.result('PATCH', settings, { include_self_updates })
    const receiver = await Receiver.open(t)
    const { deliveries } = await hooked(receiver.url)
    const { key } = await client.key(credentialId)
    await include(true)
    const sent = await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'traced' })
    await include(false)
    const trace_id = sent.headers.get('x-request-id')
    t.type(trace_id, 'string')
    await receiver.count(1)
    await write('of a person')
    await receiver.count(2)
    const found = await until(async () => {
      const items = await deliveries()
      return items.length === 2 && items
    })
    t.match(found, [{ trace_id: null }, { trace_id }])
  },
)

t.test('a slow chat and a failing one delay nobody else', async (t) => {
  const bob = await client.person('Bob')
  const cyd = await client.person('Cyd')
  const receiver = await Receiver.open(t, ({ update }, response) => {
    if (update.message.from.id === ada.id) return
    response.statusCode = update.message.from.id === bob.id ? 500 : 200
    response.end()
  })
  const { call } = await hooked(receiver.url)
  await write('hangs')
  await write('fails', bob)
  for (const text of ['a', 'b', 'c']) await write(text, cyd)
  await until(() => receiver.texts.filter((text) => /^[abc]$/.test(text)).length === 3, 3_000)
  const mine = receiver.texts.filter((text) => /^[abc]$/.test(text))
  t.same(mine, ['a', 'b', 'c'])
  const { result } = (await call('getWebhookInfo')).body
  t.equal(result.pending_update_count, 2)
  await call('deleteWebhook')
  const rest = (await call('getUpdates')).body.result
  t.match(rest[0], { message: { text: 'hangs' } }, 'nothing is lost by the switch')
})

t.test(
  'deliveries are signed once there is a secret, and with both after a rotation',
  async (t) => {
    const receiver = await Receiver.open(t)
    const { path } = await hooked(receiver.url)
    await write('unsigned')
    await receiver.count(1)
    t.equal(receiver.received[0]?.headers['webhook-signature'], undefined)
    t.match(await client.ask('GET', `${path}/secret`), refused(404, 'Not Found'))

    const first = await client.result('POST', `${path}/secret`)
    t.same(await client.result('GET', `${path}/secret`), first)
    await write('signed')
    const second = await receiver.count(2).then(() => client.result('POST', `${path}/secret`))
    await write('twice')
    await receiver.count(3)
    const [, one, two] = receiver.received
    const verify = (secret: string, { text, headers }: { text: string; headers: object } = one!) =>
      new Webhook(secret).verify(text, headers as Record<string, string>)
    t.match(verify(first.secret), { message: { text: 'signed' } })
    t.throws(() => verify(second.secret))
    t.match(verify(first.secret, two), { message: { text: 'twice' } })
    t.match(verify(second.secret, two), { message: { text: 'twice' } })
    t.throws(() => verify(second.secret, { text: `${two?.text} `, headers: two?.headers ?? {} }))
    t.type(second.previous_until, 'string')
  },
)

t.test('the answer may carry a call, which is made like any other', async (t) => {
  const replies = [
    { method: 'sendMessage', chat_id: ada.id, text: 'answered' },
    { method: 'deleteWebhook' },
    { method: 'getMe' },
  ]
  const receiver = await Receiver.open(t, (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(replies.shift()))
  })
  const { call, deliveries } = await hooked(receiver.url)
  for (const text of ['1', '2', '3', '4']) await write(text)
  await receiver.count(4)
  await until(async () => {
    const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
    return messages.some(({ text }: { text: string }) => text === 'answered')
  })
  t.equal((await call('getWebhookInfo')).body.result.url, receiver.url, 'it is still there')
  t.equal((await deliveries()).length, 4)
})

t.test('updates are delivered again from an update or a time on', async (t) => {
  const receiver = await Receiver.open(t)
  const { path } = await hooked(receiver.url)
  for (const text of ['x', 'y', 'z']) await write(text)
  const [, second] = await receiver.count(3)
  const from_update_id = second?.update.update_id
  t.same(await client.result('POST', `${path}/replay`, { from_update_id }), { from_update_id })
  await receiver.count(5)
  t.same(receiver.texts, ['x', 'y', 'z', 'y', 'z'])
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  t.equal(ids[3], ids[1], 'under the same ids')
  const since = new Date(Date.now() + 60_000).toISOString()
  await client.result('POST', `${path}/replay`, { since })
  await write('new')
  await receiver.count(6)
  t.equal(receiver.texts.at(-1), 'new')
  const both = { from_update_id, since }
  t.match(await client.ask('POST', `${path}/replay`, both), { status: 400 })
})

t.test('a replay begins where the log does, if it is to begin before', async (t) => {
  const receiver = await Receiver.open(t)
  const { path, id } = await hooked(receiver.url)
  await write('newest')
  await receiver.count(1)
  const replay = (body: object) => client.ask('POST', `${path}/replay`, body)
  const from = async (body: object) => (await replay(body)).body.result?.from_update_id
  const first = await from({ from_update_id: 1 })
  t.ok(first > 2_000_000, 'there is nothing to be looked through before it')
  await until(() => receiver.texts.at(-1) === 'newest' && receiver.received.length > 1)
  for (const since of ['0000-01-01T00:00:00Z', '2026-01-01T00:00:00+05', 'x']) {
    const errors = [{ field: 'since', reason: /^must be a time such as / }]
    t.match(await replay({ since }), { status: 400, body: { errors } }, since)
  }
  t.equal(await from({ since: '2026-01-01T00:00:00+20:00' }), first)
  t.equal(await from({ since: '0001-01-01T00:00:00Z' }), first)
  await client.result('DELETE', `/api_keys/${id}`)
  t.match(await replay({ from_update_id: 1 }), refused(400, 'Bad Request: the key is revoked'))
  await write('to nobody')
  const nothing = { receive_mode: 'none', webhook: null, pending_update_count: 0 }
  t.match(await client.result('GET', `/api_keys/${id}`), nothing)
  const backlog = await client.result('GET', `/api_keys/${id}/backlog`)
  t.match(backlog, { pending_update_count: 0, oldest_at: null, series: { length: 0 } })
})

t.test('one update, those that failed, or a range is sent again, counted beforehand', async (t) => {
  let refuses = false
  const receiver = await Receiver.open(t, ({ update }, response) => {
    response.statusCode = refuses && update.message.text !== 'd' ? 500 : 200
    response.end()
  })
  const { path, call } = await hooked(receiver.url)
  // What was written before this may still have been on its way.
  await write('begin')
  await until(() => receiver.texts.includes('begin'))
  receiver.received.length = 0
  for (const text of ['a', 'b', 'c', 'd']) await write(text)
  const ids = (await receiver.count(4)).map(({ update }) => update.update_id)
  const [a, b, c, d] = ids
  const resend = (body: object) => client.result('POST', `${path}/resend`, body)
  const done = () =>
    until(async () => (await client.result('GET', `${path}/resend`)).state === 'done')
  t.match(await client.result('GET', `${path}/resend`), { state: 'none', updates: 0 })

  const range = { from_update_id: b, to_update_id: c }
  const counted = { state: 'counted', updates: 2, from_update_id: b, to_update_id: c }
  t.match(await resend({ ...range, count_only: true }), counted)
  t.equal(receiver.received.length, 4, 'counting sends nothing')
  t.match(await resend(range), { ...counted, state: /running|done/ })
  await receiver.count(6)
  await done()
  t.same(receiver.texts.slice(4), ['b', 'c'], 'the range has an end')
  await resend({ update_id: a })
  await receiver.count(7)
  t.equal(receiver.texts[6], 'a')
  await done()
  t.equal((await call('getWebhookInfo')).body.result.pending_update_count, 0)

  t.match(await resend({ outcome: 'failed', count_only: true }), { updates: 0 })
  const none = await client.ask('POST', `${path}/resend`, { outcome: 'failed' })
  t.match(none, refused(400, 'Bad Request: there is no such update to send again'))
  refuses = true
  await resend({ from_update_id: c, to_update_id: c })
  await receiver.count(8)
  t.match(await client.result('GET', `${path}/resend`), { state: 'running', remaining: 1 })
  t.match(await client.result('DELETE', `${path}/resend`), { state: 'stopped', remaining: 1 })
  const stoppedAt = receiver.received.length
  refuses = false
  await write('e')
  await until(() => receiver.texts.includes('e'))
  t.same(receiver.texts.slice(stoppedAt), ['e'], 'what was stopped is not sent')
  t.match(await client.result('GET', `${path}/resend`), { state: 'stopped', remaining: 1 })
  t.match(await resend({ outcome: 'failed', count_only: true }), { updates: 1, from_update_id: c })
  await resend({ outcome: 'failed' })
  await done()
  t.same(receiver.texts.slice(stoppedAt), ['e', 'c'])
  t.match(await resend({ outcome: 'failed', count_only: true }), { updates: 0 })

  const future = new Date(Date.now() + 60_000).toISOString()
  t.match(await resend({ since: future, count_only: true }), { updates: 0, from_update_id: null })
  t.match(await resend({ until: future, from_update_id: d, count_only: true }), { updates: 2 })
  const bad = [{}, { update_id: a, outcome: 'failed' }, { from_update_id: c, to_update_id: b }]
  for (const body of bad) t.equal((await client.ask('POST', `${path}/resend`, body)).status, 400)
  const backwards = { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }
  const { body } = await client.ask('POST', `${path}/resend`, backwards)
  t.match(body, { errors: [{ field: 'until', reason: 'must not be before "since"' }] })
})

t.test('a range of times cuts one update out of the middle', async (t) => {
  const receiver = await Receiver.open(t)
  const { path } = await hooked(receiver.url)
  /** A time after each was stored and before the next one was. */
  const between: string[] = []
  for (const text of ['l', 'm', 'n']) {
    await write(text)
    await until(() => receiver.texts.includes(text))
    const now = Date.now()
    await until(() => Date.now() > now + 1)
    between.push(new Date(now + 1).toISOString())
  }
  const middle = receiver.received.find(({ update }) => update.message.text === 'm')
  const range = { since: between[0], until: between[1] }
  const id = middle?.update.update_id
  const counted = await client.result('POST', `${path}/resend`, { ...range, count_only: true })
  t.match(counted, { updates: 1, from_update_id: id, to_update_id: id })
  receiver.received.length = 0
  await client.result('POST', `${path}/resend`, range)
  await until(async () => (await client.result('GET', `${path}/resend`)).state === 'done')
  t.same(receiver.texts, ['m'])
})

t.test('an interrupted resend goes on after a restart, and ends with its webhook', async (t) => {
  let isUp = true
  const receiver = await Receiver.open(t, (_, response) => {
    response.statusCode = isUp ? 200 : 503
    response.end()
  })
  const { path, call } = await hooked(receiver.url)
  for (const text of ['p', 'q', 'r']) await write(text)
  const [first, second] = await receiver.count(3)
  isUp = false
  const range = { from_update_id: first?.update.update_id, to_update_id: second?.update.update_id }
  await client.result('POST', `${path}/resend`, range)
  await receiver.count(4)
  await service.restart()
  t.match(await client.result('GET', `${path}/resend`), { state: 'running', remaining: 2 })
  isUp = true
  const sent = receiver.received.length
  await until(async () => (await client.result('GET', `${path}/resend`)).state === 'done', 60_000)
  const texts = receiver.texts.slice(sent - 1).filter((text) => text !== 'p')
  t.same(texts, ['q'], 'to its end, and no further')

  isUp = false
  await client.result('POST', `${path}/resend`, range)
  await receiver.count(receiver.received.length + 1)
  await call('deleteWebhook')
  t.same((await call('getUpdates')).body.result, [], 'a poll gets nothing of it')
  t.match(await client.result('GET', `${path}/resend`), { state: 'none' })
})

t.test('a new secret does not keep what failed from its next try', async (t) => {
  const receiver = await Receiver.open(t, answers(500, 500))
  const { id } = await hooked(receiver.url)
  await write('late')
  await receiver.count(2)
  await client.result('POST', `/api_keys/${id}/rotate`)
  await receiver.count(3)
  t.same(receiver.texts, ['late', 'late', 'late'])
})

t.test('a restart resumes where it was, and wakes what has something to deliver', async (t) => {
  const receiver = await Receiver.open(t, answers(...Array(3).fill(503)))
  await hooked(receiver.url)
  await write('before')
  await receiver.count(2)
  await service.restart()
  await receiver.count(4)
  t.same(receiver.texts, Array(4).fill('before'))
  await client.state(credentialId, 'active')
  await write('after')
  await receiver.count(5)
  t.equal(receiver.texts.at(-1), 'after')
})

t.test('the usage figures count attempts and failures', async (t) => {
  const receiver = await Receiver.open(t, answers(500))
  const { id } = await hooked(receiver.url)
  await write('counted')
  await receiver.count(2)
  const totals = await until(async () => {
    const { totals } = await client.result('GET', `/user/usage?api_key_id=${id}`)
    return totals.webhook_attempts === 2 && totals
  })
  t.match(totals, { webhook_failures: 1, updates_delivered: 1 })
  t.ok(account)
})
