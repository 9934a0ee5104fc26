/** Direct messages of channels: people and bots suggest posts there, and the other side approves or declines them. */
import t from 'tap'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const done = async (method: string, parameters: object) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
/** The next message with this field; others are left out. */
async function message(field: string) {
  for (;;) {
    const update = await next()
    const found = update.message ?? update.channel_post
    if (found && field in found) return found
  }
}
const newChannel = async (owner: number, member: number): Promise<number> => {
  const body = { kind: 'channel', title: 'News', owner, members: [member] }
  return (await client.result('POST', '/sandbox/chats', body)).id
}
const direct = (person: number, channel: number) =>
  client.result('PUT', `/sandbox/people/${person}/chats/${channel}/direct_messages`)
const write = (person: number, to: number, text: string, more: object = {}) =>
  client.result('POST', `/sandbox/people/${person}/messages`, { to, text, ...more })
const answer = (person: number, chat: number, post: number, body: object) =>
  client.ask('POST', `/sandbox/people/${person}/chats/${chat}/messages/${post}/suggestion`, body)
const stars = async (person: number): Promise<number> =>
  (await client.result('GET', `/sandbox/people/${person}`)).star_balance
const newest = async (person: number, chat: number) =>
  (await client.result('GET', `/sandbox/people/${person}/inbox?chat=${chat}&limit=1`)).messages[0]

const channel = await newChannel(bot.id, ada.id)
const { id: chat } = await direct(ada.id, channel)

t.test('a person writes to a channel, whose bot sees a chat of direct messages', async (t) => {
  t.equal((await direct(ada.id, channel)).id, chat, 'there is one conversation')
  await write(ada.id, chat, 'hello channel')
  const topic = { topic_id: ada.id, user: { id: ada.id, first_name: 'Ada' } }
  t.match(await message('text'), {
    chat: { id: chat, type: 'supergroup', is_direct_messages: true, title: 'News' },
    direct_messages_topic: topic,
    from: { id: ada.id },
    text: 'hello channel',
  })
  const more = { direct_messages_topic_id: ada.id }
  t.match(await done('sendMessage', { chat_id: chat, text: 'hello Ada', ...more }), {
    direct_messages_topic: topic,
  })
  t.match(await newest(ada.id, chat), { text: 'hello Ada' })
  t.match(await done('getChat', { chat_id: chat }), {
    is_direct_messages: true,
    parent_chat: { id: channel, type: 'channel' },
  })
  t.match(
    await call('sendMessage', { chat_id: chat, text: 'x', direct_messages_topic_id: bot.id }),
    bad('direct messages topic not found'),
  )
  t.match(
    await call('sendMessage', { chat_id: channel, text: 'x', ...more }),
    bad('suggested posts can be sent only to channel direct messages'),
  )
})

t.test('the conversation is read back and marked as read by the name of its person', async (t) => {
  const here = { chat_id: chat, direct_messages_topic_id: ada.id }
  const [message] = await done('getChatHistory', { ...here, limit: 1 })
  t.match(message, { text: 'hello Ada', direct_messages_topic: { topic_id: ada.id } })
  t.equal(await done('markAsRead', here), true)
  for (const method of ['getChatHistory', 'markAsRead']) {
    t.match(
      await call(method, { ...here, direct_messages_topic_id: bot.id }),
      bad('direct messages topic not found'),
    )
    t.match(
      await call(method, { ...here, chat_id: channel }),
      bad('chat is not an administered channel direct messages chat'),
    )
  }
})

t.test('an approved post is published, and its price is kept back', async (t) => {
  const before = await stars(ada.id)
  const { message_id } = await write(ada.id, chat, 'buy my tea', {
    suggested_post: { star_count: 50 },
  })
  const price = { currency: 'XTR', amount: 50 }
  t.match(await message('suggested_post_info'), {
    message_id,
    suggested_post_info: { state: 'pending', price },
  })
  const own = await answer(ada.id, chat, message_id, { approve: true })
  t.match(own, bad("own suggested posts can't be answered"))
  t.equal(await done('approveSuggestedPost', { chat_id: chat, message_id }), true)
  t.match(await message('suggested_post_approved'), {
    chat: { id: chat },
    suggested_post_approved: {
      suggested_post_message: { message_id, suggested_post_info: { state: 'approved' } },
      price,
      send_date: Number,
    },
  })
  t.match(await newest(ada.id, channel), { text: 'buy my tea' })
  t.equal(await stars(ada.id), before - 50)
  t.match(
    await call('approveSuggestedPost', { chat_id: chat, message_id }),
    bad('MESSAGE_ID_INVALID'),
    'it was answered before',
  )
  const path = `/sandbox/people/${ada.id}/chats/${chat}/messages/${message_id}`
  t.match(await client.ask('PATCH', path, { text: 'buy his' }), bad("message can't be edited"))
})

t.test('a post is declined with a comment, and nothing is published', async (t) => {
  const { message_id } = await write(ada.id, chat, 'spam', { suggested_post: {} })
  const declining = { chat_id: chat, message_id, comment: 'not here' }
  t.equal(await done('declineSuggestedPost', declining), true)
  t.match(await message('suggested_post_declined'), {
    suggested_post_declined: {
      suggested_post_message: { message_id, suggested_post_info: { state: 'declined' } },
      comment: 'not here',
    },
  })
  t.match(await newest(ada.id, chat), { service: 'post_declined' })
  t.match(await newest(ada.id, channel), { text: 'buy my tea' })
})

t.test('a post that nobody can pay is not approved', async (t) => {
  const poor = await client.person('Poor', 'poor_poor')
  await client.result('PUT', `/sandbox/chats/${channel}/members/${poor.id}`, {})
  const { id: theirs } = await direct(poor.id, channel)
  const first = { suggested_post: { star_count: 100_000 } }
  const one = await write(poor.id, theirs, 'all I have', first)
  await done('approveSuggestedPost', { chat_id: theirs, message_id: one.message_id })
  t.equal(await stars(poor.id), 0)
  const suggested_post = { star_count: 5 }
  const { message_id } = await write(poor.id, theirs, 'me', { suggested_post })
  await done('approveSuggestedPost', { chat_id: theirs, message_id })
  t.match(await message('suggested_post_approval_failed'), {
    suggested_post_approval_failed: { price: { currency: 'XTR', amount: 5 } },
  })
  t.match(await newest(poor.id, channel), { text: 'all I have' })
})

t.test('a bot suggests a post to a channel of somebody else', async (t) => {
  const adas = await newChannel(ada.id, bot.id)
  const { id: chat_id } = await direct(bot.id, adas)
  const send_date = Math.floor(Date.now() / 1000) + 1_000
  const suggested_post_parameters = { price: { currency: 'XTR', amount: 5 }, send_date }
  const suggest = (more: object) =>
    call('sendMessage', { chat_id, text: 'an idea', suggested_post_parameters, ...more })
  const { message_id } = await done('sendMessage', {
    chat_id,
    text: 'an idea',
    suggested_post_parameters,
  })
  t.match(await newest(ada.id, chat_id), {
    suggestion: { state: 'pending', star_count: 5, send_date },
  })
  t.match(await answer(ada.id, chat_id, message_id, { approve: true }), { status: 200 })
  t.match(await message('suggested_post_approved'), {
    suggested_post_approved: { send_date, price: { currency: 'XTR', amount: 5 } },
  })
  t.notMatch(await newest(bot.id, adas), { text: 'an idea' }, 'not before its time')
  const terms = (given: object) => suggest({ suggested_post_parameters: given })
  t.match(await terms({ send_date: 1 }), bad('SCHEDULE_DATE_INVALID'))
  t.match(
    await terms({ price: { currency: 'XTR', amount: 1 } }),
    bad('invalid amount of Telegram Stars specified'),
  )
  t.match(
    await terms({ price: { currency: 'TON', amount: 10_000_000 } }),
    bad('posts on the sandbox are paid with Stars'),
  )
  t.match(await suggest({ chat_id: ada.id }), { status: 400 })
})

t.test('it takes the rights of an administrator of the channel', async (t) => {
  const adas = await newChannel(ada.id, bot.id)
  const joe = await client.person('Joe', 'joe_joe')
  await client.result('PUT', `/sandbox/chats/${adas}/members/${joe.id}`, {})
  const { id: chat_id } = await direct(joe.id, adas)
  const { message_id } = await write(joe.id, chat_id, 'x', { suggested_post: {} })
  t.match(await call('declineSuggestedPost', { chat_id, message_id }), {
    status: 403,
    body: { description: 'Forbidden: bot is not a member of the supergroup chat' },
  })
  await client.result('PUT', `/sandbox/chats/${adas}/members/${bot.id}`, { role: 'admin' })
  t.equal(await done('declineSuggestedPost', { chat_id, message_id }), true)
  const wrong = await client.ask('PUT', `/sandbox/people/${ada.id}/chats/${adas}/direct_messages`)
  t.match(wrong, bad('administrators of a channel answer its direct messages'))
})
