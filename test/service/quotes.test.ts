/** Quotes of a part of the message answered, and answers to messages of other chats, in both directions. */
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, credentialId, key } = await scene(t, {})
const call = (method: string, body: object) => client.bot(key, method, body)
const done = async (method: string, body: object) => {
  const { body: answer } = await call(method, body)
  if (!answer.ok) throw new Error(JSON.stringify(answer))
  return answer.result
}
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const original = '<b>Tea</b> or coffee? Tea it is.'
const { message_id } = await done('sendMessage', {
  chat_id: ada.id,
  text: original,
  parse_mode: 'HTML',
})
const reply = (reply_parameters: object, more: object = { text: 'yes' }) => ({
  chat_id: ada.id,
  reply_parameters: { message_id, ...reply_parameters },
  ...more,
})
const inbox = async () =>
  (await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)).messages

t.test('a quote is found in the message, and shown to both sides', async (t) => {
  const quote = { text: 'Tea', position: 15, is_manual: true }
  const sent = await done('sendMessage', reply({ quote: 'Tea', quote_position: 20 }))
  t.match(sent, { text: 'yes', reply_to_message: { message_id }, quote })
  t.notOk(sent.quote.entities)
  t.match(await inbox(), [{ text: 'yes', reply_to_message_id: message_id, quote: { text: 'Tea' } }])
  const marked = { quote: '<b>Tea</b> or', quote_parse_mode: 'HTML' }
  t.match((await done('sendMessage', reply(marked))).quote, {
    text: 'Tea or',
    entities: [{ type: 'bold', offset: 0, length: 3 }],
    position: 0,
  })
  const place = { latitude: 1, longitude: 2 }
  t.match(await done('sendLocation', reply({ quote: 'coffee' }, place)), {
    quote: { text: 'coffee', position: 7 },
  })
})

t.test('a quote that is not there word by word is refused', async (t) => {
  for (const quote of [
    { quote: 'Milk' },
    { quote: '<i>Tea</i>', quote_parse_mode: 'HTML' },
    { quote: 'Tea or' },
  ]) {
    t.match(await call('sendMessage', reply(quote)), bad('QUOTE_TEXT_INVALID'))
  }
  const lost = { message_id: 9_999, quote: 'Tea' }
  t.match(await call('sendMessage', reply(lost)), bad('message to be replied not found'))
  const sent = await done('sendMessage', reply({ ...lost, allow_sending_without_reply: true }))
  t.notOk(sent.quote)
  t.notOk(sent.reply_to_message)
  t.match(
    await call('sendMessage', reply({ quote: '<b>', quote_parse_mode: 'HTML' })),
    bad('can\'t parse entities: Can\'t find end tag corresponding to start tag "b"'),
  )
})

t.test('a message of another chat is answered with what it was', async (t) => {
  const group = { kind: 'supergroup', title: 'Group', owner: ada.id, members: [bot.id] }
  const { id } = await client.result('POST', '/sandbox/chats', group)
  const asked = await client.write(ada.id, id, 'Who is there?')
  const elsewhere = { message_id: asked.message_id, chat_id: id, quote: 'there' }
  const sent = await done('sendMessage', reply(elsewhere))
  t.match(sent, {
    chat: { id: ada.id },
    quote: { text: 'there', position: 7 },
    external_reply: {
      origin: { type: 'user', sender_user: { id: ada.id, first_name: 'Ada' }, date: Number },
      chat: { id, type: 'supergroup', title: 'Group' },
      message_id: asked.message_id,
    },
  })
  t.notOk(sent.reply_to_message)
  t.match(await inbox(), [{ external_reply: { from: 'Ada', chat: { id }, text: 'Who is there?' } }])
  const unknown = { message_id: asked.message_id, chat_id: id - 1 }
  t.match(await call('sendMessage', reply(unknown)), bad('message to be replied not found'))
})

t.test('a person quotes, and the bot reads it', async (t) => {
  const url = `/sandbox/people/${ada.id}/messages`
  const write = (more: object) => client.ask('POST', url, { to: bot.id, text: 'this', ...more })
  const answer = { reply_to_message_id: message_id, quote: { text: 'coffee', position: 3 } }
  t.equal((await write(answer)).status, 200)
  const update = await until(async () => {
    const { body } = await call('getUpdates', { offset: -1 })
    return body.result.find(
      ({ message }: { message?: { text: string } }) => message?.text === 'this',
    )
  })
  t.match(update.message, {
    quote: { text: 'coffee', position: 7, is_manual: true },
    reply_to_message: { message_id },
  })
  t.equal((await write({ ...answer, quote: { text: 'Milk' } })).status, 400)
  t.equal((await write({ ...answer, quote: { text: '' } })).status, 400)
  await service.restart()
  await client.state(credentialId, 'active')
  t.match(await inbox(), [{ text: 'this', quote: { text: 'coffee', position: 7 } }])
})
