/** A person writes to a supergroup in the name of a channel of theirs, until the channel is banned there. */
import t from 'tap'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const done = async (method: string, parameters: object) => {
  const { body } = await client.bot(key, method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const makeChat = async (kind: string, owner: number, members: number[]): Promise<number> =>
  (await client.result('POST', '/sandbox/chats', { kind, title: kind, owner, members })).id
const group = await makeChat('supergroup', bot.id, [ada.id])
const news = await makeChat('channel', ada.id, [bot.id])
const other = await makeChat('channel', ada.id, [])
const writeAs = (send_as: number, to = group) =>
  client.ask('POST', `/sandbox/people/${ada.id}/messages`, { to, text: 'as a channel', send_as })

t.test('the bot sees the channel as the sender', async (t) => {
  t.match(await writeAs(news), { status: 200, body: { result: { sender_chat: { id: news } } } })
  t.match(await next(), {
    message: {
      chat: { id: group },
      from: { id: 136817688, is_bot: true, username: 'Channel_Bot' },
      sender_chat: { id: news, type: 'channel', title: 'channel' },
      text: 'as a channel',
    },
  })
})

t.test('a banned channel cannot write, nor can another one of its owner', async (t) => {
  const ban = { chat_id: group, sender_chat_id: news }
  t.equal(await done('banChatSenderChat', ban), true)
  for (const channel of [news, other]) {
    t.match(await writeAs(channel), bad('USER_BANNED_IN_CHANNEL'))
  }
  await client.write(ada.id, group, 'in my own name')
  t.match(await next(), { message: { text: 'in my own name', from: { id: ada.id } } })
  t.equal(await done('unbanChatSenderChat', ban), true)
  t.match(await writeAs(news), { status: 200 })
})

t.test('only an own channel stands for a person, and only in a supergroup', async (t) => {
  const bots = await makeChat('channel', bot.id, [ada.id])
  t.match(await writeAs(bots), bad('SEND_AS_PEER_INVALID'))
  t.match(await writeAs(group), bad('SEND_AS_PEER_INVALID'))
  const small = await makeChat('group', ada.id, [bot.id])
  t.match(await writeAs(news, small), bad('SEND_AS_PEER_INVALID'))
})

t.test('a member is not approved once more', async (t) => {
  const parameters = { chat_id: group, user_id: ada.id }
  t.match(
    await client.bot(key, 'approveChatJoinRequest', parameters),
    bad('USER_ALREADY_PARTICIPANT'),
  )
  t.match(
    await client.bot(key, 'declineChatJoinRequest', parameters),
    bad('HIDE_REQUESTER_MISSING'),
  )
})
