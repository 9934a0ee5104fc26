/** What administrators do beside moderation: the general topic, titles and tags, boosts, verification and photos. */
import { Api } from 'grammy'
import t from 'tap'
import { picture, soundOf } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, ada, bot, key } = await scene(t, { env: { FFMPEG: '' } })
const api = new Api(key, { apiRoot: service.url })
const make = (more: object) =>
  client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Place',
    owner: bot.id,
    members: [ada.id],
    ...more,
  })
const own = `/sandbox/people/${ada.id}`
let offset = 0
/** The newest update of this kind. */
async function next(kind: string) {
  for (;;) {
    const { body } = await client.bot(key, 'getUpdates', {
      offset,
      timeout: 10,
      allowed_updates: ['message', 'chat_member', 'chat_boost', 'removed_chat_boost'],
    })
    if (body.result.length === 0) throw new Error(`no ${kind}`)
    for (const update of body.result) {
      offset = update.update_id + 1
      if (update[kind]) return update[kind]
    }
  }
}

t.test('a closed general topic takes no messages, and a hidden one is closed', async (t) => {
  const { id } = await make({ is_forum: true })
  const write = () =>
    client.ask('POST', `${own}/messages`, { to: id, text: 'hello' }).then(({ status, body }) => ({
      status,
      description: body.description,
    }))
  t.equal((await write()).status, 200)
  t.equal(await api.closeGeneralForumTopic(id), true)
  t.match(await write(), { status: 400, description: 'Bad Request: TOPIC_CLOSED' })
  t.match(
    await client.bot(key, 'closeGeneralForumTopic', { chat_id: id }),
    refused(400, 'Bad Request: TOPIC_NOT_MODIFIED'),
  )
  t.match(await api.sendMessage(id, 'an administrator writes all the same'), { text: String })
  const topic = await api.createForumTopic(id, 'Tea')
  const inTopic = { to: id, text: 'here', message_thread_id: topic.message_thread_id }
  t.match(await client.ask('POST', `${own}/messages`, inTopic), { status: 200 })
  t.equal(await api.reopenGeneralForumTopic(id), true)
  t.equal((await write()).status, 200)
  t.equal(await api.hideGeneralForumTopic(id), true)
  t.equal((await write()).status, 400)
  t.equal(await api.unhideGeneralForumTopic(id), true)
  t.equal(await api.reopenGeneralForumTopic(id), true)
  t.equal(await api.editGeneralForumTopic(id, 'Lobby'), true)
  t.match(await next('message'), { text: 'hello' })
  const { messages } = await client.result('GET', `${own}/inbox?chat=${id}`)
  const services = messages.map((message: { service?: string }) => message.service)
  t.match(services.filter(Boolean).reverse().slice(-6), [
    'topic_created',
    'topic_reopened',
    'general_topic_hidden',
    'general_topic_unhidden',
    'topic_reopened',
    'topic_edited',
  ])
  t.match(
    await client.bot(key, 'closeGeneralForumTopic', { chat_id: (await make({})).id }),
    refused(400, 'Bad Request: the chat is not a forum'),
  )
})

t.test('the messages of one topic are unpinned, and others stay pinned', async (t) => {
  const { id } = await make({ is_forum: true })
  const { message_thread_id } = await api.createForumTopic(id, 'Tea')
  const general = await api.sendMessage(id, 'general')
  const inTopic = await api.sendMessage(id, 'tea', { message_thread_id })
  await api.pinChatMessage(id, general.message_id)
  await api.pinChatMessage(id, inTopic.message_id)
  t.equal(await api.unpinAllForumTopicMessages(id, message_thread_id), true)
  t.match((await api.getChat(id)).pinned_message, { message_id: general.message_id })
  t.equal(await api.unpinAllGeneralForumTopicMessages(id), true)
  t.equal((await api.getChat(id)).pinned_message, undefined)
})

t.test('administrators have titles, members tags, and both are told', async (t) => {
  const { id } = await make({})
  const title = (user_id: number, custom_title: string) =>
    client.bot(key, 'setChatAdministratorCustomTitle', { chat_id: id, user_id, custom_title })
  const tag = (user_id: number, text: string) =>
    client.bot(key, 'setChatMemberTag', { chat_id: id, user_id, tag: text })
  t.match(await tag(ada.id, 'poet'), { status: 200 })
  t.match(await api.getChatMember(id, ada.id), { status: 'member', tag: 'poet' })
  t.match(await title(ada.id, 'Boss'), refused(400, 'Bad Request: user is not an administrator'))
  await client.result('PUT', `/sandbox/chats/${id}/members/${ada.id}`, { role: 'admin' })
  t.match(await title(ada.id, 'Boss'), { status: 200 })
  t.match(await api.getChatMember(id, ada.id), { status: 'administrator', custom_title: 'Boss' })
  t.match(await title(ada.id, 'x'.repeat(17)), refused(400, 'Bad Request: CUSTOM_TITLE_INVALID'))
  t.match(await title(ada.id, '🔥'), refused(400, 'Bad Request: CUSTOM_TITLE_EMOJI_NOT_ALLOWED'))
  t.match(await tag(ada.id, 'poet'), refused(400, 'Bad Request: USER_IS_ADMINISTRATOR'))
  const path = `${own}/chats/${id}/members/${ada.id}/title`
  t.match(await client.ask('PUT', path, { title: 'Muse' }), { status: 400 }, 'not by herself')
  t.match(await client.ask('PUT', path, { title: 'Muse', tag: 'poet' }), { status: 400 })
  const kim = await client.person('Kim')
  await client.result('PUT', `/sandbox/chats/${id}/members/${kim.id}`, {})
  await client.result('PUT', `${own}/chats/${id}/members/${kim.id}/title`, { tag: 'guest' })
  t.match(await api.getChatMember(id, kim.id), { tag: 'guest' })
})

t.test('a boost is told, listed and taken back', async (t) => {
  const { id } = await make({})
  const { boost_id } = await client.result('POST', `${own}/chats/${id}/boosts`, {})
  const source = { source: 'premium', user: { id: ada.id } }
  t.match(await next('chat_boost'), { chat: { id }, boost: { boost_id, source } })
  t.match(await api.getUserChatBoosts(id, ada.id), {
    boosts: [{ boost_id, add_date: Number, expiration_date: Number, source }],
  })
  t.equal(await client.result('DELETE', `${own}/chats/${id}/boosts/${boost_id}`), true)
  t.match(await next('removed_chat_boost'), { chat: { id }, boost_id, remove_date: Number, source })
  t.same(await api.getUserChatBoosts(id, ada.id), { boosts: [] })
  t.match(await client.ask('DELETE', `${own}/chats/${id}/boosts/${boost_id}`), { status: 404 })
  t.match(await client.ask('POST', `${own}/chats/${id}/boosts`, { seconds: 0 }), { status: 400 })
})

t.test('people and chats are verified, and the words are seen', async (t) => {
  const verify = (user_id: number, custom_description: string) =>
    client.bot(key, 'verifyUser', { user_id, custom_description })
  t.match(await verify(ada.id, 'Poet of the town'), { status: 200 })
  t.match(await client.result('GET', own), {
    verification: { by: bot.id, description: 'Poet of the town' },
  })
  const { id: chat_id } = await make({})
  await client.bot(key, 'verifyChat', { chat_id, custom_description: 'Our room' })
  t.match(await client.result('GET', `/sandbox/chats/${chat_id}`), {
    verification: { by: bot.id, description: 'Our room' },
  })
  t.match(await verify(ada.id, 'x'.repeat(71)), refused(400, 'Bad Request: DESCRIPTION_TOO_LONG'))
  t.match(await verify(1, ''), refused(400, 'Bad Request: user not found'))
  t.match(await client.bot(key, 'removeUserVerification', { user_id: ada.id }), { status: 200 })
  t.match(await client.result('GET', own), { verification: null })
})

t.test('an emoji status is set where the person allows it', async (t) => {
  const notAllowed = "Forbidden: not enough rights to change the user's emoji status"
  const set = (more: object = {}) =>
    client.bot(key, 'setUserEmojiStatus', { user_id: ada.id, ...more })
  t.match(await set(), refused(403, notAllowed))
  await client.result('PUT', `${own}/emoji_status_access/${bot.id}`, {})
  t.match(await set(), { status: 200 })
  const unknown = { emoji_status_custom_emoji_id: '123' }
  t.match(await set(unknown), refused(400, 'Bad Request: DOCUMENT_INVALID'))
  await client.result('PUT', `${own}/emoji_status_access/${bot.id}`, { allowed: false })
  t.match(await set(), refused(403, notAllowed))
})

t.test('a person has photos, and gives a chat one', async (t) => {
  const data = (await picture(300, 300)).toString('base64')
  t.equal(await client.result('PUT', `${own}/photo`, { data }), true)
  t.match(await api.getUserProfilePhotos(ada.id), {
    total_count: 1,
    photos: [[{ file_id: String }]],
  })
  t.equal(await client.result('DELETE', `${own}/photo`), true)
  t.match(await api.getUserProfilePhotos(ada.id), { total_count: 0 })
  const { id } = await make({})
  t.equal(
    await client.result('PUT', `${own}/chats/${id}/photo`, { data }).catch(() => false),
    false,
  )
  await client.result('PUT', `/sandbox/chats/${id}/members/${ada.id}`, { role: 'admin' })
  t.equal(await client.result('PUT', `${own}/chats/${id}/photo`, { data }), true)
  t.match(await api.getChat(id), { photo: { big_file_id: String } })
  t.match(await client.ask('PUT', `${own}/photo`, { data: 1 }), { status: 400 })
})

t.test('a person puts music into the profile, and bots can hear it', async (t) => {
  const audios = `${own}/audios`
  const songs = (more: object = {}) => api.getUserProfileAudios(ada.id, more)
  t.strictSame(await songs(), { total_count: 0, audios: [] })
  const bytes = (title: string) => Buffer.concat([soundOf.mp3, Buffer.from(title)])
  const add = (title: string) =>
    client.result('POST', audios, {
      data: bytes(title).toString('base64'),
      title,
      performer: 'The Cups',
      file_name: 'song.mp3',
    })
  const first = await add('Polka')
  t.match(first, { audio_id: String, media: { type: 'audio', title: 'Polka' } })
  await add('Waltz')
  const { audios: both, total_count } = await songs()
  t.equal(total_count, 2)
  t.match(both, [
    {
      title: 'Waltz',
      performer: 'The Cups',
      file_name: 'song.mp3',
      file_size: bytes('Waltz').length,
    },
    { title: 'Polka' },
  ])
  t.match(await songs({ offset: 1, limit: 1 }), { total_count: 2, audios: [{ title: 'Polka' }] })
  t.strictSame(await songs({ offset: 2 }), { total_count: 2, audios: [] })
  t.match(await api.sendAudio(ada.id, both[0]!.file_id), { audio: { title: 'Waltz' } })

  t.match(await client.result('GET', audios), [{ media: { title: 'Waltz' } }, first])
  const removed = `${audios}/${first.audio_id}`
  const stranger = `/sandbox/people/${bot.id}/audios/${first.audio_id}`
  t.match(await client.ask('DELETE', stranger), { status: 404 })
  t.equal(await client.result('DELETE', removed), true)
  t.match(await client.ask('DELETE', removed), { status: 404 })
  t.match(await songs(), { total_count: 1, audios: [{ title: 'Waltz' }] })
  t.match(await client.ask('POST', audios, { title: 'nothing' }), { status: 400 })
  t.match(await client.bot(key, 'getUserProfileAudios', { user_id: 1 }), {
    status: 400,
    body: { description: 'Bad Request: user not found' },
  })
})

t.test('who joins a channel by a paid link pays, and is in for a month', async (t) => {
  const { id } = await make({ kind: 'channel', members: [] })
  const create = (more: object = {}) =>
    client.bot(key, 'createChatSubscriptionInviteLink', {
      chat_id: id,
      name: 'Patrons',
      subscription_period: 2_592_000,
      subscription_price: 100,
      ...more,
    })
  const { invite_link } = (await create()).body.result
  t.match((await create()).body.result, {
    name: 'Patrons',
    subscription_period: 2_592_000,
    subscription_price: 100,
  })
  const follow = (link: string) =>
    client.ask('POST', `${own}/follow`, { invite_link: link }).then(({ status }) => status)
  const look = `${own}/invite?link=${encodeURIComponent(invite_link)}`
  t.match(await client.result('GET', look), {
    type: 'channel',
    needs_approval: false,
    subscription: { star_count: 100, period: 2_592_000 },
  })
  t.equal(await follow(invite_link), 200)
  t.match(await client.result('GET', `${own}/subscriptions`), [{ star_count: 100 }])
  const member = (await api.getChatMember(id, ada.id)) as { status: string; until_date?: number }
  t.equal(member.status, 'member')
  t.ok((member.until_date ?? 0) > Date.now() / 1000 + 2_500_000)
  const edited = { chat_id: id, invite_link, name: 'Friends' }
  t.match(await client.bot(key, 'editChatSubscriptionInviteLink', edited), {
    body: { result: { name: 'Friends', subscription_price: 100 } },
  })
  const wrong = (problem: string) => refused(400, `Bad Request: ${problem}`)
  t.match(await create({ subscription_period: 60 }), wrong('SUBSCRIPTION_PERIOD_INVALID'))
  t.match(await create({ subscription_price: 0 }), wrong('STARS_AMOUNT_INVALID'))
  const group = await make({})
  t.match(await create({ chat_id: group.id }), wrong('PRICING_CHAT_INVALID'))
})
