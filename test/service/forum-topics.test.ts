/** Topics of forums: begun, written in, changed and deleted, by bots and by people. */
import { Api } from 'grammy'
import t from 'tap'
import { callWithFiles, picture } from './files.ts'
import { forumScene } from './forum-scene.ts'

const stage = await forumScene(t)
const { service, client, ada, bot, key, done, forum, topic, adas, writes } = stage
const files = { picture: { bytes: await picture() } }

t.test('a bot begins a topic and writes in it', async (t) => {
  const chat_id = await forum()
  const api = new Api(key, { apiRoot: service.url })
  const begun = await api.createForumTopic(chat_id, '  Green \n tea ', { icon_color: 0xffd67e })
  t.same(begun, {
    message_thread_id: begun.message_thread_id,
    name: 'Green tea',
    icon_color: 0xffd67e,
  })
  t.ok(begun.message_thread_id > 1, 'the number of the general topic is nobody else’s')
  const { message_thread_id } = begun
  const sent = await api.sendMessage(chat_id, 'hot', { message_thread_id })
  const start = {
    message_id: message_thread_id,
    message_thread_id,
    is_topic_message: true,
    forum_topic_created: { name: 'Green tea', icon_color: 0xffd67e },
  }
  t.match(sent, {
    message_thread_id,
    is_topic_message: true,
    chat: { id: chat_id, type: 'supergroup', is_forum: true },
    reply_to_message: start,
    text: 'hot',
  })
  const general = await api.sendMessage(chat_id, 'outside')
  t.notOk('message_thread_id' in general || 'is_topic_message' in general)
  t.notOk('reply_to_message' in general)
  t.match(await stage.shown(chat_id), [
    {
      message_id: message_thread_id,
      service: 'topic_created',
      topic: { name: 'Green tea', icon_color: 0xffd67e },
      message_thread_id,
    },
    { text: 'hot', message_thread_id },
    { text: 'outside', message_thread_id: undefined },
  ])
  t.match(await done('getChat', { chat_id }), { is_forum: true })
})

t.test('whatever is sent keeps to its topic', async (t) => {
  const chat_id = await forum()
  const message_thread_id = await topic(chat_id)
  const there = { chat_id, message_thread_id }
  const upload = (method: string, more: object) =>
    callWithFiles(service.url, key, method, { ...there, ...more }, files)
  const { message_id } = await done('sendMessage', { chat_id: ada.id, text: 'from elsewhere' })
  const elsewhere = { from_chat_id: ada.id, message_id }
  const item = { type: 'photo', media: 'attach://picture' }
  const { body: photo } = await upload('sendPhoto', { photo: 'attach://picture' })
  const { body: album } = await upload('sendMediaGroup', { media: [item, item] })
  const sent = [
    photo.result,
    ...album.result,
    await done('sendLocation', { ...there, latitude: 1, longitude: 2 }),
    await done('sendDice', there),
    await done('sendPoll', { ...there, question: 'Tea?', options: ['yes', 'no'] }),
    await done('forwardMessage', { ...there, ...elsewhere }),
  ]
  for (const message of sent) t.match(message, { message_thread_id, is_topic_message: true })
  await done('copyMessage', { ...there, ...elsewhere })
  const many = { ...there, from_chat_id: ada.id, message_ids: [message_id] }
  await done('copyMessages', many)
  await done('forwardMessages', many)
  const shown = await stage.shown(chat_id)
  t.equal(shown.length, 1 + sent.length + 3)
  for (const message of shown) t.match(message, { message_thread_id })

  const reply_parameters = { message_id: shown.at(-1)?.message_id }
  const answer = await done('sendMessage', { chat_id, text: 'well', reply_parameters })
  t.match(answer, { message_thread_id, reply_to_message: { ...reply_parameters } })
  await done('pinChatMessage', { chat_id, message_id: answer.message_id })
  t.match((await stage.shown(chat_id)).at(-1), { service: 'pinned', message_thread_id })
  for (const place of [{ chat_id }, there, { chat_id }]) {
    await done('sendChatAction', { ...place, action: 'typing' })
    const [typing] = (await stage.inbox()).typing
    t.match(typing, { chat: { id: chat_id }, person: { id: bot.id } })
    t.equal(typing.message_thread_id, 'message_thread_id' in place ? message_thread_id : undefined)
  }
})

t.test('what people write and do in topics is told with its thread', async (t) => {
  const chat = await forum(ada.id)
  const look = { name: 'Plans', icon_color: 0x6fb9f0, icon_custom_emoji_id: '5312536423851630001' }
  const { result: begun } = (await adas('POST', chat, look)).body
  const thread = begun.message_thread_id
  t.match(begun, { ...look, is_closed: false })
  t.match(await writes(chat, 'a plan', { message_thread_id: thread }), { status: 200 })
  await writes(chat, 'no plan')
  await adas('PATCH', chat, { name: 'Better plans', icon_custom_emoji_id: '' }, thread)
  await adas('PATCH', chat, { is_closed: true }, thread)
  await adas('PATCH', chat, { is_closed: false }, thread)
  const within = { message_thread_id: thread, is_topic_message: true, from: { id: ada.id } }
  const messages = await stage.told(6, ({ message }) => message?.chat.id === chat && message)
  t.match(messages, [
    { ...within, message_id: thread, forum_topic_created: look },
    { ...within, text: 'a plan', reply_to_message: { forum_topic_created: look } },
    { text: 'no plan', message_thread_id: undefined, chat: { is_forum: true } },
    {
      ...within,
      forum_topic_edited: { name: 'Better plans', icon_custom_emoji_id: '' },
    },
    { ...within, forum_topic_closed: {} },
    { ...within, forum_topic_reopened: {} },
  ])
  t.match(await client.result('GET', `/sandbox/chats/${chat}/topics`), [
    { message_thread_id: thread, name: 'Better plans', icon_color: 0x6fb9f0, is_closed: false },
  ])
})

t.test('a topic goes with all that was written in it', async (t) => {
  const chat_id = await forum()
  await client.result('PATCH', `/platforms/credentials/${stage.credentialId}/settings`, {
    include_self_updates: true,
    include_deleted_updates: true,
  })
  const [doomed, other] = [await topic(chat_id, 'Doomed'), await topic(chat_id, 'Other')]
  const send = (message_thread_id: number) =>
    done('sendMessage', { chat_id, message_thread_id, text: 'hi' })
  const said = await send(doomed)
  const kept = await send(other)
  const place = { chat_id, message_thread_id: doomed }
  t.equal(await done('deleteForumTopic', place), true)
  const shown = await stage.shown(chat_id)
  t.same(
    shown.map(({ message_id }) => message_id),
    [other, kept.message_id],
  )
  t.match(await client.result('GET', `/sandbox/chats/${chat_id}/topics`), [{ name: 'Other' }])
  const gone = await stage.told(2, ({ deleted_messages }) => deleted_messages)
  t.match(gone, [{ chat: { id: chat_id } }, { message_ids: [said.message_id] }])
  t.same(gone[0]?.message_ids, [doomed])
  t.match(await adas('DELETE', chat_id, undefined, other), { status: 400 }, 'not by anybody')
  t.match(await adas('DELETE', await forum(ada.id), undefined, other), { status: 400 }, 'unknown')
  const { body } = await adas('POST', chat_id, { name: 'Mine' })
  t.notOk(body.ok, 'members need the permission')
  t.equal(bot.id, kept.from.id)
})
