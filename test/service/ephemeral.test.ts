/** Ephemeral messages on the sandbox: one member of a group sees them, and nobody else. */
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, credentialId, key } = await scene(t, {})
const kim = await client.person('Kim')
const group = { kind: 'supergroup', title: 'Group', owner: kim.id, members: [bot.id, ada.id] }
const { id: chat_id } = await client.result('POST', '/sandbox/chats', group)
const role = (name: string) =>
  client.result('PUT', `/sandbox/chats/${chat_id}/members/${bot.id}`, { role: name })
const call = (method: string, body: object) => client.bot(key, method, { chat_id, ...body })
const done = async (method: string, body: object) => {
  const { body: answer } = await call(method, body)
  if (!answer.ok) throw new Error(JSON.stringify(answer))
  return answer.result
}
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const seenBy = async (person: { id: number }) => {
  const { messages, ephemeral } = await client.result('GET', `/sandbox/people/${person.id}/inbox`)
  return { messages: messages.length, ephemeral }
}
const forAda = { ephemeral_message_parameters: { receiver_user_id: ada.id } }
const tea = [[{ text: 'Tea', callback_data: 'tea' }]]
const update = (name: string) =>
  until(async () => {
    const { body } = await client.bot(key, 'getUpdates', { offset: -1 })
    return body.result.find((one: object) => name in one)?.[name]
  })

t.test('only administrators may begin, and only in groups', async (t) => {
  t.match(await call('sendMessage', { text: 'x', ...forAda }), bad('BOT_NOT_ADMIN'))
  const inPrivate = { chat_id: ada.id, text: 'x', ...forAda }
  t.match(await call('sendMessage', inPrivate), bad('BOT_NOT_ADMIN'))
  await role('admin')
  const lost = { ephemeral_message_parameters: { receiver_user_id: 424_242 } }
  t.match(await call('sendMessage', { text: 'x', ...lost }), bad('USER_NOT_PARTICIPANT'))
  const nobody = { ephemeral_message_parameters: {} }
  const unsaid = bad('invalid receiver_user_id specified')
  t.match(await call('sendMessage', { text: 'x', ...nobody }), unsaid)
  const broken = { ephemeral_message_parameters: '[1]' }
  t.match(
    await call('sendMessage', { text: 'x', ...broken }),
    bad('object expected as ephemeral message parameters'),
  )
  const live = { latitude: 1, longitude: 2, live_period: 60, ...forAda }
  t.match(
    await call('sendLocation', live),
    bad("live locations can't be sent as ephemeral messages"),
  )
})

t.test('the receiver alone sees it, in each way that libraries ask for it', async (t) => {
  const before = await seenBy(kim)
  for (const way of [
    forAda,
    { ephemeral_message_parameters: JSON.stringify({ receiver_user_id: ada.id }) },
    { receiver_user_id: ada.id },
  ]) {
    const sent = await done('sendMessage', { text: 'psst', ...way })
    t.match(sent, {
      message_id: 0,
      ephemeral_message_id: Number,
      receiver_user: { id: ada.id },
      from: { id: bot.id },
      chat: { id: chat_id },
      text: 'psst',
    })
    const { ephemeral, messages } = await seenBy(ada)
    t.equal(messages, before.messages)
    t.match(ephemeral[0], {
      text: 'psst',
      ephemeral_message_id: sent.ephemeral_message_id,
      receiver: { id: ada.id },
    })
  }
  t.strictSame(await seenBy(kim), before)
  const form = new FormData()
  form.set('chat_id', `${chat_id}`)
  form.set('receiver_user_id', `${ada.id}`)
  form.set('document', new Blob(['secret']), 'secret.txt')
  const posted = await fetch(`${client.url}/bot${key}/sendDocument`, { method: 'POST', body: form })
  t.match(await posted.json(), { result: { receiver_user: { id: ada.id }, document: Object } })
  t.strictSame(await seenBy(kim), before)
})

t.test('it is edited and deleted by its own number', async (t) => {
  const { ephemeral_message_id } = await done('sendMessage', { text: 'one', ...forAda })
  const target = { receiver_user_id: ada.id, ephemeral_message_id }
  t.equal(await done('editEphemeralMessageText', { ...target, text: 'two' }), true)
  t.match((await seenBy(ada)).ephemeral[0], { text: 'two', edit_date: Number })
  t.match(
    await call('editEphemeralMessageText', { ...target, text: 'two' }),
    refused(
      400,
      'Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    ),
  )
  const markup = { reply_markup: { inline_keyboard: tea } }
  t.equal(await done('editEphemeralMessageReplyMarkup', { ...target, ...markup }), true)
  t.match((await seenBy(ada)).ephemeral[0], { text: 'two', inline_keyboard: tea })
  t.match(
    await call('editEphemeralMessageCaption', { ...target, caption: 'x' }),
    bad('there is no caption in the message to edit'),
  )
  const form = new FormData()
  for (const [name, value] of Object.entries({ chat_id, ...target })) form.set(name, `${value}`)
  form.set('media', JSON.stringify({ type: 'document', media: 'attach://file', caption: 'was' }))
  form.set('file', new Blob(['hello']), 'hello.txt')
  const url = `${client.url}/bot${key}/editEphemeralMessageMedia`
  t.match(await (await fetch(url, { method: 'POST', body: form })).json(), { result: true })
  t.equal(await done('editEphemeralMessageCaption', { ...target, caption: 'is' }), true)
  t.match((await seenBy(ada)).ephemeral[0], { caption: 'is', media: { file_name: 'hello.txt' } })
  const ofKim = { ...target, receiver_user_id: kim.id }
  t.match(await call('deleteEphemeralMessage', ofKim), bad('message to delete not found'))
  t.equal(await done('deleteEphemeralMessage', target), true)
  t.notMatch((await seenBy(ada)).ephemeral[0], { ephemeral_message_id })
  t.match(
    await call('editEphemeralMessageText', { ...target, text: 'x' }),
    bad('message to edit not found'),
  )
})

t.test('a press is answered without the chat, in the place of the message pressed', async (t) => {
  await role('member')
  const menu = await done('sendMessage', { text: 'menu', reply_markup: { inline_keyboard: tea } })
  const press = (target: object) =>
    client.result('POST', `/sandbox/people/${ada.id}/presses`, {
      ...{ chat: chat_id, callback_data: 'tea', wait_seconds: 0 },
      ...target,
    })
  await press({ message_id: menu.message_id })
  const { id } = await update('callback_query')
  const answer = { callback_query_id: id, replace_callback_query_message: true }
  const sent = await client.bot(key, 'sendMessage', {
    text: 'for you',
    ephemeral_message_parameters: answer,
    reply_markup: { inline_keyboard: tea },
  })
  t.match(sent.body.result, { receiver_user: { id: ada.id }, chat: { id: chat_id } })
  t.match((await seenBy(ada)).ephemeral[0], {
    text: 'for you',
    replaces_message_id: menu.message_id,
  })
  const { ephemeral_message_id } = sent.body.result
  await press({ ephemeral_message_id })
  const query = await until(async () => {
    const found = await update('callback_query')
    return found.message.ephemeral_message_id && found
  })
  t.match(query, { data: 'tea', message: { message_id: 0, ephemeral_message_id } })
  const inPlace = { ...answer, callback_query_id: query.id }
  t.match(
    await call('sendMessage', { text: 'x', ephemeral_message_parameters: inPlace }),
    bad('only the message of a callback query can be replaced'),
  )
  const tooOld = { ephemeral_message_parameters: { callback_query_id: '1' } }
  t.match(
    await call('sendMessage', { text: 'x', ...tooOld }),
    bad('query is too old and response timeout expired or query ID is invalid'),
  )
  const { status } = await client.ask('POST', `/sandbox/people/${kim.id}/presses`, {
    ...{ chat: chat_id, callback_data: 'tea', wait_seconds: 0, ephemeral_message_id },
  })
  t.equal(status, 400, 'nobody else can press it')
})

t.test('a person says something to the bot alone, and hears an answer', async (t) => {
  const url = `/sandbox/people/${ada.id}/messages`
  await client.result('POST', url, { to: chat_id, text: '/balance', receiver: bot.id })
  const message = await until(async () => {
    const found = await update('message')
    return found.text === '/balance' && found
  })
  t.match(message, { message_id: 0, receiver_user: { id: bot.id }, from: { id: ada.id } })
  const reply = { reply_parameters: { ephemeral_message_id: message.ephemeral_message_id } }
  t.match(await done('sendMessage', { text: '7', ...forAda, ...reply }), { text: /^7$/ })
  t.equal((await seenBy(kim)).ephemeral.length, 0)
  t.equal((await client.ask('POST', url, { to: chat_id, text: 'x', receiver: 0 })).status, 400)
  await service.restart()
  await client.state(credentialId, 'active')
  t.match((await seenBy(ada)).ephemeral[0], { text: /^7$/ })
})
