/** A gateway behind a gateway: what a client is told is the same through both. */
import t from 'tap'
import { receive, startChain } from '../platforms/upstream-bot/chain.ts'
import { lasting } from './upstream-answers.ts'

const chain = await startChain(t)
const { inner, outer, near, far, bot, ada, innerKey, outerKey } = chain
const through = async (method: string, parameters: object, others = parameters) => ({
  one: await near.bot(innerKey, method, parameters),
  both: await far.bot(outerKey, method, others),
})

t.test('methods are answered alike, with their errors', async (t) => {
  const chat_id = ada.id
  const target = async () => {
    const { body } = await near.bot(innerKey, 'sendMessage', { chat_id, text: 'target' })
    return body.result.message_id as number
  }
  const [message_id, another] = [await target(), await target()]
  const cases: readonly (readonly [method: string, one: object, both?: object])[] = [
    [
      'sendMessage',
      { chat_id, text: '<b>bold</b> @ada_l https://chapar.test', parse_mode: 'HTML' },
    ],
    [
      'sendMessage',
      { chat_id, text: '<tg-time unix="1700000000" format="r">x</tg-time>', parse_mode: 'HTML' },
    ],
    ['sendMessage', { chat_id: '@ada_l', text: 'by name', protect_content: true }],
    ['sendMessage', { chat_id, text: 'answer', reply_parameters: { message_id } }],
    [
      'sendMessage',
      {
        chat_id,
        text: 'keys',
        reply_markup: { inline_keyboard: [[{ text: 'A', callback_data: 'a' }]] },
      },
    ],
    [
      'editMessageText',
      { chat_id, message_id, text: 'edited' },
      { chat_id, message_id: another, text: 'edited' },
    ],
    ['sendLocation', { chat_id, latitude: 35.7, longitude: 51.4, live_period: 60 }],
    ['sendVenue', { chat_id, latitude: 35.7, longitude: 51.4, title: 'Café', address: 'Street' }],
    ['sendContact', { chat_id, phone_number: '+15550100', first_name: 'Bob' }],
    ['sendPoll', { chat_id, question: 'Tea?', options: ['Yes', { text: 'No' }] }],
    ['sendDice', { chat_id, emoji: '🎯' }],
    ['forwardMessage', { chat_id, from_chat_id: chat_id, message_id }],
    ['copyMessage', { chat_id, from_chat_id: chat_id, message_id }],
    ['setMessageReaction', { chat_id, message_id, reaction: [{ type: 'emoji', emoji: '👍' }] }],
    ['sendChatAction', { chat_id, action: 'typing' }],
    ['getChat', { chat_id }],
    ['getChat', { chat_id: '@ada_l' }],
    ['sendMessage', { chat_id: 999_999_999, text: 'nobody' }],
    ['sendMessage', { chat_id: '@nobody_there', text: 'nobody' }],
    ['sendMessage', { chat_id, text: 'x', reply_parameters: { message_id: 999_999 } }],
    ['editMessageText', { chat_id, message_id: 999_999, text: 'x' }],
    ['editMessageText', { chat_id, message_id, text: 'edited' }],
    ['deleteMessage', { chat_id, message_id: 999_999 }],
    ['answerCallbackQuery', { callback_query_id: '999999' }],
    ['sendPhoto', { chat_id, photo: 'garbage' }],
  ]
  for (const [method, parameters, others] of cases) {
    const { one, both } = await through(method, parameters, others)
    const name = `${method} ${JSON.stringify(parameters)}`
    t.equal(both.status, one.status, `${name}: ${JSON.stringify(both.body)}`)
    t.strictSame(lasting(both.body), lasting(one.body), name)
  }
})

t.test('groups are managed alike', async (t) => {
  const { id: chat_id } = await near.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Group',
    owner: bot.id,
    members: [ada.id],
  })
  const user_id = ada.id
  for (const [method, parameters] of [
    ['setChatTitle', { chat_id, title: 'Renamed' }],
    ['setChatPermissions', { chat_id, permissions: { can_send_messages: true } }],
    ['getChat', { chat_id }],
    ['getChatMember', { chat_id, user_id }],
    ['getChatMemberCount', { chat_id }],
    ['getChatAdministrators', { chat_id }],
    ['restrictChatMember', { chat_id, user_id, permissions: { can_send_polls: true } }],
    ['getChatMember', { chat_id, user_id }],
    ['promoteChatMember', { chat_id, user_id, can_pin_messages: true }],
    ['getChatMember', { chat_id, user_id }],
    ['banChatMember', { chat_id, user_id: 999_999_999 }],
  ] as const) {
    const { one, both } = await through(method, parameters)
    t.equal(both.status, one.status, `${method}: ${JSON.stringify(both.body)}`)
    t.strictSame(lasting(both.body), lasting(one.body), method)
  }
})

t.test('updates are told alike', async (t) => {
  const write = (text: string, more: object = {}) =>
    near.result('POST', `/sandbox/people/${ada.id}/messages`, { to: bot.id, text, ...more })
  const drain = { offset: -1, timeout: 0 }
  await Promise.all([
    near.bot(innerKey, 'getUpdates', drain),
    far.bot(outerKey, 'getUpdates', drain),
  ])
  const first = await write('hello @gatebot /start', {
    entities: [{ type: 'bold', offset: 0, length: 5 }],
  })
  await write('an answer', { reply_to_message_id: first.message_id })
  await near.result(
    'PATCH',
    `/sandbox/people/${ada.id}/chats/${bot.id}/messages/${first.message_id}`,
    { text: 'hello again' },
  )
  const { body } = await far.bot(outerKey, 'sendMessage', {
    chat_id: ada.id,
    text: 'press',
    reply_markup: { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] },
  })
  const { message_id } = body.result
  const press = { chat: bot.id, message_id, callback_data: 'go', wait_seconds: 10 }
  const pressed = near.result('POST', `/sandbox/people/${ada.id}/presses`, press)
  const isPressed = (updates: readonly object[]) =>
    updates.some((update) => 'callback_query' in update)
  const both = await receive(far, outerKey, isPressed)
  const one = await receive(near, innerKey, isPressed)
  const told = (updates: readonly object[]) =>
    lasting(updates.filter((update) => JSON.stringify(update).includes(`"id":${ada.id}`)))
  t.strictSame(told(both.slice(-4)), told(one.slice(-4)))
  const query = both.at(-1)?.callback_query as { readonly id: string }
  const answer = { callback_query_id: query.id, text: 'noted' }
  t.match((await far.bot(outerKey, 'answerCallbackQuery', answer)).body, { result: true })
  t.match(await pressed, { answered: true, text: 'noted' })
})

t.test('files go through both, whole', async (t) => {
  const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
  const form = new FormData()
  form.set('chat_id', `${ada.id}`)
  form.set('caption', 'سند')
  form.set('document', new File([bytes], 'سند ۱.bin'))
  const sending = await fetch(`${outer.url}/bot${outerKey}/sendDocument`, {
    method: 'POST',
    body: form,
  })
  const { result } = (await sending.json()) as { result: { document: { file_id: string } } }
  t.match(result, { caption: 'سند', document: { file_name: 'سند ۱.bin', file_size: 60_000 } })
  const { file_id } = result.document

  const { body } = await far.bot(outerKey, 'getFile', { file_id })
  t.match(body.result, { file_size: 60_000, file_path: String }, JSON.stringify(body))
  const address = `${outer.url}/file/bot${outerKey}/${body.result.file_path}`
  t.match(body.result.file_path, /\.bin$/, 'the ending is kept')
  const whole = await fetch(address)
  t.match(whole.headers.get('content-disposition'), /filename="file_\d+\.bin"/)
  t.ok(Buffer.from(await whole.arrayBuffer()).equals(bytes))
  const part = await fetch(address, { headers: { range: 'bytes=1000-1999' } })
  t.equal(part.status, 206)
  t.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 2000)))

  const again = await far.bot(outerKey, 'sendDocument', { chat_id: ada.id, document: file_id })
  t.match(again.body.result, { document: { file_size: 60_000 } }, 'a known file is sent again')
  t.not(inner.url, outer.url)
})
