/** Effects of messages on the sandbox: kept in private chats, refused elsewhere. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const EFFECT = '5104841245755180586'
const send = (method: string, parameters: object) =>
  client.bot(key, method, { chat_id: ada.id, message_effect_id: EFFECT, ...parameters })

t.test('a message in a private chat keeps its effect, a later one has none', async (t) => {
  const { body } = await send('sendMessage', { text: 'Party!' })
  t.match(body, { ok: true, result: { text: 'Party!', effect_id: EFFECT } })
  const { message_id } = body.result
  const passed = { from_chat_id: ada.id, message_id }
  t.match((await send('forwardMessage', passed)).body, { ok: true, result: { effect_id: EFFECT } })
  const plain = await client.bot(key, 'forwardMessage', { chat_id: ada.id, ...passed })
  t.equal(plain.body.ok, true)
  t.notOk('effect_id' in plain.body.result, 'a forward has an effect only where it is asked for')
  const reply = { text: 'Again', reply_parameters: { message_id } }
  const answer = (await client.bot(key, 'sendMessage', { chat_id: ada.id, ...reply })).body.result
  t.notOk('effect_id' in answer)
})

t.test('a person writes with an effect, and both sides see it', async (t) => {
  const write = (to: number, message_effect_id: string) =>
    client.ask('POST', `/sandbox/people/${ada.id}/messages`, { to, text: 'Yes', message_effect_id })
  const inbox = `/sandbox/people/${ada.id}/inbox?chat=${bot.id}&limit=1`
  t.match(await write(bot.id, EFFECT), { status: 200, body: { result: { effect_id: EFFECT } } })
  t.match(await client.result('GET', inbox), { messages: [{ text: 'Yes', effect_id: EFFECT }] })
  const { body } = await client.bot(key, 'getUpdates', { timeout: 20, limit: 1 })
  t.match(body.result, [{ message: { text: 'Yes', effect_id: EFFECT } }])
  t.equal((await write(bot.id, 'party')).status, 400)
})

t.test('an effect is refused outside private chats, and where it is no number', async (t) => {
  const group = await client.result('POST', '/sandbox/chats', {
    ...{ kind: 'group', title: 'Team', owner: ada.id, members: [bot.id] },
  })
  const only = 'Bad Request: message effects can be used only in private chats'
  t.match(await send('sendMessage', { chat_id: group.id, text: 'x' }), refused(400, only))
  const invalid = refused(400, 'Bad Request: EFFECT_ID_INVALID')
  t.match(await send('sendMessage', { message_effect_id: 'party', text: 'x' }), invalid)
  const none = await send('sendMessage', { chat_id: group.id, message_effect_id: '0', text: 'x' })
  t.equal(none.body.ok, true)
})
