/** How people come into a chat, what the administrators hear of it, and whose invite links are whose. */
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
const makeChat = async (more: object = {}): Promise<number> => {
  const chat = { kind: 'supergroup', title: 'Tea', owner: bot.id, ...more }
  return (await client.result('POST', '/sandbox/chats', chat)).id
}
const follow = (person: { id: number }, invite_link: string) =>
  client.ask('POST', `/sandbox/people/${person.id}/follow`, { invite_link })
/** The next change of a member of this chat, whatever else is told before. */
async function nextMember(chat: number) {
  for (;;) {
    const { chat_member } = await next()
    if (chat_member?.chat.id === chat) return chat_member
  }
}
/** The same of those who ask to be let in. */
async function nextRequest(chat: number) {
  for (;;) {
    const { chat_join_request } = await next()
    if (chat_join_request?.chat.id === chat) return chat_join_request
  }
}
const kim = await client.person('Kim')
const joe = await client.person('Joe')

t.test('whoever is put into a new chat is told so, and its founder is not', async (t) => {
  const told = async () => {
    for (;;) {
      const { my_chat_member } = await next()
      if (my_chat_member) return my_chat_member
    }
  }
  for (const kind of ['group', 'supergroup']) {
    await makeChat({ kind, members: [ada.id] })
    const id = await makeChat({ kind, owner: ada.id, members: [kim.id, bot.id] })
    t.match(await told(), {
      chat: { id, type: kind },
      from: { id: ada.id },
      old_chat_member: { status: 'left', user: { id: bot.id } },
      new_chat_member: { status: 'member', user: { id: bot.id } },
    })
  }
})

t.test('a link is told with whoever came by it', async (t) => {
  const chat_id = await makeChat()
  const invite = await done('createChatInviteLink', { chat_id, name: 'door' })
  t.match(await follow(kim, invite.invite_link), { body: { result: { membership: 'in' } } })
  const change = await nextMember(chat_id)
  t.match(change, {
    from: { id: kim.id },
    old_chat_member: { status: 'left' },
    new_chat_member: { status: 'member', user: { id: kim.id } },
    invite_link: { invite_link: invite.invite_link, name: 'door', creator: { id: bot.id } },
  })
  t.notOk('via_join_request' in change)
})

t.test('whoever asks by a link is told with it, and counted until answered', async (t) => {
  const chat_id = await makeChat()
  const terms = { chat_id, creates_join_request: true }
  const { invite_link } = await done('createChatInviteLink', terms)
  t.match(await follow(kim, invite_link), { body: { result: { membership: 'asked' } } })
  t.match(await nextRequest(chat_id), {
    from: { id: kim.id },
    user_chat_id: kim.id,
    invite_link: { invite_link },
  })
  const named = { ...terms, invite_link, name: 'slow door' }
  t.equal((await done('editChatInviteLink', named)).pending_join_request_count, 1)
  await done('approveChatJoinRequest', { chat_id, user_id: kim.id })
  const change = await nextMember(chat_id)
  t.match(change, { from: { id: bot.id }, invite_link: { invite_link, name: 'slow door' } })
  t.notOk('via_join_request' in change)
  const after = await done('editChatInviteLink', { ...named, name: 'door' })
  t.notOk('pending_join_request_count' in after)
})

t.test('whoever asks without a link is told so', async (t) => {
  const chat_id = await makeChat({ username: 'tea_house', join_by_request: true })
  t.equal((await done('getChat', { chat_id })).join_by_request, true)
  t.match(await follow(kim, '@tea_house'), { body: { result: { membership: 'asked' } } })
  const request = await nextRequest(chat_id)
  t.match(request, { from: { id: kim.id } })
  t.notOk('invite_link' in request)
  await done('approveChatJoinRequest', { chat_id, user_id: kim.id })
  const change = await nextMember(chat_id)
  t.match(change, { new_chat_member: { status: 'member' }, via_join_request: true })
  t.notOk('invite_link' in change)
})

t.test('a public name lets in at once where nobody is to be asked', async (t) => {
  const chat_id = await makeChat({ username: 'open_house' })
  t.notOk('join_by_request' in (await done('getChat', { chat_id })))
  t.match(await follow(kim, '@Open_House'), { body: { result: { membership: 'in' } } })
  const change = await nextMember(chat_id)
  t.notOk('invite_link' in change || 'via_join_request' in change)
  t.match(await follow(kim, '@open_house'), bad('USER_ALREADY_PARTICIPANT'))
  t.match(await follow(kim, '@nowhere'), bad('chat not found'))
  const unnamed = { kind: 'supergroup', title: 'Tea', owner: bot.id, join_by_request: true }
  t.match(await client.ask('POST', '/sandbox/chats', unnamed), { status: 400 })
})

t.test('a limit counts those who are in', async (t) => {
  const chat_id = await makeChat()
  const { invite_link } = await done('createChatInviteLink', { chat_id, member_limit: 1 })
  t.match(await follow(kim, invite_link), { status: 200 })
  t.match(await follow(joe, invite_link), bad('INVITE_HASH_EXPIRED'))
  await client.result('DELETE', `/sandbox/chats/${chat_id}/members/${kim.id}`)
  t.match(await follow(joe, invite_link), { status: 200 }, 'a place is free again')
  await done('promoteChatMember', { chat_id, user_id: joe.id, can_pin_messages: true })
  t.match(await follow(kim, invite_link), bad('INVITE_HASH_EXPIRED'), 'and taken')
})

t.test('a link is over at its time', async (t) => {
  const chat_id = await makeChat()
  const expire_date = Math.floor(Date.now() / 1000) + 3600
  const invite = await done('createChatInviteLink', { chat_id, expire_date })
  t.equal(invite.expire_date, expire_date)
  const { invite_link } = invite
  const over = { chat_id, invite_link, expire_date: expire_date - 7200 }
  t.equal((await done('editChatInviteLink', over)).expire_date, expire_date - 7200)
  t.match(await follow(kim, invite_link), bad('INVITE_HASH_EXPIRED'))
  t.notOk('expire_date' in (await done('editChatInviteLink', { chat_id, invite_link })))
  t.match(await follow(kim, invite_link), { status: 200 })
})

t.test('every administrator has links of their own', async (t) => {
  const owner = await client.person('Owner')
  const theirs = await client.link(owner)
  const { key: ownerKey } = await client.key(theirs)
  const asOwner = async (method: string, parameters: object) =>
    (await client.bot(ownerKey, method, parameters)).body.result
  const chat_id = await makeChat({ owner: owner.id, members: [ada.id] })
  await client.result('PUT', `/sandbox/chats/${chat_id}/members/${bot.id}`, { role: 'admin' })
  const primary = await asOwner('exportChatInviteLink', { chat_id })
  t.notOk('invite_link' in (await done('getChat', { chat_id })), 'the other has none yet')
  const own = await done('exportChatInviteLink', { chat_id })
  t.equal((await done('getChat', { chat_id })).invite_link, own)
  t.equal((await asOwner('getChat', { chat_id })).invite_link, primary, 'and theirs stays')

  await follow(kim, primary)
  const { invite_link: seen } = await nextMember(chat_id)
  t.match(seen, { creator: { id: owner.id }, is_primary: true })
  t.match(seen.invite_link, /^https:\/\/sandbox\.invalid\/\+[\w-]{8}\.\.\.$/)
  t.ok(primary.startsWith(seen.invite_link.slice(0, -3)))

  const forbidden = bad('CHAT_ADMIN_REQUIRED')
  t.match(await call('revokeChatInviteLink', { chat_id, invite_link: primary }), forbidden)
  const { invite_link } = await asOwner('createChatInviteLink', { chat_id })
  t.match(await call('editChatInviteLink', { chat_id, invite_link, name: 'n' }), forbidden)
  const ended = await asOwner('revokeChatInviteLink', { chat_id, invite_link: own })
  t.match(ended, { invite_link: own, is_revoked: true, creator: { id: bot.id } })
  const renewed = (await done('getChat', { chat_id })).invite_link
  t.ok(renewed && renewed !== own, 'the owner may end any, and its maker gets a new one')
})
