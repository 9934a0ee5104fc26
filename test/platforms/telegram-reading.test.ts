/** How an account of Telegram reads its chats beyond the contract: pinned chats, groups, and over the bot API. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { perform, refusalOf } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('Telegram accounts read their chats', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage

  await t.test('pinned chats come first, and no chat comes twice or not at all', async (t) => {
    const { person, friend, write, listen } = await live(t, stage)
    const others = [network.person(), network.person(), network.person()]
    write('first')
    for (const one of others) network.delivery.send(one, person, { message: 'later' })
    const group = network.group([person, friend])
    network.delivery.send(friend, group, { message: 'in the group' })
    const channel = network.channel(friend, [person])
    network.delivery.send(friend, channel, { message: 'in the channel' })
    person.pinned = [friend.id, others[0]!.id]
    const session = await listen()
    const pages = async (limit: number) => {
      const seen: string[] = []
      for (let after: string | undefined; ; ) {
        const more = after !== undefined && { after }
        const page = await perform(session, { kind: 'list_chats', limit, ...more })
        if (page.kind !== 'chats') throw new Error('no chats')
        t.ok(page.chats.length <= limit)
        seen.push(...page.chats.map(({ chat }) => chat.native))
        after = page.next
        if (after === undefined) return seen
      }
    }
    const expected = [
      ...[others[0]!.id, friend.id].map(String),
      ...[nativeOfPlace(channel), nativeOfPlace(group)],
      ...[others[2]!.id, others[1]!.id].map(String),
    ]
    const whole = await pages(100)
    t.strictSame(whole.toSorted(), expected.toSorted())
    t.strictSame(whole.slice(0, 2), expected.slice(0, 2))
    for (const limit of [1, 2, 3, 4]) t.strictSame(await pages(limit), whole, `${limit} at a time`)
    for (const after of ['x', 'p', '1:2', '1:2:x']) {
      const failure = await refusalOf(perform(session, { kind: 'list_chats', limit: 1, after }))
      t.match(failure, { code: 'bad_request', description: 'OFFSET_INVALID' }, after)
    }
  })

  await t.test('a channel is read back and marked as read like any chat', async (t) => {
    const { person, friend, listen } = await live(t, stage)
    const channel = network.channel(friend, [person])
    const posts = ['one', 'two', 'three'].map((message) =>
      network.delivery.send(friend, channel, { message }),
    )
    const chat = nativeOfPlace(channel)
    const session = await listen()
    const before = { kind: 'read_history', chat, message: `${posts[2]}`, limit: 1 } as const
    t.match(await perform(session, before), {
      messages: [
        {
          isOwn: false,
          message: { native: new RegExp(`^${posts[1]}$`), content: { text: 'two' } },
        },
      ],
    })
    const unread = async () => {
      const page = await perform(session, { kind: 'list_chats', limit: 100 })
      if (page.kind !== 'chats') throw new Error('no chats')
      return page.chats.find((one) => one.chat.native === chat)?.unread
    }
    t.equal(await unread(), 3)
    await perform(session, { kind: 'mark_read', chat, message: `${posts[1]}` })
    t.equal(await unread(), 1)
    await perform(session, { kind: 'mark_read', chat })
    t.equal(await unread(), 0)
    t.match(await refusalOf(perform(session, { ...before, message: 'x' })), {
      description: 'message to go back from not found',
    })
  })

  await t.test('a bot reads the chats of an account and answers what it found', async (t) => {
    const service = await startService(t, { platforms: [stage.platform()] })
    const client = await service.client()
    const [person, friend] = [network.person(), network.person()]
    const old = network.delivery.send(person, friend, { message: 'before the link' })
    network.delivery.send(friend, person, { message: 'answer' })
    const { key } = await linkOver(client, person)
    const call = async (method: string, body: object) => {
      const answer = await client.bot(key, method, body)
      if (!answer.body.ok) throw new Error(`${method}: ${JSON.stringify(answer.body)}`)
      return answer.body.result
    }
    const chat_id = friend.id
    t.match(await call('getChats', {}), {
      chats: [{ chat: { id: chat_id }, last_message: { text: 'answer' }, unread_count: 1 }],
    })
    const history = await call('getChatHistory', { chat_id })
    t.match(history, [
      { text: 'answer', from: { id: chat_id, is_bot: false } },
      { message_id: old, text: 'before the link', from: { id: person.id, is_bot: true } },
    ])
    const message_id = history[1].message_id
    await call('editMessageText', { chat_id, message_id, text: 'edited' })
    t.match([...friend.messages.values()][0], { message: 'edited' })
    t.equal(await call('markAsRead', { chat_id, message_id: history[0].message_id }), true)
    t.match(await call('getChats', {}), { chats: [{ unread_count: 0 }] })
    const phone_number = `+${friend.phone}`
    t.match(await call('resolvePhone', { phone_number }), {
      is_registered: true,
      user: { id: friend.id },
    })
    t.same(await call('resolvePhone', { phone_number: '+99900000001' }), { is_registered: false })

    const personal = { user_id: friend.id, limit: 2 }
    t.same(await call('getUserPersonalChatMessages', personal), [])
    const channel = network.channel(friend, [person])
    for (const message of ['one', 'two', 'three']) {
      network.delivery.send(friend, channel, { message })
    }
    friend.personal = channel
    const place = { id: Number(nativeOfPlace(channel)), type: 'channel' }
    t.match(await call('getUserPersonalChatMessages', personal), [
      { text: 'three', chat: place },
      { text: 'two', chat: place },
    ])
    t.match(await call('getChat', { chat_id }), { personal_chat: place })
  })
})
