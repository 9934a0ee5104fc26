/** Sends with an Idempotency-Key over HTTP: repeated without harm, also over a restart. */
import t from 'tap'
import { ask } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, credentialId, key } = await scene(t, {})
const { key: otherKey } = await client.key(credentialId)

const send = (idempotencyKey: string, body: object = {}, by = key, method = 'sendMessage') =>
  ask(
    client.url,
    'POST',
    `/bot${by}/${method}`,
    { chat_id: ada.id, text: 'hi', ...body },
    {
      'idempotency-key': idempotencyKey,
    },
  )
const received = async (): Promise<number> =>
  (await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)).messages.length

t.test('a repeated call answers the same and sends nothing, also after a restart', async (t) => {
  const first = await send('order 1')
  t.equal(first.status, 200)
  t.same((await send('order 1')).body, first.body)
  await service.restart()
  await client.state(credentialId, 'active')
  t.same((await send('order 1', { text: 'something else' })).body, first.body)
  t.equal(await received(), 1)
  t.equal((await send('order 1', {}, otherKey)).status, 200, 'another API key has its own')
  t.equal((await send('order 2')).status, 200)
  t.equal(await received(), 3)
  t.match(await send('lost', { chat_id: 424_242 }), refused(400, 'Bad Request: chat not found'))
  t.match(await send('lost'), refused(400, 'Bad Request: chat not found'))
})

t.test('files count as well, and methods that send nothing do not', async (t) => {
  const picture = await (await fetch('data:text/plain;base64,aGVsbG8=')).blob()
  const upload = async () => {
    const form = new FormData()
    form.set('chat_id', `${ada.id}`)
    form.set('document', picture, 'hello.txt')
    const headers = { 'idempotency-key': 'file' }
    const url = `${client.url}/bot${key}/sendDocument`
    return (await fetch(url, { method: 'POST', body: form, headers })).json()
  }
  const first = (await upload()) as { ok: boolean }
  t.equal(first.ok, true)
  t.same(await upload(), first)
  t.match(await send('file', {}, key, 'getMe'), { body: { result: { first_name: 'Bot' } } })
  t.match(
    await send('x'.repeat(129)),
    refused(400, 'Bad Request: the Idempotency-Key must have 1 to 128 characters'),
  )
})

t.test('premium that is given twice with one key is paid once', async (t) => {
  const stars = async () => (await client.bot(key, 'getMyStarBalance')).body.result.amount
  const had = await stars()
  const gift = { user_id: ada.id, month_count: 3, star_count: 1000 }
  const give = () => send('premium', gift, key, 'giftPremiumSubscription')
  t.match(await give(), { status: 200, body: { ok: true, result: true } })
  t.match(await give(), { status: 200, body: { ok: true, result: true } })
  t.equal(await stars(), had - 1000)
})

t.test('what a silent network left open is sent once when it is asked for again', async (t) => {
  const faults = `/sandbox/people/${bot.id}/faults`
  await client.result('PUT', `${faults}/silence`, {})
  // Either of the two may be the first.
  const answers = await Promise.all([send('slow'), send('slow')])
  const [second, cut] = answers.sort((one, other) => one.status - other.status)
  t.match(second, refused(409, 'Conflict: a call with this Idempotency-Key is under way'))
  t.match(cut?.body, {
    error_code: 504,
    description: /^Gateway Timeout: .+; the message may have been sent$/,
  })
  await service.restart()
  await client.result('DELETE', faults)
  await client.state(credentialId, 'active')
  const before = await received()
  const resolved = await send('slow')
  t.equal(resolved.status, 200)
  t.same((await send('slow')).body, resolved.body)
  t.equal(await received(), before + 1)
})

t.test('what was sent although its answer got lost is found, and not sent again', async (t) => {
  await client.result('PUT', `/sandbox/people/${bot.id}/faults/lose_answers`, { times: 1 })
  const before = await received()
  t.match(await send('unheard'), { status: 504 })
  t.equal(await received(), before + 1)
  const found = await send('unheard')
  t.match(found, { status: 200, body: { result: { text: 'hi' } } })
  t.same((await send('unheard')).body, found.body)
  t.equal(await received(), before + 1)
})
