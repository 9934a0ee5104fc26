/** Who comes and goes while others do the same, and what everybody hears of it. */
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key, credentialId } = await scene(t)
const { key: other } = await client.key(credentialId)
await client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, {
  include_self_updates: true,
  include_deleted_updates: true,
})
const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
const done = async (method: string, parameters: object = {}) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const makeChat = async (kind: string, members: number[], owner = bot.id): Promise<number> =>
  (await client.result('POST', '/sandbox/chats', { kind, title: kind, owner, members })).id
const people = (count: number) =>
  Promise.all(Array.from({ length: count }, (_, place) => client.person(`P${place}`)))
const follow = (person: number, invite_link: string) =>
  client.ask('POST', `/sandbox/people/${person}/follow`, { invite_link })
const status = async (chat_id: number, user_id: number) =>
  (await done('getChatMember', { chat_id, user_id })).status

interface Update {
  readonly update_id: number
  readonly [kind: string]: ReturnType<typeof JSON.parse>
}

/** What each key was told so far. */
const toldTo = new Map<string, Update[]>([key, other].map((reader) => [reader, []]))

/** What a key was told from the beginning, once it was told of a last thing. */
async function toldUntil(reader: string, isLast: (update: Update) => boolean) {
  const allowed_updates = ['message', 'chat_member', 'deleted_messages']
  const told = toldTo.get(reader)!
  await until(async () => {
    if (told.some(isLast)) return true
    const offset = (told.at(-1)?.update_id ?? 0) + 1
    const { body } = await client.bot(reader, 'getUpdates', { timeout: 5, offset, allowed_updates })
    told.push(...body.result)
    return false
  }, 60_000)
  return told
}

t.test('a link lets in as many as it says, however many come at once', async (t) => {
  const chat_id = await makeChat('supergroup', [])
  const { invite_link } = await done('createChatInviteLink', { chat_id, member_limit: 3 })
  const answers = await Promise.all((await people(8)).map(({ id }) => follow(id, invite_link)))
  t.equal(answers.filter(({ status }) => status === 200).length, 3)
  t.equal(await done('getChatMemberCount', { chat_id }), 4)
})

t.test('a member put out by two at once goes once', async (t) => {
  const [kim] = await people(1)
  const chat_id = await makeChat('supergroup', [ada.id, kim!.id])
  const inbox = `/sandbox/people/${ada.id}/inbox?chat=${chat_id}`
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => call('banChatMember', { chat_id, user_id: kim!.id })),
  )
  t.ok(answers.every(({ status }) => status === 200))
  const { messages } = await client.result('GET', inbox)
  const gone = messages.filter((message: object) => JSON.stringify(message).includes('left'))
  t.equal(gone.length, 1)
})

t.test('whoever is restricted stays so when they go and come back', async (t) => {
  const [kim] = await people(1)
  const user_id = kim!.id
  const chat_id = await makeChat('supergroup', [user_id])
  const permissions = { can_send_polls: true }
  const terms = { chat_id, user_id, permissions, use_independent_chat_permissions: true }
  await done('restrictChatMember', terms)
  const write = () =>
    client.ask('POST', `/sandbox/people/${user_id}/messages`, { to: chat_id, text: 'hi' })
  t.match(await write(), bad('not enough rights to send text messages to the chat'))
  await client.result('DELETE', `/sandbox/chats/${chat_id}/members/${user_id}`)
  t.equal(await status(chat_id, user_id), 'left')
  const { invite_link } = await done('createChatInviteLink', { chat_id })
  await follow(user_id, invite_link)
  t.match(await done('getChatMember', { chat_id, user_id }), {
    status: 'restricted',
    is_member: true,
    can_send_polls: true,
    can_send_messages: false,
  })
  t.match(await write(), bad('not enough rights to send text messages to the chat'))
  const all = { can_send_other_messages: true, can_send_polls: true }
  await done('restrictChatMember', { chat_id, user_id, permissions: all })
  t.equal(await status(chat_id, user_id), 'member', 'what is implied makes them free again')
  t.match(await write(), { status: 200 })
})

t.test('messages taken back with a ban are told as deleted', async (t) => {
  const [kim] = await people(1)
  const chat_id = await makeChat('supergroup', [kim!.id])
  const written = [
    (await client.write(kim!.id, chat_id, 'one')).message_id,
    (await client.write(kim!.id, chat_id, 'two')).message_id,
  ]
  const kept = (await done('sendMessage', { chat_id, text: 'mine' })).message_id
  await done('banChatMember', { chat_id, user_id: kim!.id, revoke_messages: true })
  const isOfChat = (update: Update) => update.deleted_messages?.chat.id === chat_id
  const told = (
    await toldUntil(
      other,
      (update) => isOfChat(update) && update.deleted_messages.message_ids.includes(written[1]),
    )
  ).filter(isOfChat)
  t.same(
    told.flatMap((update) => update.deleted_messages.message_ids),
    written,
  )
  t.match(await call('copyMessage', { chat_id, from_chat_id: chat_id, message_id: kept }), {
    status: 200,
  })
})

t.test('a chat always has a primary link, and requests end when somebody is in', async (t) => {
  const [kim] = await people(1)
  const user_id = kim!.id
  const chat_id = await makeChat('supergroup', [])
  const primary = await done('exportChatInviteLink', { chat_id })
  await done('revokeChatInviteLink', { chat_id, invite_link: primary })
  const next = (await done('getChat', { chat_id })).invite_link
  t.ok(next && next !== primary)
  const door = await done('createChatInviteLink', { chat_id, creates_join_request: true })
  await follow(user_id, door.invite_link)
  await follow(user_id, next)
  await done('promoteChatMember', { chat_id, user_id, can_pin_messages: true })
  t.match(
    await call('approveChatJoinRequest', { chat_id, user_id }),
    bad('USER_ALREADY_PARTICIPANT'),
    'an administrator is not let in again as an ordinary member',
  )
  t.match(await done('getChatMember', { chat_id, user_id }), {
    status: 'administrator',
    can_manage_chat: true,
    can_be_edited: true,
  })
})

t.test('rights are given by those who have them', async (t) => {
  const [kim] = await people(1)
  const user_id = kim!.id
  const chat_id = await makeChat('supergroup', [bot.id, user_id], ada.id)
  const join = (role: string) =>
    client.result('PUT', `/sandbox/chats/${chat_id}/members/${bot.id}`, { role })
  await join('admin')
  t.match(
    await call('promoteChatMember', { chat_id, user_id, can_pin_messages: true }),
    bad('not enough rights'),
  )
  const group = await makeChat('group', [user_id])
  t.match(
    await call('unbanChatMember', { chat_id: group, user_id }),
    bad('method is available for supergroup and channel chats only'),
  )
})

t.test('whom an administrator has promoted they may demote, and nobody else', async (t) => {
  const owner = await client.person('Owner')
  const { key: ownerKey } = await client.key(await client.link(owner))
  const [mine, theirs] = (await people(2)).map(({ id }) => id) as [number, number]
  const chat_id = await makeChat('supergroup', [bot.id, mine, theirs], owner.id)
  const asOwner = async (method: string, user_id: number, more: object = {}) => {
    const { body } = await client.bot(ownerKey, method, { chat_id, user_id, ...more })
    t.match(body, { ok: true }, `${method} by the owner`)
  }
  const does = (method: string, user_id: number, more: object = {}) =>
    call(method, { chat_id, user_id, ...more })
  const rights = { can_promote_members: true, can_restrict_members: true, can_pin_messages: true }
  await asOwner('promoteChatMember', bot.id, rights)
  await asOwner('promoteChatMember', theirs, { can_pin_messages: true })
  const promotes = { can_pin_messages: true }
  const quiet = { permissions: { can_send_polls: false } }
  const ok = { body: { ok: true, result: true } }

  t.match(await does('promoteChatMember', mine, promotes), ok)
  t.match(await done('getChatMember', { chat_id, user_id: mine }), { can_be_edited: true })
  t.match(await done('getChatMember', { chat_id, user_id: theirs }), { can_be_edited: false })
  const told = await toldUntil(other, (each) => each.chat_member?.new_chat_member.user.id === mine)
  t.match(told.at(-1)?.chat_member.new_chat_member, {
    status: 'administrator',
    can_be_edited: true,
  })
  t.match(await does('promoteChatMember', theirs, promotes), bad('CHAT_ADMIN_REQUIRED'))
  t.match(await does('promoteChatMember', theirs), bad('CHAT_ADMIN_REQUIRED'))
  for (const [method, more] of [
    ['banChatMember', {}],
    ['unbanChatMember', {}],
    ['restrictChatMember', quiet],
  ] as const) {
    t.match(await does(method, theirs, more), bad('user is an administrator of the chat'), method)
  }
  t.equal(await status(chat_id, theirs), 'administrator')

  await asOwner('promoteChatMember', mine, { can_pin_messages: true, can_invite_users: true })
  t.match(await does('promoteChatMember', mine, promotes), ok, 'also once the owner changed them')
  t.match(await does('promoteChatMember', mine), ok)
  t.equal(await status(chat_id, mine), 'member')
  t.match(await does('promoteChatMember', mine, promotes), ok)
  t.match(await does('restrictChatMember', mine, quiet), ok)
  t.equal(await status(chat_id, mine), 'restricted')
  t.match(await does('promoteChatMember', mine, promotes), ok)
  t.match(await does('banChatMember', mine), ok)
  t.equal(await status(chat_id, mine), 'kicked')
  await asOwner('banChatMember', theirs)
  t.equal(await status(chat_id, theirs), 'kicked', 'the owner may do it with every administrator')
})

t.test('in slow mode ordinary members wait between two messages', async (t) => {
  const [kim, lee] = (await people(2)).map(({ id }) => id) as [number, number]
  const chat_id = await makeChat('supergroup', [kim, lee])
  const slow = (person: number, chat: number, seconds: number) =>
    client.ask('PUT', `/sandbox/people/${person}/chats/${chat}/slow_mode`, { seconds })
  const say = (person: number, more: object = { text: 'hi' }) =>
    client.ask('POST', `/sandbox/people/${person}/messages`, { to: chat_id, ...more })
  t.notOk('slow_mode_delay' in (await done('getChat', { chat_id })))
  t.match(await slow(kim, chat_id, 60), bad('not enough rights to change slow mode'))
  t.match(await slow(bot.id, chat_id, 7), { status: 400 }, 'the delay is one of a few')
  const group = await makeChat('group', [])
  const only = bad('method is available only for supergroups')
  t.match(await slow(bot.id, group, 60), only)
  t.match(await slow(bot.id, chat_id, 60), { status: 200 })
  t.equal((await done('getChat', { chat_id })).slow_mode_delay, 60)

  const answers = await Promise.all([say(kim), say(kim), say(kim)])
  t.equal(answers.filter(({ status }) => status === 200).length, 1, 'one of those sent at once')
  const waits = await say(kim)
  t.match(waits, {
    status: 429,
    body: { error_code: 429, description: /^Too Many Requests: retry after (5\d|60)$/ },
  })
  t.ok(waits.body.parameters.retry_after > 0)
  t.match(await say(lee), { status: 200 }, 'each waits for themselves')
  for (let time = 0; time < 2; time++) await done('sendMessage', { chat_id, text: 'mine' })
  await done('promoteChatMember', { chat_id, user_id: kim, can_pin_messages: true })
  t.match(await say(kim), { status: 200 }, 'administrators do not')
  t.match(await say(lee), { status: 429 })
  t.match(await slow(bot.id, chat_id, 0), { status: 200 })
  t.match(await say(lee), { status: 200 })
  t.notOk('slow_mode_delay' in (await done('getChat', { chat_id })))
})

t.test('what the chat says of a change reaches every key', async (t) => {
  const chat_id = await makeChat('supergroup', [ada.id])
  await done('setChatTitle', { chat_id, title: 'Tea' })
  const { message_id } = await done('sendMessage', { chat_id, text: 'pin me' })
  await done('pinChatMessage', { chat_id, message_id })
  for (const reader of [key, other]) {
    const isHere = ({ message }: Update) => message?.chat.id === chat_id
    const told = await toldUntil(reader, (each) => isHere(each) && each.message.pinned_message)
    const here = told.filter(isHere).map(({ message }) => message)
    // Not always the first: what another key sent is told as soon as it is sent, a change once the network tells it.
    const titles = here.filter(({ new_chat_title }) => new_chat_title)
    t.match(titles, [{ new_chat_title: 'Tea' }])
    t.equal(titles.length, 1)
    t.match(here.at(-1).pinned_message, {
      message_id,
      from: { id: bot.id },
      text: 'pin me',
      chat: { id: chat_id, type: 'supergroup' },
    })
    t.ok(here.at(-1).pinned_message.date > 0, 'it is told as it is')
    t.equal(
      here.some(({ text }) => text === 'pin me'),
      reader === other,
      'what a key sent itself it is not told',
    )
  }
})
