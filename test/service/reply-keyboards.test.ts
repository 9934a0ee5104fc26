/** Keyboards in the place of the ordinary one: what a bot brings, and what people see of it. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const hand = `/sandbox/people/${ada.id}`
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const send = async (reply_markup: object, more: object = {}) => {
  const { status, body } = await call('sendMessage', {
    chat_id: ada.id,
    text: 'pick',
    reply_markup,
    ...more,
  })
  t.equal(status, 200, JSON.stringify(body))
  return body.result
}
const write = (text: string, more: object = {}) =>
  client.result('POST', `${hand}/messages`, { to: bot.id, text, ...more })
const inbox = (person = ada) => client.result('GET', `/sandbox/people/${person.id}/inbox`)
const standing = async (person = ada) => (await inbox(person)).keyboards
const keys = (...texts: string[]) => ({ keyboard: [texts.map((text) => ({ text }))] })

t.test('the newest of a chat stands, and is no part of the message that bots see', async (t) => {
  const yesNo = { ...keys('Yes', 'No'), resize_keyboard: true, input_field_placeholder: 'Well?' }
  const first = await send(yesNo)
  t.notOk(first.reply_markup)
  t.match((await inbox()).messages[0], { keyboard: yesNo })
  t.strictSame(await standing(), [
    {
      chat: { id: bot.id, type: 'private', first_name: 'Bot', username: 'gatebot' },
      person: { id: bot.id, first_name: 'Bot', username: 'gatebot' },
      message_id: first.message_id,
      ...yesNo,
      used: false,
    },
  ])
  await write('Yes')
  t.match(await standing(), [{ message_id: first.message_id, used: false }], 'it stays')
  const next = await send(keys('Tea'))
  await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'a message without one' })
  t.match(await standing(), [{ message_id: next.message_id, ...keys('Tea') }])
  await send({ remove_keyboard: true })
  t.strictSame(await standing(), [])
})

t.test('one for once is hidden when it was used, not when something else was said', async (t) => {
  const { message_id } = await send({ ...keys('Now', 'Later'), one_time_keyboard: true })
  await write('Never')
  t.match(await standing(), [{ message_id, used: false }])
  await write('Later')
  t.match(await standing(), [{ message_id, used: true, one_time_keyboard: true }])
  const asking = { keyboard: [[{ text: 'Me', request_contact: true }]], one_time_keyboard: true }
  await send(asking)
  t.match(await standing(), [{ ...asking, used: false }])
  const contact = { phone_number: ada.phone, first_name: 'Ada', user_id: ada.id }
  await client.result('POST', `${hand}/messages`, { to: bot.id, contact })
  t.match(await standing(), [{ used: true }])
})

t.test('an answer is asked for until it is given', async (t) => {
  const asked = { force_reply: true, input_field_placeholder: 'Your name' }
  const { message_id } = await send(asked)
  await write('What?')
  t.match(await standing(), [{ message_id, ...asked }])
  await write('Ada', { reply_to_message_id: message_id })
  t.strictSame(await standing(), [])
})

t.test('one goes with its message, and none before it comes back', async (t) => {
  await send(keys('Old'))
  const { message_id } = await send(keys('New'))
  const remove = (message_id: number) => call('deleteMessage', { chat_id: ada.id, message_id })
  await remove(message_id)
  t.strictSame(await standing(), [])
  await send(keys('Newer'))
  await remove((await send({ remove_keyboard: true })).message_id)
  t.strictSame(await standing(), [], 'what took one away may go, and it stays away')
})

t.test('a message that brought one cannot be edited', async (t) => {
  for (const markup of [keys('A'), { force_reply: true }, { remove_keyboard: true }]) {
    const { message_id } = await send(markup)
    const edit = { chat_id: ada.id, message_id, text: 'other' }
    t.match(
      await call('editMessageText', edit),
      refused(400, "Bad Request: message can't be edited"),
    )
  }
})

t.test('copies and files bring one too, and forwards do not take it along', async (t) => {
  const { message_id } = await send(keys('Text'))
  const from = { chat_id: ada.id, from_chat_id: ada.id, message_id }
  const copied = await call('copyMessage', { ...from, reply_markup: keys('Copy') })
  t.match(await standing(), [{ ...keys('Copy'), message_id: copied.body.result.message_id }])
  await call('sendDice', { chat_id: ada.id, reply_markup: keys('Dice') })
  t.match(await standing(), [keys('Dice')])
  await call('forwardMessage', from)
  t.match(await standing(), [keys('Dice')])
  t.notOk((await inbox()).messages[0].keyboard)
})

t.test('in a group a selective one is only for whom the message answers or names', async (t) => {
  const eve = await client.person('Eve', 'eve_e')
  const group = { kind: 'supergroup', title: 'Team', owner: ada.id, members: [bot.id, eve.id] }
  const { id: chat } = await client.result('POST', '/sandbox/chats', group)
  const question = await write('Who am I?', { to: chat })
  const selective = (...texts: string[]) => ({ ...keys(...texts), selective: true })
  const inGroup = async (person: typeof ada) =>
    (await standing(person)).filter((one: { chat: { id: number } }) => one.chat.id === chat)

  await send(keys('All'), { chat_id: chat })
  t.match(await inGroup(ada), [keys('All')])
  t.match(await inGroup(eve), [keys('All')])
  const reply_parameters = { message_id: question.message_id }
  const answer = await send(selective('Ada'), { chat_id: chat, reply_parameters })
  t.match(await inGroup(ada), [{ ...selective('Ada'), message_id: answer.message_id }])
  t.match(await inGroup(eve), [keys('All')], 'she keeps hers')
  await send(selective('Eve'), { chat_id: chat, text: 'you, @EVE_E!' })
  t.match(await inGroup(eve), [selective('Eve')])
  t.match(await inGroup(ada), [selective('Ada')])
  await send(selective('Near'), { chat_id: chat, text: 'not @eve_eve' })
  t.match(await inGroup(eve), [selective('Eve')], 'that is another name')
  const entities = [{ type: 'text_mention', offset: 0, length: 3, user: { id: ada.id } }]
  await send(selective('Named'), { chat_id: chat, text: 'you', entities })
  t.match(await inGroup(ada), [selective('Named')])
  await send({ remove_keyboard: true, selective: true }, { chat_id: chat, text: '@eve_e' })
  t.strictSame(await inGroup(eve), [])
  t.match(await inGroup(ada), [selective('Named')])
  t.strictSame(await inGroup(bot), [], 'nobody brings themselves one')
  await client.result('DELETE', `/sandbox/chats/${chat}/members/${bot.id}`)
  t.strictSame(await inGroup(ada), [], 'it goes with whoever brought it')

  await client.result('PUT', `/sandbox/chats/${chat}/members/${bot.id}`, {})
  const asking = { keyboard: [[{ text: 'Me', request_contact: true }]] }
  const asked = await call('sendMessage', { chat_id: chat, text: 'x', reply_markup: asking })
  const alone = 'Bad Request: phone number can be requested in private chats only'
  t.match(asked, refused(400, alone))
})

t.test('where people cannot write there are none', async (t) => {
  const channel = { kind: 'channel', title: 'News', owner: bot.id, members: [ada.id] }
  const { id: chat_id } = await client.result('POST', '/sandbox/chats', channel)
  const inline = refused(400, 'Bad Request: inline keyboard expected')
  for (const reply_markup of [keys('A'), { force_reply: true }, { remove_keyboard: true }]) {
    t.match(await call('sendMessage', { chat_id, text: 'x', reply_markup }), inline)
  }
  const reply_markup = { inline_keyboard: [[{ text: 'A', callback_data: 'a' }]] }
  t.match(await call('sendMessage', { chat_id, text: 'x', reply_markup }), { status: 200 })
})
