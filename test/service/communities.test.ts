/** Communities of the sandbox: chats and bots are added and removed, and people come in by way of them. */
import t from 'tap'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const kim = await client.person('Kim')
const getChat = async (chat_id: number) =>
  (await client.bot(key, 'getChat', { chat_id })).body.result
const makeChat = async (kind: string, more: object = {}): Promise<number> => {
  const body = { kind, title: kind, owner: ada.id, members: [bot.id, kim.id], ...more }
  return (await client.result('POST', '/sandbox/chats', body)).id
}
/** The next message with this field; other updates are left out. */
async function message(field: string) {
  for (;;) {
    const { message, channel_post } = await next()
    const found = message ?? channel_post
    if (found && field in found) return found
  }
}

const settings = `/platforms/credentials/${credentialId}/settings`
await client.result('PATCH', settings, { include_channel_updates: true })
const own = `/sandbox/people/${ada.id}/communities`
const community = await client.result('POST', own, { name: 'Tea lovers' })
const shown = { id: community.id, name: 'Tea lovers' }
const at = (chat: number, person = ada.id) =>
  `/sandbox/people/${person}/communities/${community.id}/chats/${chat}`
const club = await makeChat('supergroup')
const news = await makeChat('channel')
const inner = await makeChat('supergroup', { title: 'inner', members: [bot.id] })

t.test('a chat is told that it was added, and names its community', async (t) => {
  t.strictSame(Object.keys(community).sort(), ['id', 'name'])
  t.equal(await client.result('PUT', at(club)), true)
  t.match(await message('community_chat_added'), {
    chat: { id: club },
    from: { id: ada.id },
    community_chat_added: { community: shown },
  })
  t.strictSame((await getChat(club)).community, shown)
  t.equal(await client.result('PUT', at(news)), true)
  t.match(await message('community_chat_added'), { chat: { id: news, type: 'channel' } })
  t.equal(await client.result('PUT', at(inner)), true)
  await message('community_chat_added')
  t.match(await client.ask('PUT', at(club)), bad('COMMUNITY_PEER_INVALID'), 'it is in it')
})

t.test('a bot is told in its chat with the owner', async (t) => {
  t.match(await client.ask('PUT', at(kim.id)), bad('COMMUNITY_PEER_INVALID'), 'a person is no bot')
  t.equal(await client.result('PUT', at(bot.id)), true)
  t.match(await message('community_chat_added'), {
    chat: { id: ada.id, type: 'private' },
    community_chat_added: { community: shown },
  })
  t.equal(await client.result('DELETE', at(bot.id)), true)
  t.match(await message('community_chat_removed'), { chat: { id: ada.id } })
})

t.test('people of one chat come into the others by way of the community', async (t) => {
  const kims = `/sandbox/people/${kim.id}/communities`
  t.match(await client.result('GET', kims), [
    {
      ...shown,
      is_own: false,
      chats: [
        { id: club, is_inside: true },
        { id: news, is_inside: true },
        { id: inner, title: 'inner', is_inside: false },
      ],
      bots: { length: 0 },
    },
  ])
  t.same(await client.result('POST', `${at(inner, kim.id)}/join`), { membership: 'in' })
  t.match(await message('community_chat_joined'), {
    chat: { id: inner },
    from: { id: kim.id },
    community_chat_joined: { community: shown },
    new_chat_members: undefined,
  })
  const again = await client.ask('POST', `${at(inner, kim.id)}/join`)
  t.match(again, bad('USER_ALREADY_PARTICIPANT'))
  const stranger = await client.person('Stranger')
  t.same(await client.result('GET', `/sandbox/people/${stranger.id}/communities`), [])
  t.match(await client.ask('POST', `${at(club, stranger.id)}/join`), { status: 404 })
})

t.test('where a chat asks, an administrator has to let in', async (t) => {
  const room = { username: 'tea_room', join_by_request: true, members: [bot.id] }
  const asking = await makeChat('supergroup', room)
  await client.result('PUT', at(asking))
  t.same(await client.result('POST', `${at(asking, kim.id)}/join`), { membership: 'asked' })
})

t.test('only the owner changes a community, and only by their own chats', async (t) => {
  const foreign = await makeChat('supergroup', { owner: bot.id, members: [ada.id] })
  const rights = bad('not enough rights to change the community of the chat')
  t.match(await client.ask('PUT', at(foreign)), rights)
  t.match(await client.ask('PUT', at(await makeChat('group'))), bad('COMMUNITY_PEER_INVALID'))
  t.match(await client.ask('DELETE', at(club, kim.id)), { status: 404 })
  t.match(await client.ask('POST', own, { name: '' }), { status: 400 })
  t.equal(await client.result('DELETE', at(club)), true)
  t.match(await message('community_chat_removed'), {
    chat: { id: club },
    community_chat_removed: {},
  })
  t.equal((await getChat(club)).community, undefined)
  t.match(await client.ask('DELETE', at(club)), bad('COMMUNITY_PEER_INVALID'))
})

t.test('the owner renames a community, and deletes it once it is empty', async (t) => {
  const { id } = await client.result('POST', own, { name: 'Cups' })
  const it = `${own}/${id}`
  const foreign = `/sandbox/people/${kim.id}/communities/${id}`
  const chat = await makeChat('supergroup', { title: 'cups' })
  await client.result('PUT', `${it}/chats/${chat}`)
  await message('community_chat_added')
  t.strictSame(await client.result('PATCH', it, { name: 'Mugs' }), { id, name: 'Mugs' })
  t.strictSame((await getChat(chat)).community, { id, name: 'Mugs' })
  t.equal((await client.ask('PATCH', foreign, { name: 'Mine' })).status, 404)
  t.equal((await client.ask('PATCH', it, { name: '' })).status, 400)
  t.equal((await client.ask('DELETE', foreign)).status, 404)
  t.match(await client.ask('DELETE', it), bad('COMMUNITY_NOT_EMPTY'))
  await client.result('DELETE', `${it}/chats/${chat}`)
  await message('community_chat_removed')
  t.equal(await client.result('DELETE', it), true)
  const known = await client.result('GET', own)
  t.notOk(known.some((one: { id: number }) => one.id === id))
  t.equal((await client.ask('PUT', `${it}/chats/${chat}`)).status, 404)
})
