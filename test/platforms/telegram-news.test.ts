/** What happens around an account of Telegram, as a bot reads it from getUpdates, and what it does about it. */
import t from 'tap'
import { refused } from '../service/scene.ts'
import { startService } from '../support/service.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { follow } from '../support/telegram-dc/invites.ts'
import { react, vote } from '../support/telegram-dc/opinions.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

const allowed_updates = [
  'message',
  'message_reaction',
  'poll',
  'my_chat_member',
  'chat_member',
  'chat_join_request',
]

t.test('a bot on an account of Telegram hears what happens', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const [person, friend, guest] = [network.person(), network.person(), network.person()]
  const { key } = await linkOver(client, person)
  const call = async (method: string, body: object) => {
    const answer = await client.bot(key, method, body)
    if (!answer.body.ok) throw new Error(`${method}: ${JSON.stringify(answer.body)}`)
    return answer.body.result
  }
  let offset = 0
  const next = async () => {
    for (;;) {
      const [update] = await call('getUpdates', { offset, limit: 1, timeout: 10, allowed_updates })
      if (!update) throw new Error('nothing has happened')
      offset = update.update_id + 1
      // The account learns of what it did itself as well.
      if (update.message?.from?.id !== person.id) return update
    }
  }
  await call('getUpdates', { allowed_updates })

  const { message_id } = await call('sendMessage', { chat_id: friend.id, text: 'like this' })
  const [copy = 0] = friend.messages.keys()
  react(network, friend, copy, ['👍'])
  t.match(await next(), {
    message_reaction: {
      chat: { id: friend.id },
      message_id,
      user: { id: friend.id },
      old_reaction: { length: 0 },
      new_reaction: [{ type: 'emoji', emoji: '👍' }],
    },
  })

  const question = { question: 'Tea?', options: [{ text: 'Yes' }, { text: 'No' }] }
  const { poll } = await call('sendPoll', { chat_id: friend.id, ...question })
  vote(network, friend, [...friend.messages.keys()].at(-1)!, { option: 1, isPlaced: true })
  const options = [{ voter_count: 0 }, { text: 'No', voter_count: 1 }]
  t.match(await next(), { poll: { id: poll.id, question: 'Tea?', options } })

  const group = network.channel(person, [friend], false)
  network.delivery.send(friend, group, { message: 'hello' })
  const chat_id = Number(nativeOfPlace(group))
  t.match(await next(), { message: { chat: { id: chat_id }, text: 'hello' } })
  const link = { chat_id, name: 'friends', creates_join_request: true }
  const { invite_link } = await call('createChatInviteLink', link)
  guest.about = 'I like tea'
  follow(network, guest, invite_link)
  t.match(await next(), {
    chat_join_request: { chat: { id: chat_id }, from: { id: guest.id }, bio: 'I like tea' },
  })
  const answer = { chat_id, user_id: guest.id }
  t.equal(await call('approveChatJoinRequest', answer), true)
  t.match(
    await client.bot(key, 'approveChatJoinRequest', answer),
    refused(400, 'Bad Request: USER_ALREADY_PARTICIPANT'),
  )
  const left = { _: 'messageActionChatDeleteUser', userId: guest.id } as const
  network.delivery.announce(guest, group, left)
  t.match(await next(), { message: { left_chat_member: { id: guest.id } } })
  t.match(await next(), {
    chat_member: {
      chat: { id: chat_id },
      from: { id: guest.id },
      old_chat_member: { status: 'member' },
      new_chat_member: { status: 'left', user: { id: guest.id } },
    },
  })

  friend.isPremium = true
  network.delivery.send(friend, group, { message: 'paid' })
  t.match(await next(), { message: { from: { id: friend.id, is_premium: true } } })
  const ours = { _: 'peerChannel', channelId: group.id } as const
  network.delivery.send(friend, group, { message: 'nameless', as: ours, postAuthor: 'admin' })
  t.match(await next(), {
    message: {
      from: { username: 'GroupAnonymousBot', is_bot: true },
      sender_chat: { id: chat_id, type: 'supergroup' },
      author_signature: 'admin',
    },
  })
  const channel = network.channel(friend, [person])
  const theirs = { _: 'peerChannel', channelId: channel.id } as const
  network.delivery.send(friend, group, { message: 'as a channel', as: theirs })
  t.match(await next(), {
    message: {
      from: { username: 'Channel_Bot', is_bot: true },
      sender_chat: { id: Number(nativeOfPlace(channel)), type: 'channel', title: channel.title },
    },
  })

  const small = network.group([person, friend])
  const self = { _: 'messageActionChatAddUser', users: [person.id] } as const
  network.delivery.announce(friend, small, { ...self, users: [person.id] })
  t.match(await next(), { message: { new_chat_members: [{ id: person.id }] } })
  t.match(await next(), {
    my_chat_member: { chat: { type: 'group' }, new_chat_member: { status: 'member' } },
  })

  const moved = { _: 'messageActionChatMigrateTo', channelId: group.id } as const
  network.delivery.announce(friend, small, moved)
  const chats = [small, group].map((place) => Number(nativeOfPlace(place)))
  t.match(await next(), { message: { chat: { id: chats[0] }, migrate_to_chat_id: chats[1] } })
  const came = {
    _: 'messageActionChannelMigrateFrom',
    title: small.title,
    chatId: small.id,
  } as const
  network.delivery.announce(friend, group, came)
  t.match(await next(), { message: { chat: { id: chats[1] }, migrate_from_chat_id: chats[0] } })
})
