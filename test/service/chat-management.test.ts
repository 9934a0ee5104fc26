/** Managing a chat as its administrator: its looks, its members, its pins, its doors. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
const done = async (method: string, parameters: object = {}) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const bad = (description: string) => refused(400, `Bad Request: ${description}`)

const kim = await client.person('Kim')
const makeChat = (kind: string, owner = bot.id, members = [ada.id, kim.id]) =>
  client.result('POST', '/sandbox/chats', { kind, title: kind, owner, members })
const supergroup = await makeChat('supergroup')
const foreign = await makeChat('supergroup', ada.id, [bot.id, kim.id])
const group = await makeChat('group')
const chat_id = supergroup.id
const allowed_updates = ['message', 'chat_member', 'my_chat_member', 'chat_join_request']
let offset = 0
// What is not wanted yet when it happens is never shown.
await done('getUpdates', { allowed_updates })

/** The next update of one kind; others are left out. */
async function news(kind: string): Promise<ReturnType<typeof JSON.parse>> {
  const [update] = await done('getUpdates', { offset, timeout: 5, limit: 1, allowed_updates })
  if (!update) throw new Error(`no ${kind} came`)
  offset = update.update_id + 1
  return kind in update ? update[kind] : news(kind)
}

t.test('its name, description and permissions', async (t) => {
  t.equal(await done('setChatTitle', { chat_id, title: 'Tea' }), true)
  t.equal(await done('setChatDescription', { chat_id, description: 'All about tea' }), true)
  const permissions = { can_send_messages: true, can_pin_messages: true }
  t.equal(await done('setChatPermissions', { chat_id, permissions }), true)
  const chat = await done('getChat', { chat_id })
  t.match(chat, { title: 'Tea', description: 'All about tea', permissions })
  t.equal(chat.permissions.can_send_polls, false)
  t.match(
    await call('setChatDescription', { chat_id, description: 'All about tea' }),
    bad('chat description is not modified'),
  )
  t.match(await call('setChatTitle', { chat_id, title: ' ' }), bad('title must be non-empty'))
  const ofOthers = { chat_id: foreign.id, title: 'Mine' }
  t.match(await call('setChatTitle', ofOthers), bad('not enough rights to change chat title'))
  await client.write(bot.id, ada.id, 'hi')
  const alone = { chat_id: ada.id, title: 'Us' }
  t.match(await call('setChatTitle', alone), bad("can't change private chat title"))
})

t.test('the bot hears what it changes in a chat, but not what it writes there', async (t) => {
  t.match(await news('message'), { new_chat_title: 'Tea' }, 'of the test before')
  const { message_id } = await done('sendMessage', { chat_id, text: 'pin me' })
  await done('setChatTitle', { chat_id, title: 'More tea' })
  await done('pinChatMessage', { chat_id, message_id })
  const topics = await makeChat('supergroup')
  await done('leaveChat', { chat_id: topics.id })
  const from = { id: bot.id }
  t.match(await news('message'), { from, chat: { id: chat_id }, new_chat_title: 'More tea' })
  t.match(await news('message'), { from, pinned_message: { message_id } })
  t.match(await news('message'), { from, left_chat_member: from, chat: { id: topics.id } })
})

t.test('who is in it', async (t) => {
  const [creator] = await done('getChatAdministrators', { chat_id })
  t.match(creator, { status: 'creator', user: { id: bot.id }, is_anonymous: false })
  t.equal(await done('getChatMemberCount', { chat_id }), 3)
  const user_id = kim.id
  t.match(await done('getChatMember', { chat_id, user_id }), { status: 'member' })
  t.match(await call('getChatMember', { chat_id, user_id: 5 }), bad('PARTICIPANT_ID_INVALID'))
  t.match(
    await call('getChatAdministrators', { chat_id: ada.id }),
    bad('there are no administrators in the private chat'),
  )
})

t.test('members are restricted, promoted, put out and let back', async (t) => {
  const user_id = kim.id
  const status = async () => (await done('getChatMember', { chat_id, user_id })).status
  await done('restrictChatMember', { chat_id, user_id, permissions: { can_pin_messages: true } })
  t.match(await news('chat_member'), {
    chat: { id: chat_id },
    from: { id: bot.id },
    old_chat_member: { status: 'member', user: { id: kim.id } },
    new_chat_member: { status: 'restricted', can_pin_messages: true, can_send_messages: false },
  })
  await done('promoteChatMember', { chat_id, user_id, can_pin_messages: true })
  t.match(await done('getChatMember', { chat_id, user_id }), {
    status: 'administrator',
    can_pin_messages: true,
    can_delete_messages: false,
  })
  await done('promoteChatMember', { chat_id, user_id })
  await done('banChatMember', { chat_id, user_id })
  t.equal(await status(), 'kicked')
  await done('unbanChatMember', { chat_id, user_id, only_if_banned: true })
  t.equal(await status(), 'left')
  t.equal(await done('getChatMemberCount', { chat_id }), 2)
  t.match(await call('banChatMember', { chat_id, user_id: bot.id }), bad("can't restrict self"))
  t.match(
    await call('restrictChatMember', { chat_id: group.id, user_id: ada.id, permissions: {} }),
    bad('method is available only for supergroups'),
  )
  t.match(
    await call('banChatMember', { chat_id: foreign.id, user_id: kim.id }),
    bad('not enough rights to restrict/unrestrict chat member'),
  )
})

t.test('messages are pinned and unpinned', async (t) => {
  const pins = async () => (await done('getChat', { chat_id })).pinned_message?.message_id
  const [first, second] = [
    (await done('sendMessage', { chat_id, text: 'one' })).message_id,
    (await done('sendMessage', { chat_id, text: 'two' })).message_id,
  ]
  await done('pinChatMessage', { chat_id, message_id: first })
  await done('pinChatMessage', { chat_id, message_id: second })
  t.equal(await pins(), second)
  await done('unpinChatMessage', { chat_id, message_id: 0 })
  t.equal(await pins(), first)
  await done('unpinAllChatMessages', { chat_id })
  t.equal(await pins(), undefined)
  t.match(
    await call('pinChatMessage', { chat_id, message_id: 99_999 }),
    bad('message to pin not found'),
  )
  t.match(await call('unpinChatMessage', { chat_id }), bad('message to unpin not found'))
})

t.test('invite links let people in, at once or after a question', async (t) => {
  const follow = (invite_link: string) =>
    client.ask('POST', `/sandbox/people/${kim.id}/follow`, { invite_link })
  const primary = await done('exportChatInviteLink', { chat_id })
  t.equal((await done('getChat', { chat_id })).invite_link, primary)
  const asking = { chat_id, name: 'door', creates_join_request: true }
  const door = await done('createChatInviteLink', asking)
  t.match(door, { name: 'door', creates_join_request: true, is_primary: false, is_revoked: false })
  t.match(await follow(door.invite_link), { body: { result: { membership: 'asked' } } })
  t.match(await news('chat_join_request'), {
    chat: { id: chat_id },
    from: { id: kim.id },
    user_chat_id: kim.id,
    invite_link: { name: 'door' },
  })
  await done('declineChatJoinRequest', { chat_id, user_id: kim.id })
  t.match(
    await call('approveChatJoinRequest', { chat_id, user_id: kim.id }),
    bad('HIDE_REQUESTER_MISSING'),
  )
  await follow(door.invite_link)
  await done('approveChatJoinRequest', { chat_id, user_id: kim.id })
  t.match(await done('getChatMember', { chat_id, user_id: kim.id }), { status: 'member' })
  const edited = await done('editChatInviteLink', {
    chat_id,
    invite_link: door.invite_link,
    name: 'gate',
    member_limit: 5,
  })
  t.match(edited, { name: 'gate', member_limit: 5, creates_join_request: false })
  const gone = await done('revokeChatInviteLink', { chat_id, invite_link: door.invite_link })
  t.equal(gone.is_revoked, true)
  t.match(await follow(door.invite_link), bad('INVITE_HASH_EXPIRED'))
})

t.test('the account hears of its own membership, and leaves', async (t) => {
  await client.result('DELETE', `/sandbox/chats/${foreign.id}/members/${bot.id}?kick=true`)
  t.match(await news('my_chat_member'), {
    chat: { id: foreign.id },
    old_chat_member: { status: 'member' },
    new_chat_member: { status: 'kicked', user: { id: bot.id } },
  })
  t.match(
    await call('getChat', { chat_id: foreign.id }),
    refused(403, `Forbidden: bot was kicked from the ${foreign.type} chat`),
  )
  t.equal(await done('leaveChat', { chat_id: group.id }), true)
  const left = refused(403, 'Forbidden: bot is not a member of the group chat')
  t.match(await call('sendMessage', { chat_id: group.id, text: 'hi' }), left)
  t.match(await call('getChat', { chat_id: group.id }), left)
})

t.test('what the bot says of itself is kept', async (t) => {
  const commands = [{ command: 'start', description: 'Begins' }]
  await done('setMyCommands', { commands })
  t.strictSame(await done('getMyCommands'), commands)
  t.strictSame(await done('getMyCommands', { scope: { type: 'all_group_chats' } }), [])
  await done('deleteMyCommands')
  t.strictSame(await done('getMyCommands'), [])
  for (const none of [{}, { commands: '' }]) {
    await done('setMyCommands', { commands })
    await done('setMyCommands', none)
    t.strictSame(await done('getMyCommands'), [], 'who names no commands takes them away')
  }
  t.match(
    await call('setMyCommands', { commands: [{ command: 'A B', description: 'x' }] }),
    bad('BOT_COMMAND_INVALID'),
  )
  await done('setMyCommands', { commands: [{ command: 'start', description: 5 }] })
  t.strictSame(await done('getMyCommands'), [{ command: 'start', description: '5' }])
  await done('setMyName', { name: 'Teapot' })
  t.strictSame(await done('getMyName'), { name: 'Teapot' })
  await done('setMyShortDescription', { short_description: 'Pours' })
  t.strictSame(await done('getMyShortDescription'), { short_description: 'Pours' })
  await done('setMyDescription', { description: 'Press start' })
  t.strictSame(await done('getMyDescription'), { description: 'Press start' })
  t.strictSame(await done('getChatMenuButton'), { type: 'commands' }, 'where none was ever set')
  const web_app = { url: 'https://example.org/' }
  const menu_button = { type: 'web_app', text: 'Open', web_app }
  await done('setChatMenuButton', { menu_button })
  t.strictSame(await done('getChatMenuButton'), menu_button)
  const chat_id = ada.id
  t.strictSame(await done('getChatMenuButton', { chat_id }), { type: 'default' }, 'has none')
  await done('setChatMenuButton', { menu_button: { type: 'commands' }, chat_id })
  t.strictSame(await done('getChatMenuButton', { chat_id }), { type: 'commands' })
  await done('setChatMenuButton', { chat_id })
  t.strictSame(await done('getChatMenuButton', { chat_id }), { type: 'default' })
  await done('setChatMenuButton')
  t.strictSame(await done('getChatMenuButton'), { type: 'commands' })
  await done('setMyDefaultAdministratorRights', { rights: { can_pin_messages: true } })
  const inGroups = await done('getMyDefaultAdministratorRights')
  t.match(inGroups, { can_pin_messages: true, can_manage_chat: true, can_delete_messages: false })
  t.notOk('can_post_messages' in inGroups)
  const for_channels = true
  const rights = { can_post_messages: true, can_pin_messages: true, is_anonymous: true }
  t.match(await done('getMyDefaultAdministratorRights', { for_channels }), {
    can_post_messages: false,
  })
  await done('setMyDefaultAdministratorRights', { rights, for_channels })
  const inChannels = await done('getMyDefaultAdministratorRights', { for_channels })
  t.match(inChannels, { can_post_messages: true, can_edit_messages: false, is_anonymous: false })
  t.notOk('can_pin_messages' in inChannels, 'a channel knows no such right')
  const channel = await makeChat('channel', ada.id, [kim.id])
  const member = `/sandbox/chats/${channel.id}/members/${bot.id}`
  t.match(await client.result('GET', `${member}/offered_rights`), {
    rights: ['post_messages'],
    is_anonymous: false,
    is_asked: true,
  })
  await client.result('PUT', member, { role: 'admin' })
  const asked = { chat_id: channel.id, user_id: bot.id }
  t.match(await done('getChatMember', asked), {
    status: 'administrator',
    can_manage_chat: true,
    can_post_messages: true,
    can_delete_messages: false,
  })
  const chosen = { role: 'admin', rights: ['delete_messages'], is_anonymous: true }
  await client.result('PUT', member, chosen)
  t.match(await done('getChatMember', asked), {
    is_anonymous: false,
    can_post_messages: false,
    can_delete_messages: true,
  })
  t.match(await client.ask('PUT', member, { ...chosen, role: 'member' }), { status: 400 })
  t.match(await client.ask('PUT', member, { role: 'admin', rights: ['fly'] }), { status: 400 })
  await done('setMyDefaultAdministratorRights', { for_channels })
  t.match(await client.result('GET', `${member}/offered_rights`), { is_asked: false })
})
