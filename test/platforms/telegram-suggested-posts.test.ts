/** Direct messages of channels, and posts that are suggested in them, with accounts of Telegram over the bot API. */
import { Long, type tl } from '@mtcute/core'
import t from 'tap'
import { poller } from '../service/poller.ts'
import { refused } from '../service/scene.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { read } from '../support/telegram-dc/dialogs.ts'
import { linkOver, serviceOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const starsOf = (amount: number, nanos = 0): tl.RawStarsAmount => ({
  _: 'starsAmount',
  amount: Long.fromNumber(amount),
  nanos,
})

/** An account, a friend of it, a channel of one of them with its direct messages, and a key that hears everything. */
async function sceneOf(t: Parameters<typeof Stage.start>[0], owns: boolean) {
  const stage = await Stage.start(t)
  const { network } = stage
  const [person, friend] = [network.person(), network.person()]
  const [owner, writer] = owns ? [person, friend] : [friend, person]
  const channel = network.channel(owner, [writer])
  const direct = network.directMessages(channel, [writer])
  const group = network.channel(person, [friend], false)
  network.delivery.send(friend, group, { message: 'hello' })
  const by = { _: 'peerUser', userId: writer.id } as const
  /** Written to the channel by its reader. */
  const write = (message: string, suggestedPost?: tl.RawSuggestedPost) =>
    network.delivery.send(writer, direct, {
      message,
      savedPeerId: by,
      ...(suggestedPost && { suggestedPost }),
    })
  write('hello channel')
  const service = await serviceOver(t, stage)
  const client = await service.client()
  const { credentialId } = await linkOver(client, person)
  const { key, next } = await poller(client, credentialId)
  const ask = (method: string, parameters: object) => client.bot(key, method, parameters)
  const done = async (method: string, parameters: object) => {
    const { body } = await ask(method, parameters)
    if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
    return body.result
  }
  const told = async (kind: string, field?: string) => {
    for (;;) {
      const { [kind]: update } = await next()
      if (update && (field === undefined || field in update)) return update
    }
  }
  const heard = (field: string) => told('message', field)
  const chat_id = Number(nativeOfPlace(direct))
  const sent = (id: number) => direct.messages.get(id) as tl.RawMessage
  const places = { channel, direct, group, chat_id }
  return { network, stage, person, friend, ...places, write, ask, done, heard, told, sent, by }
}

t.test('the owner of a channel', async (t) => {
  const scene = await sceneOf(t, true)
  const { network, person, friend, channel, direct, group, chat_id } = scene
  const { write, ask, done, heard, told, sent, by } = scene
  const topic = { topic_id: friend.id, user: { id: friend.id, first_name: friend.firstName } }
  const direct_messages_topic_id = friend.id
  const here = { chat_id, direct_messages_topic_id }

  await t.test('hears who writes to it, and is told of which channel the chat is', async (t) => {
    write('a question')
    t.match(await heard('text'), {
      chat: { id: chat_id, type: 'supergroup', is_direct_messages: true },
      direct_messages_topic: topic,
      from: { id: friend.id },
      text: 'a question',
    })
    t.match(await done('getChat', { chat_id }), {
      is_direct_messages: true,
      parent_chat: { id: Number(nativeOfPlace(channel)), type: 'channel' },
    })
    for (const place of [group, channel]) {
      const shown = await done('getChat', { chat_id: Number(nativeOfPlace(place)) })
      t.notOk('is_direct_messages' in shown || 'parent_chat' in shown, shown.type)
    }
  })

  await t.test('writes to the person that it names', async (t) => {
    const first = await done('sendMessage', { ...here, text: 'an answer' })
    t.match(first, {
      chat: { is_direct_messages: true },
      direct_messages_topic: topic,
      sender_chat: { id: Number(nativeOfPlace(channel)) },
    })
    t.match(sent(first.message_id), { savedPeerId: by, message: 'an answer' })
    const { message_id } = first
    const reply = await done('sendMessage', {
      ...here,
      text: 'and more',
      reply_parameters: { message_id },
    })
    t.match(reply, { direct_messages_topic: topic, reply_to_message: { message_id } })
    t.match(sent(reply.message_id), { savedPeerId: by })
    const from_chat_id = Number(nativeOfPlace(group))
    const from = { from_chat_id, message_id: 1 }
    for (const method of ['forwardMessage', 'copyMessage']) {
      const passed = await done(method, { ...here, ...from })
      t.match(sent(passed.message_id), { message: 'hello', savedPeerId: by }, method)
    }
    const place = { latitude: 1, longitude: 2 }
    const located = await done('sendLocation', { ...here, ...place })
    t.match(sent(located.message_id), { media: { _: 'messageMediaGeo' }, savedPeerId: by })
    const text = 'x'
    t.match(
      await ask('sendMessage', { chat_id, text, direct_messages_topic_id: 1 }),
      bad('direct messages topic not found'),
    )
    t.match(
      await ask('sendMessage', { ...here, chat_id: from_chat_id, text }),
      bad('chat is not an administered channel direct messages chat'),
    )
    t.match(
      await ask('sendMessage', { chat_id, text }),
      bad('wrong direct messages topic identifier specified'),
      'the refusal of the network',
    )
  })

  await t.test('reads one conversation back, and marks it as read alone', async (t) => {
    const other = network.person()
    direct.members.add(other.id)
    const savedPeerId = { _: 'peerUser', userId: other.id } as const
    const unread = async () => {
      const { chats } = await done('getChats', {})
      return chats.find(({ chat }: { chat: { id: number } }) => chat.id === chat_id).unread_count
    }
    await done('markAsRead', { chat_id })
    t.equal(await unread(), 0)
    const [first, , last] = ['one', 'two', 'three'].map((text) => write(text))
    network.delivery.send(other, direct, { message: 'of somebody else', savedPeerId })
    t.equal(await unread(), 4)

    const history = await done('getChatHistory', { ...here, limit: 2 })
    t.match(history, [{ text: 'three', direct_messages_topic: topic }, { text: 'two' }])
    t.equal(history.length, 2)
    const before_message_id = history[1].message_id
    t.match(await done('getChatHistory', { ...here, before_message_id, limit: 1 }), [
      { text: 'one', message_id: first },
    ])
    t.match(await done('getChatHistory', { chat_id, limit: 1 }), [{ text: 'of somebody else' }])

    t.equal(await done('markAsRead', { ...here, message_id: before_message_id }), true)
    t.equal(await unread(), 2)
    t.equal(await done('markAsRead', here), true)
    t.equal(person.readTopicUpTo.get(`${direct.id}:${friend.id}`), last)
    t.equal(await unread(), 1, 'what somebody else has written')
    write('unread')
    for (const [method, more] of [
      ['markAsRead', {}],
      ['getChatHistory', {}],
      ['sendMessage', { text: 'x' }],
      ['forwardMessage', { from_chat_id: Number(nativeOfPlace(group)), message_id: 1 }],
    ] as const) {
      t.match(
        await ask(method, { chat_id, direct_messages_topic_id: person.id, ...more }),
        bad('direct messages topic not found'),
        `${method}: who answers for the channel has no conversation with it`,
      )
    }
    t.equal(await unread(), 2, 'and nothing was read')
    const from_elsewhere = { chat_id: Number(nativeOfPlace(group)), direct_messages_topic_id }
    for (const method of ['markAsRead', 'getChatHistory']) {
      t.match(
        await ask(method, { chat_id, direct_messages_topic_id: 1 }),
        bad('direct messages topic not found'),
      )
      t.match(
        await ask(method, from_elsewhere),
        bad('chat is not an administered channel direct messages chat'),
      )
    }
  })

  await t.test('hears who has read an answer', async (t) => {
    const { message_id } = await done('sendMessage', { ...here, text: 'read me' })
    read(network, friend, direct)
    t.match(await told('message_read'), {
      chat: { id: chat_id, is_direct_messages: true },
      user: { id: friend.id },
      message_id,
    })
  })

  await t.test('approves a post, which is paid for', async (t) => {
    friend.stars = 100
    const scheduleDate = Math.floor(Date.now() / 1000) + 3_600
    const price = { currency: 'XTR', amount: 60 }
    const message_id = write('buy my tea', {
      _: 'suggestedPost',
      price: starsOf(60),
      scheduleDate,
    })
    t.match(await heard('suggested_post_info'), {
      message_id,
      direct_messages_topic: topic,
      suggested_post_info: { state: 'pending', price, send_date: scheduleDate },
    })
    const send_date = scheduleDate + 60
    t.equal(await done('approveSuggestedPost', { chat_id, message_id, send_date }), true)
    t.match(await heard('suggested_post_approved'), {
      direct_messages_topic: topic,
      suggested_post_approved: {
        suggested_post_message: { message_id, chat: { id: chat_id } },
        price,
        send_date,
      },
    })
    t.match(sent(message_id), { suggestedPost: { accepted: true, scheduleDate: send_date } })
    t.equal(friend.stars, 40)
    t.match(
      await ask('approveSuggestedPost', { chat_id, message_id }),
      bad('message to approve not found'),
      'it was answered before',
    )
    t.match(
      await ask('declineSuggestedPost', { chat_id, message_id }),
      bad('message to decline not found'),
    )
  })

  await t.test('is told that a post cannot be paid', async (t) => {
    const message_id = write('all I have', { _: 'suggestedPost', price: starsOf(41) })
    await heard('suggested_post_info')
    t.equal(await done('approveSuggestedPost', { chat_id, message_id }), true)
    t.match(await heard('suggested_post_approval_failed'), {
      suggested_post_approval_failed: {
        suggested_post_message: { message_id },
        price: { currency: 'XTR', amount: 41 },
      },
    })
    t.equal(friend.stars, 40)
  })

  await t.test('declines a post with a comment', async (t) => {
    const message_id = write('spam', { _: 'suggestedPost' })
    t.strictSame((await heard('suggested_post_info')).suggested_post_info, { state: 'pending' })
    const comment = 'not here'
    t.equal(await done('declineSuggestedPost', { chat_id, message_id, comment }), true)
    t.match(await heard('suggested_post_declined'), {
      suggested_post_declined: { suggested_post_message: { message_id }, comment },
    })
    t.match(sent(message_id), { suggestedPost: { rejected: true } })
  })

  await t.test('hears of payments and refunds, and sees which posts are paid', async (t) => {
    const replyTo = { _: 'messageReplyHeader', replyToMsgId: 1 } as const
    const tell = (action: tl.TypeMessageAction) =>
      network.delivery.announce(friend, direct, action, { replyTo, savedPeerId: by })
    tell({ _: 'messageActionSuggestedPostSuccess', price: starsOf(51, 500_000_000) })
    t.strictSame((await heard('suggested_post_paid')).suggested_post_paid.star_amount, {
      amount: 51,
      nanostar_amount: 500_000_000,
    })
    const ton = { _: 'starsTonAmount', amount: Long.fromNumber(20_000_000) } as const
    tell({ _: 'messageActionSuggestedPostSuccess', price: ton })
    t.match(await heard('suggested_post_paid'), {
      direct_messages_topic: topic,
      suggested_post_paid: {
        suggested_post_message: { message_id: 1 },
        currency: 'TON',
        amount: 20_000_000,
      },
    })
    tell({ _: 'messageActionSuggestedPostRefund' })
    t.match(await heard('suggested_post_refunded'), {
      suggested_post_refunded: { reason: 'post_deleted' },
    })
    tell({ _: 'messageActionSuggestedPostRefund', payerInitiated: true })
    t.match(await heard('suggested_post_refunded'), {
      suggested_post_refunded: { reason: 'payment_refunded' },
    })
    network.delivery.send(friend, group, { message: 'paid', paidSuggestedPostStars: true })
    t.match(await heard('is_paid_post'), { text: 'paid', is_paid_post: true })
    t.equal(person.stars, 0)
  })
})

t.test('somebody who suggests posts to a channel', async (t) => {
  const { network, friend, direct, group, chat_id, ask, done, heard, sent, by } = await sceneOf(
    t,
    false,
  )
  const send_date = Math.floor(Date.now() / 1000) + 3_600
  const ton = { price: { currency: 'TON', amount: 20_000_000 }, send_date }

  await t.test('names the price and the time', async (t) => {
    const terms = { chat_id, suggested_post_parameters: ton }
    const { message_id, suggested_post_info } = await done('sendMessage', {
      ...terms,
      text: 'an idea',
    })
    t.strictSame(suggested_post_info, { state: 'pending', ...ton })
    t.match(sent(message_id), {
      savedPeerId: by,
      suggestedPost: { price: { _: 'starsTonAmount' }, scheduleDate: send_date },
    })
    const price = { currency: 'XTR', amount: 60 }
    const more = { chat_id, suggested_post_parameters: { price } }
    const place = { latitude: 1, longitude: 2 }
    const located = await done('sendLocation', { ...more, ...place })
    t.strictSame(located.suggested_post_info, { state: 'pending', price })
    const from = { from_chat_id: Number(nativeOfPlace(group)), message_id: 1 }
    const forwarded = await done('forwardMessage', { ...more, ...from })
    t.match(forwarded, { suggested_post_info: { price } })
    const own = { ...terms, text: 'mine', direct_messages_topic_id: by.userId }
    t.match(await done('sendMessage', own), { suggested_post_info: { state: 'pending' } })
    const history = { chat_id, direct_messages_topic_id: by.userId, limit: 1 }
    t.match(await done('getChatHistory', history), [{ text: 'mine' }])
  })

  await t.test('approves what the channel suggests instead', async (t) => {
    const message = { message: 'cheaper', savedPeerId: by } as const
    const suggestedPost: tl.RawSuggestedPost = { _: 'suggestedPost' }
    const message_id = network.delivery.send(friend, direct, { ...message, suggestedPost })
    await heard('suggested_post_info')
    t.equal(await done('approveSuggestedPost', { chat_id, message_id }), true)
    t.match(await heard('suggested_post_approved'), {
      suggested_post_approved: { price: undefined, send_date: Number },
    })
  })

  await t.test('is refused elsewhere', async (t) => {
    const suggested_post_parameters = {}
    const elsewhere = { chat_id: Number(nativeOfPlace(group)), suggested_post_parameters }
    t.match(
      await ask('sendMessage', { ...elsewhere, text: 'x', suggested_post_parameters: ton }),
      bad('suggested posts can be sent only to channel direct messages'),
    )
    t.match(
      await ask('approveSuggestedPost', { chat_id: elsewhere.chat_id, message_id: 1 }),
      bad('SUGGESTED_POST_PEER_INVALID'),
    )
  })
})
