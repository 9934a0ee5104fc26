/** What cannot be done with topics is refused in the reference's words. */
import t from 'tap'
import { forumScene } from './forum-scene.ts'
import { refused } from './scene.ts'

const { client, ada, bot, call, done, forum, topic, adas, writes } = await forumScene(t)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const methods = ['editForumTopic', 'closeForumTopic', 'reopenForumTopic', 'deleteForumTopic']

t.test('chats without topics have none', async (t) => {
  const group = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Group',
    owner: bot.id,
  })
  await done('sendMessage', { chat_id: ada.id, text: 'hi' })
  for (const chat_id of [group.id, ada.id]) {
    const answer = await call('createForumTopic', { chat_id, name: 'Tea' })
    t.match(answer, bad('the chat is not a forum'), `${chat_id}`)
    const lost = await call('sendMessage', { chat_id, text: 'hi', message_thread_id: 5 })
    t.match(lost, bad('message thread not found'), `${chat_id}`)
  }
  for (const name of methods) {
    const answer = await call(name, { chat_id: group.id, message_thread_id: 5 })
    t.match(answer, bad('the chat is not a forum'), name)
  }
  t.match(await call('createForumTopic', { chat_id: -1, name: 'Tea' }), bad('chat not found'))
  t.match(await call('createForumTopic', { name: 'Tea' }), bad('chat_id is empty'))
  const channel = { kind: 'channel', title: 'News', owner: bot.id, is_forum: true }
  t.match(await client.ask('POST', '/sandbox/chats', channel), { status: 400 })
})

t.test('a topic that is not there is not found', async (t) => {
  const chat_id = await forum()
  const there = { chat_id, message_thread_id: 4_242 }
  const { message_id } = await done('sendMessage', { chat_id, text: 'in the general topic' })
  for (const name of methods) {
    t.match(await call(name, there), bad('TOPIC_ID_INVALID'), name)
    const general = { chat_id, message_thread_id: 0 }
    t.match(await call(name, general), bad('invalid message thread identifier specified'), name)
  }
  for (const message_thread_id of [1, message_id, 4_242]) {
    const terms = { chat_id, message_thread_id }
    const lost = bad('message thread not found')
    t.match(await call('sendMessage', { ...terms, text: 'hi' }), lost)
    t.match(await call('sendDice', terms), lost)
    t.match(await call('sendChatAction', { ...terms, action: 'typing' }), lost)
    const from = { ...terms, from_chat_id: chat_id }
    t.match(await call('copyMessage', { ...from, message_id }), lost)
    t.match(await call('forwardMessages', { ...from, message_ids: [message_id] }), lost)
  }
})

t.test('names and icons are looked at', async (t) => {
  const chat_id = await forum()
  const create = (more: object) => call('createForumTopic', { chat_id, ...more })
  for (const name of [undefined, '', ' \n ']) {
    t.match(await create({ name }), bad('title must be non-empty'), `${name}`)
  }
  for (const icon_color of [1, -5, 0x1000001]) {
    t.match(await create({ name: 'n', icon_color }), bad('invalid icon color specified'))
  }
  t.match((await create({ name: '🍵'.repeat(200) })).body.result, { name: '🍵'.repeat(128) })
  const message_thread_id = await topic(chat_id, 'Tea')
  const edit = (more: object) => call('editForumTopic', { chat_id, message_thread_id, ...more })
  t.match(await edit({ name: '  ' }), bad('title must be non-empty'))
  t.match(await edit({ name: 'Tea' }), bad('TOPIC_NOT_MODIFIED'))
  t.match(await edit({ icon_custom_emoji_id: '' }), bad('TOPIC_NOT_MODIFIED'))
  t.match(await edit({}), { status: 200 }, 'nothing is asked for')
  t.match(await edit({ name: 'Tea', icon_custom_emoji_id: '77' }), { status: 200 })
  t.match(await client.result('GET', `/sandbox/chats/${chat_id}/topics`), [
    { name: String },
    { name: 'Tea', icon_custom_emoji_id: /^77$/ },
  ])
  const place = { chat_id, message_thread_id }
  t.match(await call('reopenForumTopic', place), bad('TOPIC_NOT_MODIFIED'))
  t.match(await call('closeForumTopic', place), { status: 200 })
  t.match(await call('closeForumTopic', place), bad('TOPIC_NOT_MODIFIED'))
  const root = { chat_id, message_id: message_thread_id }
  t.match(await call('deleteMessage', root), bad("message can't be deleted"))
})

t.test('a closed topic is for those who manage it', async (t) => {
  const chat_id = await forum(ada.id)
  const { body } = await adas('POST', chat_id, { name: 'Closed' })
  const { message_thread_id } = body.result
  t.match(await adas('PATCH', chat_id, { is_closed: true }, message_thread_id), { status: 200 })
  const send = () => call('sendMessage', { chat_id, message_thread_id, text: 'hi' })
  const member = `/sandbox/chats/${chat_id}/members/${bot.id}`
  t.match(await send(), bad('TOPIC_CLOSED'))
  t.match(await writes(chat_id, 'mine', { message_thread_id }), { status: 200 })
  await client.result('PUT', member, { role: 'admin' })
  t.match(await send(), { status: 200 })
})

t.test('rights decide who does what with topics', async (t) => {
  const chat_id = await forum(ada.id)
  const { body } = await adas('POST', chat_id, { name: "Ada's" })
  const place = { chat_id, message_thread_id: body.result.message_thread_id }
  const create = () => call('createForumTopic', { chat_id, name: "Bot's" })
  t.match(await create(), bad('not enough rights to create a topic'))
  const edit = { ...place, name: 'n' }
  t.match(await call('editForumTopic', edit), bad('not enough rights to edit the topic'))
  const closing = bad('not enough rights to close or open the topic')
  t.match(await call('closeForumTopic', place), closing)
  t.match(await call('reopenForumTopic', place), closing)
  t.match(await call('deleteForumTopic', place), bad('not enough rights to delete the topic'))
  await client.result('PUT', `/sandbox/chats/${chat_id}/members/${bot.id}`, { role: 'admin' })
  t.match(await done('getChatMember', { chat_id, user_id: bot.id }), { can_manage_topics: true })
  t.match(await create(), { status: 200 })
  t.match(await call('editForumTopic', edit), { status: 200 })
  t.match(await call('deleteForumTopic', place), { status: 200 })
})

t.test('whoever began a topic changes it without further rights', async (t) => {
  const chat_id = await forum()
  await done('setChatPermissions', {
    chat_id,
    permissions: { can_send_messages: true, can_manage_topics: true },
  })
  const { body } = await adas('POST', chat_id, { name: 'Mine' })
  const { message_thread_id } = body.result
  const bots = await topic(chat_id)
  t.match(await adas('PATCH', chat_id, { name: 'Still mine' }, message_thread_id), { status: 200 })
  t.match(await adas('PATCH', chat_id, { is_closed: true }, message_thread_id), { status: 200 })
  t.match(await writes(chat_id, 'in my own', { message_thread_id }), { status: 200 })
  t.match(
    await adas('PATCH', chat_id, { name: 'Mine, too' }, bots),
    bad('not enough rights to edit the topic'),
  )
  for (const body of [{}, { name: '' }, { name: 'n', icon_custom_emoji_id: 'x' }, { name: 7 }]) {
    t.match(await adas('POST', chat_id, body), { status: 400 }, JSON.stringify(body))
  }
  t.match(await client.ask('GET', '/sandbox/chats/-4242/topics'), { status: 404 })
  const odd = await adas('POST', chat_id, { name: 'half \ud83c' })
  const half = 'field "name" must not contain half of a character (a lone surrogate)'
  t.match(odd, bad(half))
  t.match(await adas('PATCH', chat_id, {}, bots), { status: 400 }, 'nothing to do')
  t.match(await adas('PATCH', chat_id, { name: 'n', is_closed: true }, bots), { status: 400 })
})
