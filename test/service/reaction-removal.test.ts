/** deleteMessageReaction, deleteAllMessageReactions: an administrator takes back what a member thinks of messages. */
import t from 'tap'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const done = async (method: string, parameters: object) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const makeChat = async (kind: string, owner = bot.id): Promise<number> => {
  const members = [bot.id, ada.id]
  return (await client.result('POST', '/sandbox/chats', { kind, title: kind, owner, members })).id
}
const react = (chat: number, message: number, emoji: string) =>
  client.result('PUT', `/sandbox/people/${ada.id}/chats/${chat}/messages/${message}/reactions`, {
    reactions: [{ emoji }],
  })
const thumb = { type: 'emoji', emoji: '👍' }
const chat_id = await makeChat('supergroup')

t.test('the reaction is gone, and its end is told', async (t) => {
  const { message_id } = await done('sendMessage', { chat_id, text: 'like it' })
  await react(chat_id, message_id, '👍')
  t.match(await next(), { message_reaction: { new_reaction: [thumb] } })
  const one = { chat_id, message_id, user_id: ada.id }
  t.equal(await done('deleteMessageReaction', one), true)
  t.match(await next(), {
    message_reaction: {
      chat: { id: chat_id },
      message_id,
      user: { id: ada.id },
      old_reaction: [thumb],
      new_reaction: { length: 0 },
    },
  })
  const path = `/sandbox/people/${ada.id}/inbox?chat=${chat_id}&limit=1`
  t.equal((await client.result('GET', path)).messages[0].reactions, undefined)
  t.equal(await done('deleteMessageReaction', one), true, 'there is none left to take back')
  await client.write(ada.id, chat_id, 'and on')
  t.match(await next(), { message: { text: 'and on' } }, 'which is no news')
})

t.test('it takes the right to delete messages', async (t) => {
  const chat_id = await makeChat('supergroup', ada.id)
  const { message_id } = await client.write(ada.id, chat_id, 'mine')
  await react(chat_id, message_id, '👍')
  const remove = () => call('deleteMessageReaction', { chat_id, message_id, user_id: ada.id })
  t.match(await remove(), bad('CHAT_ADMIN_REQUIRED'))
  await client.result('PUT', `/sandbox/chats/${chat_id}/members/${bot.id}`, { role: 'admin' })
  t.match(await remove(), { status: 200 })
})

t.test('what cannot be taken back is refused', async (t) => {
  const { message_id } = await done('sendMessage', { chat_id, text: 'x' })
  const remove = (parameters: object) =>
    call('deleteMessageReaction', { chat_id, message_id, user_id: ada.id, ...parameters })
  t.match(await remove({ message_id: 99_999 }), bad('message to react not found'))
  t.match(await remove({ user_id: 99_999_999 }), bad('user not found'))
  t.match(await remove({ user_id: '' }), bad('invalid user_id specified'))
  t.match(
    await remove({ user_id: '', actor_chat_id: chat_id }),
    bad('reactions of chats are not supported on Sandbox'),
  )
  const groupsOnly = bad('method is available only for groups and supergroups')
  t.match(await remove({ chat_id: await makeChat('channel') }), groupsOnly)
  await client.write(ada.id, bot.id, 'between us')
  t.match(await remove({ chat_id: ada.id }), groupsOnly)
  t.match(await remove({ chat_id: -42 }), bad('chat not found'))
})

t.test('all reactions of a member are gone, and those of others stay', async (t) => {
  const kim = await client.person('Kim', 'all_kim')
  const chat_id = await makeChat('supergroup')
  await client.result('PUT', `/sandbox/chats/${chat_id}/members/${kim.id}`, {})
  for (let update = await next(); !update.chat_member; ) update = await next()
  const ids: number[] = []
  for (const text of ['one', 'two', 'three']) {
    ids.push((await done('sendMessage', { chat_id, text })).message_id)
  }
  const [one, two, three] = ids as [number, number, number]
  for (const message of [one, two]) {
    await react(chat_id, message, '👍')
    t.match(await next(), { message_reaction: { message_id: message, new_reaction: [thumb] } })
  }
  await client.result(
    'PUT',
    `/sandbox/people/${kim.id}/chats/${chat_id}/messages/${three}/reactions`,
    { reactions: [{ emoji: '👍' }] },
  )
  t.match(await next(), { message_reaction: { message_id: three, user: { id: kim.id } } })
  const all = { chat_id, user_id: ada.id }
  t.equal(await done('deleteAllMessageReactions', all), true)
  for (const message_id of [one, two]) {
    t.match(await next(), {
      message_reaction: {
        chat: { id: chat_id },
        message_id,
        user: { id: ada.id },
        old_reaction: [thumb],
        new_reaction: { length: 0 },
      },
    })
  }
  const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${chat_id}`)
  const left = messages.filter((message: { reactions?: unknown }) => message.reactions)
  t.match(left, [{ message_id: three }])
  t.equal(left.length, 1)
  t.equal(await done('deleteAllMessageReactions', all), true, 'there is none left to take back')

  const remove = (parameters: object) =>
    call('deleteAllMessageReactions', { ...all, ...parameters })
  t.match(await remove({ user_id: 99_999_999 }), bad('user not found'))
  t.match(await remove({ user_id: '' }), bad('invalid user_id specified'))
  t.match(
    await remove({ user_id: '', actor_chat_id: chat_id }),
    bad('reactions of chats are not supported on Sandbox'),
  )
  const adas = await makeChat('supergroup', ada.id)
  t.match(await remove({ chat_id: adas }), bad('CHAT_ADMIN_REQUIRED'))
  t.match(
    await remove({ chat_id: await makeChat('channel') }),
    bad('method is available only for groups and supergroups'),
  )
})
