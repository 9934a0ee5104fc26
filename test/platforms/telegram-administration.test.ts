/** What only administrators ask for, carried out over the bot API with an account of Telegram. */
import t from 'tap'
import { refused } from '../service/scene.ts'
import { startService } from '../support/service.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('an account of Telegram administers a forum', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const [person, friend, other] = [network.person(), network.person(), network.person()]
  const forum = network.channel(person, [friend, other], false)
  forum.isForum = true
  network.delivery.send(friend, forum, { message: 'hello' })
  network.delivery.send(other, forum, { message: 'hello' })
  const elsewhere = network.channel(friend, [person])
  network.delivery.send(friend, elsewhere, { message: 'hello' })
  const news = network.channel(person, [friend])
  network.delivery.send(person, news, { message: 'hello' })
  const { key } = await linkOver(client, person)
  const ask = (method: string, parameters: object = {}) =>
    client.bot(key, method, { chat_id, ...parameters })
  const chat_id = Number(nativeOfPlace(forum))
  const done = async (method: string, parameters: object = {}) => {
    const { body } = await ask(method, parameters)
    if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
    return body.result
  }

  await t.test('the general topic is renamed, closed, hidden, and shown again', async (t) => {
    const { general } = forum
    t.equal(await done('editGeneralForumTopic', { name: 'Lobby' }), true)
    t.equal(general.title, 'Lobby')
    await done('closeGeneralForumTopic')
    t.match(general, { isClosed: true, isHidden: false })
    await done('reopenGeneralForumTopic')
    t.match(general, { isClosed: false })
    await done('hideGeneralForumTopic')
    t.match(general, { isHidden: true })
    await done('unhideGeneralForumTopic')
    t.match(general, { isHidden: false })
  })

  await t.test('the messages of one topic are unpinned, and no others', async (t) => {
    const { message_thread_id } = await done('createForumTopic', { name: 'Tea' })
    const send = async (more: object) =>
      (await done('sendMessage', { text: 'x', ...more })).message_id
    const inTopic = await send({ message_thread_id })
    const inGeneral = await send({})
    for (const message_id of [inTopic, inGeneral]) await done('pinChatMessage', { message_id })
    t.equal(await done('unpinAllForumTopicMessages', { message_thread_id }), true)
    t.same(forum.pinned, [inGeneral])
    await done('pinChatMessage', { message_id: inTopic })
    t.equal(await done('unpinAllGeneralForumTopicMessages'), true)
    t.same(forum.pinned, [inTopic])
  })

  await t.test('administrators have titles, ordinary members have tags', async (t) => {
    await done('promoteChatMember', { user_id: friend.id, can_pin_messages: true })
    const title = { user_id: friend.id, custom_title: 'Brewer' }
    t.equal(await done('setChatAdministratorCustomTitle', title), true)
    t.match(await done('getChatMember', { user_id: friend.id }), {
      status: 'administrator',
      custom_title: 'Brewer',
      can_pin_messages: true,
    })
    t.equal(await done('setChatMemberTag', { user_id: other.id, tag: 'Guest' }), true)
    t.match(await done('getChatMember', { user_id: other.id }), { status: 'member', tag: 'Guest' })
    const bad = (description: string) => refused(400, `Bad Request: ${description}`)
    t.match(
      await ask('setChatAdministratorCustomTitle', { user_id: other.id, custom_title: 'x' }),
      bad('user is not an administrator'),
    )
    t.match(
      await ask('setChatMemberTag', { user_id: friend.id, tag: 'x' }),
      bad('USER_IS_ADMINISTRATOR'),
    )
    t.match(
      await ask('setChatAdministratorCustomTitle', { ...title, custom_title: '🍵' }),
      bad('CUSTOM_TITLE_EMOJI_NOT_ALLOWED'),
    )
    t.match(
      await ask('setChatMemberTag', { user_id: other.id, tag: '🍵' }),
      bad('TAG_EMOJI_NOT_ALLOWED'),
    )
  })

  await t.test('a kind of chat is sent its own rights alone, and shows no others', async (t) => {
    const ofAll = ['change_info', 'pin_messages', 'manage_topics', 'manage_tags']
    const ofChannels = ['post_messages', 'edit_messages', 'manage_direct_messages']
    const all = [...ofAll, ...ofChannels].map((right) => [`can_${right}`, true])
    const asked = { user_id: friend.id, is_anonymous: true, ...Object.fromEntries(all) }
    const group = ['pinMessages', 'manageTopics', 'manageRanks', 'anonymous']
    const channel = ['postMessages', 'editMessages', 'manageDirectMessages']
    for (const [place, sent, unsent] of [
      [forum, group, channel],
      [news, channel, group],
    ] as const) {
      const there = { ...asked, chat_id: Number(nativeOfPlace(place)) }
      t.equal(await done('promoteChatMember', there), true)
      const { _, ...rights } = place.admins.get(friend.id)!
      t.same(Object.keys(rights).sort(), ['other', 'changeInfo', ...sent].sort())
      const shown = await done('getChatMember', there)
      for (const name of unsent) t.notOk(name in rights, name)
      t.equal('can_post_messages' in shown, place === news)
      t.equal('can_pin_messages' in shown, place === forum)
    }
    const foreign = { user_id: friend.id, chat_id: Number(nativeOfPlace(news)) }
    t.equal(await done('promoteChatMember', { ...foreign, can_pin_messages: true }), true)
    t.notOk(news.admins.has(friend.id), 'a channel knows none of these rights')
  })

  await t.test('a channel is kept from writing, and let in again', async (t) => {
    const sender_chat_id = Number(nativeOfPlace(elsewhere))
    t.equal(await done('banChatSenderChat', { sender_chat_id }), true)
    t.ok(forum.banned.get(elsewhere.id)?.viewMessages)
    t.equal(await done('unbanChatSenderChat', { sender_chat_id }), true)
    t.notOk(forum.banned.has(elsewhere.id))
    t.match(
      await ask('banChatSenderChat', { sender_chat_id: friend.id }),
      refused(400, 'Bad Request: sender_chat_id must be a channel'),
    )
  })

  await t.test('boosts of a person are listed', async (t) => {
    const boost = { _: 'boost', id: 'b1', userId: friend.id, date: 100, expires: 200 } as const
    forum.boosts.push(boost, { ...boost, id: 'b2', userId: other.id })
    t.match(await done('getUserChatBoosts', { user_id: friend.id }), {
      boosts: [{ boost_id: 'b1', add_date: 100, expiration_date: 200 }],
    })
    t.equal((await done('getUserChatBoosts', { user_id: person.id })).boosts.length, 0)
  })

  await t.test('the account sets its own emoji status and nobody else’s', async (t) => {
    const status = { emoji_status_custom_emoji_id: '5368324170671202286' }
    t.equal(await done('setUserEmojiStatus', { user_id: person.id, ...status }), true)
    t.equal(person.emojiStatus?._, 'emojiStatus')
    await done('setUserEmojiStatus', { user_id: person.id })
    t.equal(person.emojiStatus?._, 'emojiStatusEmpty')
    t.match(
      await ask('setUserEmojiStatus', { user_id: friend.id, ...status }),
      refused(400, 'Bad Request: the emoji status of other people is not supported on Telegram'),
    )
  })

  await t.test('what only bots may is refused with the remedy', async (t) => {
    for (const method of ['verifyChat', 'answerInlineQuery', 'removeUserVerification']) {
      const description = `method ${method} not found on Telegram: only bots may; link a bot's token instead`
      const { body } = await ask(method, { user_id: friend.id, inline_query_id: '1', results: [] })
      t.match(body.description, `Bad Request: ${description}`)
    }
  })
})
