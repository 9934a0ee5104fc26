/** A gateway behind a gateway: forums, and all that is said of their topics, are the same through both. */
import t from 'tap'
import { receive, startChain } from '../platforms/upstream-bot/chain.ts'
import { until } from '../support/client.ts'
import { callWithFiles, picture } from './files.ts'
import { lasting } from './upstream-answers.ts'

const chain = await startChain(t)
const { inner, outer, near, far, bot, ada, innerKey, outerKey } = chain
const sides = {
  one: { client: near, url: inner.url, key: innerKey },
  both: { client: far, url: outer.url, key: outerKey },
} as const
type Side = (typeof sides)[keyof typeof sides]

const forum = async (owner: number): Promise<number> => {
  const members = [ada.id, bot.id]
  const chat = { kind: 'supergroup', title: 'Forum', is_forum: true, owner, members }
  return (await near.result('POST', '/sandbox/chats', chat)).id
}
type Shown = ReturnType<typeof JSON.parse>
/** What Ada is shown from this message on, the oldest first. */
const shown = async (chat: number, from: number): Promise<Shown[]> =>
  (await near.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${chat}`)).messages
    .toReversed()
    .filter((message: Shown) => message.message_id >= from)

/** A topic from its beginning to its end; resolves with every answer. */
async function journey({ client, url, key }: Side, chat_id: number) {
  const answers: unknown[] = []
  const call = async (method: string, parameters: object = {}) => {
    const { status, body } = await client.bot(key, method, { chat_id, ...parameters })
    answers.push({ method, status, body: lasting(body) })
    return body.result
  }
  const look = { icon_color: 0xffd67e, icon_custom_emoji_id: '5312536423851630001' }
  const { message_thread_id } = await call('createForumTopic', { name: 'Tea', ...look })
  const thread = { message_thread_id }
  const { message_id } = await call('sendMessage', { ...thread, text: 'hot' })
  await call('sendMessage', { text: 'answer', reply_parameters: { message_id } })
  await call('sendMessage', { text: 'outside' })
  await call('sendPoll', { ...thread, question: 'Tea?', options: ['yes', 'no'] })
  await call('sendLocation', { ...thread, latitude: 1, longitude: 2 })
  await call('forwardMessage', { ...thread, from_chat_id: chat_id, message_id })
  await call('copyMessage', { ...thread, from_chat_id: chat_id, message_id })
  // It is shown for a few seconds only: on a busy machine it takes more than one look.
  const typing = await until(async () => {
    await client.bot(key, 'sendChatAction', { chat_id, ...thread, action: 'typing' })
    return (await near.result('GET', `/sandbox/people/${ada.id}/inbox`)).typing[0]
  }, 60_000)
  answers.push(lasting(typing), typing.message_thread_id === message_thread_id)
  const item = { type: 'photo', media: 'attach://picture' }
  const album = { chat_id, ...thread, media: [item, item] }
  const files = { picture: { bytes: await picture() } }
  const { status, body } = await callWithFiles(url, key, 'sendMediaGroup', album, files)
  answers.push({ method: 'sendMediaGroup', status, body: lasting(body) })
  await call('getChat')

  await call('editForumTopic', { ...thread, name: 'Green tea' })
  await call('editForumTopic', { ...thread, name: 'Green tea' })
  await call('editForumTopic', { ...thread, icon_custom_emoji_id: '' })
  await call('closeForumTopic', thread)
  await call('closeForumTopic', thread)
  await call('reopenForumTopic', thread)
  await call('createForumTopic', { name: 'Odd', icon_color: 1 })
  await call('createForumTopic', { name: 'Nowhere', chat_id: ada.id })
  await call('sendMessage', { message_thread_id: 4_242, text: 'lost' })
  await call('editForumTopic', { message_thread_id: 4_242, name: 'Lost' })
  const before = await shown(chat_id, message_thread_id)
  await call('deleteForumTopic', thread)
  await call('sendMessage', { ...thread, text: 'too late' })
  return { answers, before, after: await shown(chat_id, message_thread_id) }
}

t.test('a topic is begun, written in, changed and deleted alike', async (t) => {
  const chat = await forum(bot.id)
  const one = await journey(sides.one, chat)
  const both = await journey(sides.both, chat)
  t.strictSame(both.answers, one.answers)
  t.notOk(both.answers.includes(false), 'typing is seen in the topic')
  t.strictSame(lasting(both.before), lasting(one.before), 'Ada sees the same')
  t.match(both.before, [
    { service: 'topic_created', topic: { name: 'Tea', icon_color: 0xffd67e } },
    { text: 'hot', message_thread_id: Number },
    { text: 'answer', message_thread_id: Number },
    { text: 'outside', message_thread_id: undefined },
  ])
  const within = both.before.filter(({ message_thread_id }) => message_thread_id)
  t.equal(within.length, both.before.length - 1, 'all but one keep to the topic')
  t.match(both.after, [{ text: 'outside' }])
  t.equal(both.after.length, 1)
})

t.test('what people do in topics is told alike', async (t) => {
  const chat = await forum(ada.id)
  const topics = `/sandbox/people/${ada.id}/chats/${chat}/topics`
  const look = { name: 'Plans', icon_color: 0x6fb9f0, icon_custom_emoji_id: '77' }
  const { message_thread_id } = await near.result('POST', topics, look)
  const write = (text: string, more: object = {}) =>
    near.result('POST', `/sandbox/people/${ada.id}/messages`, { to: chat, text, ...more })
  const { message_id } = await write('a plan', { message_thread_id })
  await write('an answer', { reply_to_message_id: message_id })
  await write('no plan')
  const change = (news: object) => near.result('PATCH', `${topics}/${message_thread_id}`, news)
  await change({ name: 'Better plans', icon_custom_emoji_id: '' })
  await change({ is_closed: true })
  await change({ is_closed: false })
  await write('the end')
  const isOver = (updates: readonly object[]) => JSON.stringify(updates).includes('"the end"')
  const here = (updates: readonly object[]) =>
    updates.filter((update) => JSON.stringify(update).includes(`"id":${chat}`))
  const both = here(await receive(far, outerKey, isOver))
  t.strictSame(lasting(both), lasting(here(await receive(near, innerKey, isOver))))
  const within = { message_thread_id, is_topic_message: true, chat: { is_forum: true } }
  const news = [
    { ...within, forum_topic_created: look },
    { ...within, text: 'a plan', reply_to_message: { forum_topic_created: look } },
    { ...within, text: 'an answer', reply_to_message: { text: 'a plan' } },
    { message_thread_id: undefined, text: 'no plan', chat: { is_forum: true } },
    { ...within, forum_topic_edited: { name: 'Better plans', icon_custom_emoji_id: '' } },
    { ...within, forum_topic_closed: {} },
    { ...within, forum_topic_reopened: {} },
    { text: 'the end' },
  ]
  t.match(
    both.slice(-news.length),
    news.map((message) => ({ message })),
  )
})
