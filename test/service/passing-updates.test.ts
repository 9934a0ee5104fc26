/** Updates of a bot behind the gateway: byte for byte what its network said, but for the id, by polling and by webhook. */
import t from 'tap'
import { UPDATE_KINDS } from '../../machines/model/update-kinds.ts'
import { itemSpans, memberSpans } from '../../src/json/spans.ts'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { messageExamples, updateExamples } from '../platforms/upstream-bot/examples.ts'
import { ok, raw, startStub, token, update } from '../platforms/upstream-bot/stub.ts'
import { until } from '../support/client.ts'
import { listen, urlOf } from '../support/http-server.ts'
import { exemptFromReference } from '../support/reference-check.ts'
import { startService } from '../support/service.ts'

// The stub invents fields, as a later version of the reference would.
exemptFromReference()
const stub = await startStub(t)
const service = await startService(t, { env: { TELEGRAM_BOT_API_URL: stub.url } })
const client = await service.client()
const credentialId = await linkBot(client, { token })
const settings = {
  include_channel_updates: true,
  include_deleted_updates: true,
  include_self_updates: true,
}
await client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, settings)
const polling = (await client.key(credentialId)).key as string
const hooked = (await client.key(credentialId)).key as string

const delivered: string[] = []
const answers: ((text: string) => string)[] = []
const receiver = await listen(t, async (request, response) => {
  delivered.push(Buffer.concat(await request.toArray()).toString())
  response.setHeader('content-type', 'application/json')
  response.end(answers.shift()?.(delivered.at(-1) ?? '') ?? '')
})
const all = { allowed_updates: [...UPDATE_KINDS, 'a_kind_of_next_year'] }
t.equal((await client.bot(hooked, 'setWebhook', { url: urlOf(receiver), ...all })).status, 200)

const idOf = (text: string) => Number(/"update_id"\s*:\s*(\d+)/.exec(text)?.[1])
const withId = (text: string, id: number) => text.replace(/("update_id"\s*:\s*)\d+/, `$1${id}`)

let offset = 0
/** The texts of the updates that the polling key gets until there are so many. */
async function polled(count: number): Promise<string[]> {
  const texts: string[] = []
  while (texts.length < count) {
    const query = `offset=${offset}&timeout=10`
    const answer = await (await fetch(`${service.url}/bot${polling}/getUpdates?${query}`)).text()
    const result = [...memberSpans(answer)].find(({ name }) => name === 'result')
    const items = [...itemSpans(answer, result?.from)]
    texts.push(...items.map(({ from, to }) => answer.slice(from, to)))
    offset = idOf(texts.at(-1) ?? '') + 1 || offset
  }
  return texts
}

t.test('every kind of update and every field of a message', async (t) => {
  await client.bot(polling, 'getUpdates', { timeout: 0, ...all })
  const members = [
    ...updateExamples,
    ...messageExamples.map((message) => `"message":${message}`),
    '"a_kind_of_next_year":{"id":12345678901234567890,"n":1.50,"s":"\\u0000"}',
  ]
  // As the reference writes it, and as others do.
  const frames: readonly ((id: number, member: string) => string)[] = [
    (id, member) => `{"update_id":${id},\n${member}}`,
    (id, member) => `{"update_id": ${id}, ${member.replace(':', ': ')}}`,
    (id, member) => `{"update_id":${id},${member}}`,
    (id, member) => `{\n  "update_id" : ${id},\r\n\t${member}\n}`,
  ]
  const sent = members.map((member, place) => frames[place % frames.length]!(1000 + place, member))
  stub.push(...sent)
  const received = await polled(sent.length)
  for (const [place, text] of received.entries()) {
    const name = /"(?!update_id)(\w+)"/.exec(sent[place] ?? '')?.[1]
    t.equal(text, withId(sent[place] ?? '', idOf(text)), `${place}: ${name}`)
  }
  const ids = received.map(idOf)
  t.ok(
    ids.every((id, place) => place === 0 || id === ids[place - 1]! + 1),
    'no gaps',
  )
  await until(() => delivered.length >= sent.length)
  const byId = delivered.toSorted((one, other) => idOf(one) - idOf(other))
  t.strictSame(byId, received, 'the webhook gets the same')
  t.equal(updateExamples.length, 27, 'kinds of 10.3')
  t.equal(messageExamples.length, 117, 'fields of 10.3')
})

t.test('the network is asked for what the keys want together', async (t) => {
  const asked = () => stub.last('getUpdates')?.body.allowed_updates as string[]
  const want = async (key: string, allowed_updates: readonly string[]) => {
    const method = key === hooked ? 'setWebhook' : 'getUpdates'
    const more = key === hooked ? { url: urlOf(receiver) } : { timeout: 0, offset }
    // A webhook is set once a second at most.
    await until(async () => {
      const { status } = await client.bot(key, method, { ...more, allowed_updates })
      return status === 200
    })
  }
  await want(polling, ['message', 'some_newer_kind'])
  await want(hooked, ['callback_query', 'chat_member'])
  const both = ['message', 'callback_query', 'chat_member', 'some_newer_kind']
  await until(() => asked().toSorted().join() === both.toSorted().join())
  const { key, api_key_id } = await client.key(credentialId)
  await until(() => asked().includes('inline_query') && asked().includes('some_newer_kind'))
  t.ok(asked().includes('chat_member'), 'the defaults of a third key come on top')
  t.notOk(asked().includes('message_reaction'), 'but for what nobody wants')
  await want(polling, [])
  await want(hooked, [])
  await until(() => asked().length === 0)
  t.pass('none stands for what comes by itself')
  await client.result('DELETE', `/api_keys/${api_key_id}`)
  t.match((await client.bot(key, 'getMe')).status, 401)
})

t.test('what one key does is told to the others, as the network said it', async (t) => {
  const other = (await client.key(credentialId)).key as string
  const message = `{"message_id":9, "date":1700000001, "chat":{"id":42,"type":"private","first_name":"Ada"},"big":9007199254740993}`
  stub.next('sendMessage', raw(200, `{"ok":true,"result":${message}}`))
  t.equal((await client.bot(other, 'sendMessage', { chat_id: 42, text: 'x' })).status, 200)
  stub.next('editMessageText', raw(200, `{"ok":true,"result":${message}}`))
  await client.bot(other, 'editMessageText', { chat_id: 42, message_id: 9, text: 'y' })
  stub.next('sendMediaGroup', raw(200, `{"ok":true,"result":[${message}, ${message}]}`))
  await client.bot(other, 'sendMediaGroup', { chat_id: 42, media: [] })
  stub.next('getUserPersonalChatMessages', raw(200, `{"ok":true,"result":[${message}]}`))
  await client.bot(other, 'getUserPersonalChatMessages', { user_id: 42, limit: 1 })
  stub.next('deleteMessages', ok(true))
  await client.bot(other, 'deleteMessages', { chat_id: 42, message_ids: [9, 10] })
  const last = update('the end')
  stub.push({ ...last, update_id: 9_000_000 })
  const texts = await polled(6)
  t.strictSame(
    texts.slice(0, 4).map((text) => text.slice(text.indexOf('\n') + 1, -1)),
    [
      `"message":${message}`,
      `"edited_message":${message}`,
      `"message":${message}`,
      `"message":${message}`,
    ],
  )
  t.match(JSON.parse(texts[4]!), { deleted_messages: { chat: { id: 42 }, message_ids: [9, 10] } })
  t.match(texts[5], 'the end')
  const { body } = await client.bot(other, 'getUpdates', { timeout: 5 })
  t.match(body.result, [{ message: { text: 'the end' } }], 'and not to itself')
  t.equal(body.result.length, 1)
})

t.test('a method in the answer to a webhook goes on as it came', async (t) => {
  const reply = '{"method":"sendInvoice", "chat_id":42,"newer":[1.50, 12345678901234567890]}'
  answers.push(() => reply)
  stub.next('sendInvoice', ok({ message_id: 1 }))
  stub.push({ ...update('question'), update_id: 9_000_001 })
  await until(() => stub.last('sendInvoice'))
  const asked = stub.last('sendInvoice')!
  t.equal(asked.bytes.toString(), reply)
  t.equal(asked.headers['content-type'], 'application/json')
})
