/** A person writes to a supergroup in the name of a channel of theirs, until the channel is banned there. */
import t from 'tap'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const done = async (method: string, parameters: object) => {
  const { body } = await client.bot(key, method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const makeChat = async (kind: string, owner: number, members: number[]): Promise<number> =>
  (await client.result('POST', '/sandbox/chats', { kind, title: kind, owner, members })).id
const group = await makeChat('supergroup', bot.id, [ada.id])
const news = await makeChat('channel', ada.id, [bot.id])
const other = await makeChat('channel', ada.id, [])
const writeAs = (send_as: number, to = group) =>
  client.ask('POST', `/sandbox/people/${ada.id}/messages`, { to, text: 'as a channel', send_as })

t.test('the bot sees the channel as the sender', async (t) => {
  t.match(await writeAs(news), { status: 200, body: { result: { sender_chat: { id: news } } } })
  t.match(await next(), {
    message: {
      chat: { id: group },
      from: { id: 136817688, is_bot: true, username: 'Channel_Bot' },
      sender_chat: { id: news, type: 'channel', title: 'channel' },
      text: 'as a channel',
    },
  })
})

t.test('a banned channel cannot write, nor can another one of its owner', async (t) => {
  const ban = { chat_id: group, sender_chat_id: news }
  t.equal(await done('banChatSenderChat', ban), true)
  for (const channel of [news, other]) {
    t.match(await writeAs(channel), bad('USER_BANNED_IN_CHANNEL'))
  }
  await client.write(ada.id, group, 'in my own name')
  t.match(await next(), { message: { text: 'in my own name', from: { id: ada.id } } })
  t.equal(await done('unbanChatSenderChat', ban), true)
  t.match(await writeAs(news), { status: 200 })
})

t.test('only an own channel stands for a person, and only in a supergroup', async (t) => {
  const bots = await makeChat('channel', bot.id, [ada.id])
  t.match(await writeAs(bots), bad('SEND_AS_PEER_INVALID'))
  t.match(await writeAs(group), bad('SEND_AS_PEER_INVALID'))
  const small = await makeChat('group', ada.id, [bot.id])
  t.match(await writeAs(news, small), bad('SEND_AS_PEER_INVALID'))
})

t.test('a member is not approved once more', async (t) => {
  const parameters = { chat_id: group, user_id: ada.id }
  t.match(
    await client.bot(key, 'approveChatJoinRequest', parameters),
    bad('USER_ALREADY_PARTICIPANT'),
  )
  t.match(
    await client.bot(key, 'declineChatJoinRequest', parameters),
    bad('HIDE_REQUESTER_MISSING'),
  )
})

/** What the bot is told of a message that Ada writes. */
async function said(text: string) {
  await client.write(ada.id, group, text)
  for (;;) {
    const { message } = await next()
    if (message?.text === text) return message
  }
}

t.test('members are shown with their tags, administrators with their titles', async (t) => {
  t.notOk('sender_tag' in (await said('plain')))
  await done('setChatMemberTag', { chat_id: group, user_id: ada.id, tag: 'Guest' })
  t.equal((await said('tagged')).sender_tag, 'Guest')
  await done('promoteChatMember', { chat_id: group, user_id: ada.id, can_pin_messages: true })
  const title = { chat_id: group, user_id: ada.id, custom_title: 'Brewer' }
  await done('setChatAdministratorCustomTitle', title)
  t.match(await said('titled'), { from: { id: ada.id }, sender_tag: 'Brewer' })
})

t.test('an anonymous administrator writes as the group, and signs with the title', async (t) => {
  const rights = { can_pin_messages: true, is_anonymous: true }
  await done('promoteChatMember', { chat_id: group, user_id: ada.id, ...rights })
  const message = await said('who am I')
  t.match(message, {
    from: { id: 1087968824, is_bot: true, first_name: 'Group', username: 'GroupAnonymousBot' },
    sender_chat: { id: group, type: 'supergroup', title: 'supergroup' },
    author_signature: 'Brewer',
    text: 'who am I',
  })
  t.notOk('sender_tag' in message)
  const { message_id } = message
  const from = { from_chat_id: group, message_id }
  t.match(await done('forwardMessage', { chat_id: group, ...from }), {
    forward_origin: { type: 'chat', sender_chat: { id: group }, author_signature: 'Brewer' },
    forward_from_chat: { id: group },
    forward_signature: 'Brewer',
  })
  const answer = { reply_parameters: { message_id } }
  t.match(await done('sendMessage', { chat_id: group, text: 'the group', ...answer }), {
    reply_to_message: { from: { id: 1087968824 }, sender_chat: { id: group } },
  })
})

t.test('what was written in the name of a channel is forwarded from it', async (t) => {
  const { body } = await writeAs(news)
  const from = { from_chat_id: group, message_id: body.result.message_id }
  const { forward_origin } = await done('forwardMessage', { chat_id: group, ...from })
  t.match(forward_origin, { type: 'chat', sender_chat: { id: news } })
})
