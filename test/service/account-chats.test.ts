/** The methods beyond the reference: a linked account lists its chats, reads them back, and marks them as read. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key, credentialId } = await scene(t)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const done = async (method: string, parameters: object = {}) => {
  const { body } = await client.bot(key, method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const kim = await client.person('Kim', 'gatebot_kim')
const [first, second, third] = [
  await client.write(ada.id, bot.id, 'one'),
  await done('sendMessage', { chat_id: ada.id, text: 'two' }),
  await client.write(ada.id, bot.id, 'three'),
]
const { id: group } = await client.result('POST', '/sandbox/chats', {
  kind: 'supergroup',
  title: 'Tea',
  owner: kim.id,
  members: [bot.id],
})
await client.write(kim.id, group, 'cup?')

t.test('the chats come with their newest message and the count of the unread', async (t) => {
  const { chats, ...rest } = await done('getChats')
  t.same(rest, {}, 'all of them fit on one page')
  t.match(chats, [
    {
      chat: { id: group, type: 'supergroup', title: 'Tea' },
      last_message: { text: 'cup?', from: { id: kim.id }, chat: { id: group } },
      unread_count: 1,
    },
    {
      chat: { id: ada.id, type: 'private', first_name: 'Ada' },
      last_message: { message_id: third.message_id, text: 'three', from: { id: ada.id } },
      unread_count: 2,
    },
    { chat: { id: 777000 } },
  ])
})

t.test('pages go on where the last one ended', async (t) => {
  const one = await done('getChats', { limit: 1 })
  t.match(one, { chats: [{ chat: { id: group } }], next_offset: String })
  const two = await done('getChats', { limit: 1, offset: one.next_offset })
  t.match(two, { chats: [{ chat: { id: ada.id } }], next_offset: String })
  const three = await done('getChats', { limit: 100, offset: two.next_offset })
  t.match(three.chats, [{ chat: { id: 777000 } }])
  t.notOk('next_offset' in three)
  t.match(await client.bot(key, 'getChats', { offset: 'x' }), bad('OFFSET_INVALID'))
})

t.test('a chat is read back in the shape of Message, newest first', async (t) => {
  const all = await done('getChatHistory', { chat_id: ada.id })
  t.match(all, [
    { message_id: third.message_id, text: 'three', from: { id: ada.id, is_bot: false } },
    { message_id: second.message_id, text: 'two', from: { id: bot.id, is_bot: true } },
    { message_id: first.message_id, text: 'one', chat: { id: ada.id }, date: Number },
  ])
  t.equal(all.length, 3)
  const page = { chat_id: ada.id, limit: 1, before_message_id: third.message_id }
  t.match(await done('getChatHistory', page), [{ text: 'two' }])
  t.same(await done('getChatHistory', { chat_id: ada.id, before_message_id: first.message_id }), [])
  t.match(await done('getChatHistory', { chat_id: '@gatebot_friend', limit: 1 }), [
    { text: 'three' },
  ])
})

t.test('the ids of the history are those that other methods take', async (t) => {
  const [, mine, theirs] = await done('getChatHistory', { chat_id: ada.id })
  const edit = { chat_id: ada.id, message_id: mine.message_id, text: 'TWO' }
  t.match(await done('editMessageText', edit), { message_id: mine.message_id, text: 'TWO' })
  const reply = {
    chat_id: ada.id,
    text: 'yes',
    reply_parameters: { message_id: theirs.message_id },
  }
  const answer = await done('sendMessage', reply)
  t.match(answer, { reply_to_message: { message_id: theirs.message_id, text: 'one' } })
  t.equal(await done('deleteMessage', { chat_id: ada.id, message_id: answer.message_id }), true)
  const after = await done('getChatHistory', { chat_id: ada.id })
  t.match(after, [{ text: 'three' }, { text: 'TWO', edit_date: Number }, { text: 'one' }])
})

t.test('a chat is marked as read up to a message, and never back', async (t) => {
  const unread = async (chat: number) => {
    const { chats } = await done('getChats')
    return chats.find(({ chat: { id } }: { chat: { id: number } }) => id === chat).unread_count
  }
  const upTo = (message_id: number) => done('markAsRead', { chat_id: ada.id, message_id })
  t.equal(await upTo(first.message_id), true)
  t.equal(await unread(ada.id), 1)
  t.equal(await done('markAsRead', { chat_id: ada.id }), true)
  t.equal(await unread(ada.id), 0)
  await upTo(first.message_id)
  t.equal(await unread(ada.id), 0)
  t.equal(await unread(group), 1, 'other chats stay as they are')
  await client.write(ada.id, bot.id, 'four')
  t.equal(await unread(ada.id), 1)
  t.match(
    await client.bot(key, 'markAsRead', { chat_id: ada.id, message_id: 999 }),
    bad('message to read not found'),
  )
})

t.test('a person is found by the phone, in any spelling', async (t) => {
  const spelt = ada.phone.replace('+1', '+1 (').replace('555', '555) ')
  t.match(await done('resolvePhone', { phone_number: spelt }), {
    is_registered: true,
    user: { id: ada.id, first_name: 'Ada', username: 'gatebot_friend' },
  })
  t.same(await done('resolvePhone', { phone_number: '+98912345678' }), { is_registered: false })
  for (const phone_number of ['', 'tea', '+0123456', '+12']) {
    const { status } = await client.bot(key, 'resolvePhone', { phone_number })
    t.equal(status, 400, phone_number)
  }
})

t.test('nothing of a chat that is closed to the account is read', async (t) => {
  const { id: closed } = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Closed',
    owner: kim.id,
    members: [],
  })
  await client.write(kim.id, closed, 'secret')
  const out = refused(403, 'Forbidden: bot is not a member of the supergroup chat')
  t.match(await client.bot(key, 'getChatHistory', { chat_id: closed }), out)
  t.match(await client.bot(key, 'markAsRead', { chat_id: closed }), out)
  t.match(await client.bot(key, 'getChatHistory', { chat_id: 12 }), bad('chat not found'))
  t.match(await client.bot(key, 'getChatHistory', {}), bad('chat_id is empty'))
})

t.test('reading needs the scope to receive, marking the scope to send', async (t) => {
  const { key: sender } = await client.key(credentialId, ['bot:send'])
  const { key: receiver } = await client.key(credentialId, ['bot:receive'])
  const given = { chat_id: ada.id, phone_number: ada.phone }
  const statusOf = async (key: string, method: string) =>
    (await client.bot(key, method, given)).status
  for (const method of ['getChats', 'getChatHistory', 'resolvePhone']) {
    t.equal(await statusOf(sender, method), 403, method)
    t.equal(await statusOf(receiver, method), 200, method)
  }
  t.equal(await statusOf(sender, 'markAsRead'), 200)
  t.equal(await statusOf(receiver, 'markAsRead'), 403)
})
