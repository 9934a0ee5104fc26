/** Guest mode: a person names a bot in a chat that it is no member of, and the bot writes there. */
import t from 'tap'
import { until } from '../support/client.ts'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const joe = await client.person('Joe', 'joe_joe')
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const done = async (method: string, parameters: object) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const makeChat = async (kind: string, members: number[]): Promise<number> =>
  (await client.result('POST', '/sandbox/chats', { kind, title: kind, owner: ada.id, members })).id
const newestIn = async (person: number, chat: number) =>
  (await client.result('GET', `/sandbox/people/${person}/inbox?chat=${chat}&limit=1`)).messages[0]
const TOO_OLD = 'query is too old and response timeout expired or query ID is invalid'
const result = {
  type: 'article',
  id: '1',
  title: 'Help',
  input_message_content: { message_text: 'Here I am' },
}

t.test(
  'a bot that is named in a group writes there, edits it, and answers its button',
  async (t) => {
    const chat = await makeChat('supergroup', [joe.id])
    const first = await client.write(joe.id, chat, 'what is tea?')
    const asking = { to: chat, text: '@GateBot explain', reply_to_message_id: first.message_id }
    const { message_id } = await client.result('POST', `/sandbox/people/${ada.id}/messages`, asking)
    const { guest_message } = await next()
    t.match(guest_message, {
      message_id,
      chat: { id: chat, type: 'supergroup' },
      from: { id: ada.id },
      text: '@GateBot explain',
      reply_to_message: { message_id: first.message_id, text: 'what is tea?' },
      guest_query_id: String,
    })
    const { guest_query_id } = guest_message
    const reply_markup = { inline_keyboard: [[{ text: 'More', callback_data: 'more' }]] }
    const answer = { guest_query_id, result: { ...result, reply_markup } }
    const { inline_message_id } = await done('answerGuestQuery', answer)
    t.type(inline_message_id, 'string')
    const seen = await newestIn(joe.id, chat)
    t.match(seen, {
      from: { id: bot.id },
      text: 'Here I am',
      reply_to_message_id: message_id,
      guest_caller: { id: ada.id },
    })
    t.notOk(seen.via_bot)
    t.match(await call('answerGuestQuery', answer), bad(TOO_OLD), 'it answers once')

    const press = { chat, message_id: seen.message_id, callback_data: 'more', wait_seconds: 0 }
    await client.result('POST', `/sandbox/people/${joe.id}/presses`, press)
    t.match(await next(), { callback_query: { from: { id: joe.id }, inline_message_id } })
    t.equal(await done('editMessageText', { inline_message_id, text: 'Tea is a drink' }), true)
    t.match(await newestIn(joe.id, chat), { text: 'Tea is a drink' })
  },
)

t.test('in a private chat of two others it is the same', async (t) => {
  await client.write(ada.id, joe.id, 'ask @gatebot, he knows')
  const { guest_message } = await next()
  t.match(guest_message, { chat: { id: joe.id, type: 'private' }, from: { id: ada.id } })
  const { guest_query_id } = guest_message
  t.match(await done('answerGuestQuery', { guest_query_id, result }), { inline_message_id: String })
  t.match(await newestIn(joe.id, ada.id), { text: 'Here I am', from: { id: bot.id } })
})

t.test('other members hear of it as of a message by a guest', async (t) => {
  const other = await client.person('Other', 'other_bot')
  const { key: others } = await client.key(await client.link(other))
  const chat = await makeChat('supergroup', [other.id])
  await client.write(ada.id, chat, '@gatebot?')
  const { guest_message } = await next()
  const { guest_query_id } = guest_message
  await done('answerGuestQuery', { guest_query_id, result })
  // A poll answers with the first update, which may be the call alone.
  const told = await until(async () => {
    const { body } = await client.bot(others, 'getUpdates', { timeout: 5 })
    const messages = body.result.map(({ message }: { message?: object }) => message).filter(Boolean)
    return messages.some(({ from }: { from: { id: number } }) => from.id === bot.id) && messages
  })
  t.match(told.at(-1), {
    text: 'Here I am',
    from: { id: bot.id, is_bot: true },
    guest_bot_caller_user: { id: ada.id },
  })
  t.notOk(told.at(-1).via_bot)
})

t.test('nobody calls a bot that is there, was banned, or is named in a channel', async (t) => {
  const member = await makeChat('supergroup', [bot.id])
  const banned = await makeChat('supergroup', [])
  await client.ask('DELETE', `/sandbox/chats/${banned}/members/${bot.id}?kick=true`)
  const channel = await makeChat('channel', [])
  for (const chat of [banned, channel]) await client.write(ada.id, chat, '@gatebot')
  await client.write(ada.id, member, '@gatebot, are you there?')
  for (;;) {
    const update = await next()
    t.notOk(update.guest_message)
    if (update.message?.text) break
  }
  for (const guest_query_id of ['0', '99999', 'x']) {
    t.match(await call('answerGuestQuery', { guest_query_id, result }), bad(TOO_OLD))
  }
  t.match(await call('answerGuestQuery', { guest_query_id: '1' }), bad("result isn't specified"))
})
