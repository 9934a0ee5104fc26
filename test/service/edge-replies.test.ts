/** `reply_parameters`, member by member: what is refused, and what is forgiven. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, ada, bot, key } = await scene(t)
const first = await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'first' })
const { message_id } = first.body.result

const reply = (reply_parameters: object, chat_id: number | string = ada.id) =>
  client.bot(key, 'sendMessage', { chat_id, text: 'x', reply_parameters })
const replied = { status: 200, body: { result: { reply_to_message: { message_id } } } }

t.test('message_id is a number, or text that is written like one', async (t) => {
  t.match(await reply({ message_id }), replied)
  t.match(await reply({ message_id: `${message_id}` }), replied)
  const invalid = refused(400, 'Bad Request: field "message_id" must be a valid Number')
  for (const wrong of ['x', '', '01', ' 1', '1e3', 1.5, true, null, [1], {}, 2 ** 31]) {
    t.match(await reply({ message_id: wrong }), invalid, JSON.stringify(wrong))
  }
  const missing = refused(400, 'Bad Request: message to be replied not found')
  t.match(await reply({ message_id: 2 ** 31 - 1 }), missing)
  const absent = refused(400, 'Bad Request: can\'t find field "message_id"')
  t.match(await reply({ quote: 'x' }), absent)
})

t.test('without a positive message_id it is no reply, whatever else is given', async (t) => {
  for (const none of [0, -1, '0', '-5']) {
    for (const more of [{}, { quote: 'first' }, { chat_id: '@somebody' }]) {
      const { status, body } = await reply({ message_id: none, ...more })
      t.equal(status, 200, JSON.stringify({ none, more }))
      t.notOk(body.result?.reply_to_message)
    }
  }
  t.match(
    await reply({ message_id: 0, quote: '<b>', quote_parse_mode: 'HTML' }),
    { status: 400 },
    'the rest is read all the same',
  )
})

t.test('allow_sending_without_reply is a boolean', async (t) => {
  const gone = { message_id: 2 ** 31 - 1 }
  t.match(await reply({ ...gone, allow_sending_without_reply: true }), { status: 200 })
  const field = 'field "allow_sending_without_reply"'
  const invalid = refused(400, `Bad Request: ${field} must be of type Boolean`)
  for (const wrong of ['true', 1, null, {}]) {
    t.match(await reply({ ...gone, allow_sending_without_reply: wrong }), invalid)
  }
})

t.test('chat_id may name the chat in another way than the call does', async (t) => {
  const name = `@${ada.username}`
  t.match(await reply({ message_id, chat_id: ada.id }, name), replied)
  t.match(await reply({ message_id, chat_id: name }), replied)
  t.match(await reply({ message_id, chat_id: name.toUpperCase() }, name), replied)
  t.match(await reply({ message_id, chat_id: `${ada.id}` }), replied)
  const missing = refused(400, 'Bad Request: message to be replied not found')
  t.match(await reply({ message_id, chat_id: bot.id }), missing)
  const unknown = refused(400, 'Bad Request: chat not found')
  t.match(await reply({ message_id, chat_id: '@somebody' }, name), unknown)
})
