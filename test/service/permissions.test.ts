/** What members may do: no more than the chat lets everybody, and no more than they are left with. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const kim = await client.person('Kim')
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const done = async (method: string, parameters: object) => {
  const { body } = await client.bot(key, method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const { id: chat_id } = await client.result('POST', '/sandbox/chats', {
  kind: 'supergroup',
  title: 'Group',
  owner: bot.id,
  members: [ada.id, kim.id],
})
const independent = { use_independent_chat_permissions: true }
const allow = (...names: string[]) =>
  done('setChatPermissions', { chat_id, permissions: permissionsOf(names), ...independent })
const restrict = (user_id: number, ...names: string[]) =>
  done('restrictChatMember', {
    chat_id,
    user_id,
    permissions: permissionsOf(names),
    ...independent,
  })
const permissionsOf = (names: string[]) =>
  Object.fromEntries(names.map((name) => [`can_${name}`, true]))
const send = ({ id }: { id: number }, what: object) =>
  client.ask('POST', `/sandbox/people/${id}/messages`, { to: chat_id, ...what })
const text = { text: 'hi' }
const dice = { dice: {} }
const noText = bad('not enough rights to send text messages to the chat')
const noDice = bad('not enough rights to send dice to the chat')

t.test('a member may do what both the chat and their own limits allow', async (t) => {
  await restrict(ada.id, 'send_messages', 'send_polls')
  t.match(await send(ada, text), { status: 200 })
  t.match(await send(ada, dice), noDice, 'their own limits forbid it')
  t.match(await send(kim, dice), { status: 200 }, 'which are nobody else’s')

  await allow('send_other_messages')
  t.match(await send(ada, text), noText, 'what they were left with the chat forbids to all')
  t.match(await send(ada, dice), noDice, 'what the chat allows they were not left with')
  t.match(await send(kim, text), noText)
  t.match(await send(kim, dice), { status: 200 })
  t.match(
    await done('getChatMember', { chat_id, user_id: ada.id }),
    { status: 'restricted', can_send_messages: true, can_send_other_messages: false },
    'their own limits are shown as they were set',
  )

  await allow('send_messages', 'send_other_messages')
  t.match(await send(ada, text), { status: 200 }, 'and hold on')
  t.match(await send(ada, dice), noDice)
})

t.test('an administrator may do what the chat forbids to all', async (t) => {
  await allow()
  t.match(await send(kim, text), noText)
  await done('promoteChatMember', { chat_id, user_id: kim.id, can_pin_messages: true })
  t.match(await send(kim, text), { status: 200 })
  t.match(await send(ada, text), noText)
})

t.test('limits of a bot itself hold for more than sending', async (t) => {
  const owner = await client.person('Owner')
  const theirs = await client.link(owner)
  const { key: ownerKey } = await client.key(theirs)
  const { id: group } = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Group',
    owner: owner.id,
    members: [bot.id],
  })
  const asOwner = (method: string, parameters: object) =>
    client.bot(ownerKey, method, { chat_id: group, ...parameters })
  const rename = () => client.bot(key, 'setChatTitle', { chat_id: group, title: 'Tea' })
  const refusal = bad('not enough rights to change chat title')
  const changing = { permissions: permissionsOf(['change_info', 'send_messages']), ...independent }
  t.match(await rename(), refusal, 'in a supergroup members do not change it')
  await asOwner('restrictChatMember', { user_id: bot.id, ...changing })
  t.match(await rename(), refusal, 'nor do they when their own limits would let them')
  await asOwner('setChatPermissions', changing)
  t.match(await rename(), { status: 200 })
  const writing = { permissions: permissionsOf(['send_messages']), ...independent }
  await asOwner('restrictChatMember', { user_id: bot.id, ...writing })
  t.match(await rename(), refusal, 'while the chat lets all others')
})

t.test('members react as far as they are let', async (t) => {
  const kind = 'supergroup'
  const chat = { kind, title: 'Group', owner: bot.id, members: [ada.id, kim.id] }
  const { id: group } = await client.result('POST', '/sandbox/chats', chat)
  const { message_id } = await done('sendMessage', { chat_id: group, text: 'like it' })
  const react = ({ id }: { id: number }, ...emoji: string[]) => {
    const path = `/sandbox/people/${id}/chats/${group}/messages/${message_id}/reactions`
    return client.ask('PUT', path, { reactions: emoji.map((one) => ({ emoji: one })) })
  }
  const refusal = bad('not enough rights to react to messages in the chat')
  const set = (method: string, permissions: object, more: object = {}) =>
    done(method, { chat_id: group, permissions, ...more })
  const writing = { can_send_messages: true, can_send_other_messages: true, can_send_polls: true }

  t.match(await react(ada, '👍'), { status: 200 })
  await set('setChatPermissions', { can_send_photos: true })
  t.match(await react(ada, '🔥'), refusal, 'without a word it goes with the right to write')
  t.match(await react(ada), { status: 200 }, 'what was given may be taken back')
  await set('setChatPermissions', { ...writing, can_react_to_messages: false })
  t.match(await react(ada, '👍'), refusal)
  const { permissions } = await done('getChat', { chat_id: group })
  t.match(permissions, { can_send_messages: true, can_react_to_messages: false })
  await set('setChatPermissions', { can_react_to_messages: true })
  t.match(await react(ada, '👍'), { status: 200 }, 'reacting alone')

  await set('setChatPermissions', writing)
  const quiet = { ...writing, can_react_to_messages: false }
  await set('restrictChatMember', quiet, { user_id: ada.id })
  t.match(await react(ada, '🔥'), refusal)
  t.match(await react(kim, '🔥'), { status: 200 })
  t.match(await done('getChatMember', { chat_id: group, user_id: ada.id }), {
    status: 'restricted',
    can_send_messages: true,
    can_react_to_messages: false,
  })
  const reaction = [{ type: 'emoji', emoji: '👍' }]
  const own = { chat_id: group, message_id, reaction }
  t.equal(await done('setMessageReaction', own), true, 'the owner may always')
})

/** As the reference names them. */
const PERMISSIONS = [
  ...['send_messages', 'send_audios', 'send_documents', 'send_photos', 'send_videos'],
  ...['send_video_notes', 'send_voice_notes', 'send_polls', 'send_other_messages'],
  ...['add_web_page_previews', 'react_to_messages', 'edit_tag', 'change_info'],
  ...['invite_users', 'pin_messages', 'manage_topics'],
]
const RIGHTS = [
  ...['manage_chat', 'delete_messages', 'manage_video_chats', 'restrict_members'],
  ...['promote_members', 'change_info', 'invite_users', 'post_stories', 'edit_stories'],
  ...['delete_stories', 'post_messages', 'edit_messages', 'pin_messages', 'manage_topics'],
  ...['manage_direct_messages', 'manage_tags'],
]
const MEDIA = [
  ...['send_audios', 'send_documents', 'send_photos', 'send_videos'],
  ...['send_video_notes', 'send_voice_notes'],
]
const flags = (all: readonly string[], given: (name: string) => boolean) =>
  Object.fromEntries(all.map((name) => [`can_${name}`, given(name)]))

t.test('every permission and right of the reference is given and taken apart', async (t) => {
  for (const one of PERMISSIONS) {
    const permissions = flags(PERMISSIONS, (name) => name === one)
    await done('setChatPermissions', { chat_id, permissions, ...independent })
    // The older name for all kinds of media is told, too.
    const can_send_media_messages = MEDIA.includes(one)
    const shown = { ...permissions, can_send_media_messages }
    t.same((await done('getChat', { chat_id })).permissions, shown, one)
  }
  const { id: user_id } = kim
  const terms = { title: 'Posts', owner: bot.id, members: [kim.id] }
  const channel = await client.result('POST', '/sandbox/chats', { kind: 'channel', ...terms })
  for (const [kind, place, unknown] of [
    ['group', chat_id, ['post_messages', 'edit_messages', 'manage_direct_messages']],
    ['channel', channel.id, ['pin_messages', 'manage_topics', 'manage_tags']],
  ] as const) {
    const asking = { chat_id: place, user_id }
    for (const one of RIGHTS) {
      // Whoever has any right may manage the chat. A right of the other kind of chat alone is dropped.
      const rights = flags(RIGHTS, (name) => name === one || name === 'manage_chat')
      await done('promoteChatMember', { ...asking, is_anonymous: true, ...rights })
      const known = RIGHTS.filter((name) => !unknown.some((other) => other === name))
      t.same(
        await done('getChatMember', asking),
        {
          user: { id: user_id, is_bot: false, first_name: 'Kim' },
          status: 'administrator',
          can_be_edited: true,
          ...flags(known, (name) => name === one || name === 'manage_chat'),
          can_manage_voice_chats: one === 'manage_video_chats',
          can_send_welcome_messages: false,
          is_anonymous: kind === 'group',
        },
        `${kind}: ${one}`,
      )
    }
  }
  await done('promoteChatMember', { chat_id: channel.id, user_id, is_anonymous: true })
  t.match(await done('getChatMember', { chat_id: channel.id, user_id }), { status: 'member' })
})

t.test('administrators of a channel do what they have the right to, and no more', async (t) => {
  const owner = await client.person('Owner')
  const { key: ownerKey } = await client.key(await client.link(owner))
  const { id: channel } = await client.result('POST', '/sandbox/chats', {
    kind: 'channel',
    title: 'News',
    owner: owner.id,
    members: [bot.id],
  })
  const asOwner = async (method: string, parameters: object) =>
    (await client.bot(ownerKey, method, { chat_id: channel, ...parameters })).body.result
  const may = (...names: string[]) =>
    asOwner('promoteChatMember', {
      user_id: bot.id,
      can_invite_users: true,
      ...permissionsOf(names),
    })
  const does = (method: string, parameters: object) =>
    client.bot(key, method, { chat_id: channel, ...parameters })
  const ok = { body: { ok: true } }
  const { message_id } = await asOwner('sendMessage', { text: 'first' })

  await may()
  t.match(await does('sendMessage', text), bad('need administrator rights in the channel chat'))
  const noPins = bad('not enough rights to manage pinned messages in the chat')
  t.match(await does('pinChatMessage', { message_id }), noPins)
  await may('post_messages')
  const { body } = await does('sendMessage', text)
  const own = body.result.message_id
  const edit = { message_id, text: 'second' }
  t.match(await does('editMessageText', edit), bad("message can't be edited"))
  t.match(await does('editMessageText', { message_id: own, text: 'mine' }), ok)
  t.match(await does('deleteMessage', { message_id }), bad("message can't be deleted"))
  await may('edit_messages')
  t.match(await does('editMessageText', edit), ok, 'a post of another')
  t.match(await does('pinChatMessage', { message_id }), ok)
  t.match(await does('deleteMessage', { message_id: own }), bad("message can't be deleted"))
  await may('delete_messages')
  for (const id of [own, message_id]) t.match(await does('deleteMessage', { message_id: id }), ok)
})

t.test('in a group the messages of others are deleted by right alone', async (t) => {
  const owner = await client.person('Owner')
  const { key: ownerKey } = await client.key(await client.link(owner))
  const { id: group } = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Group',
    owner: owner.id,
    members: [bot.id, ada.id],
  })
  const promote = (...names: string[]) =>
    client.bot(ownerKey, 'promoteChatMember', {
      chat_id: group,
      user_id: bot.id,
      can_change_info: true,
      ...permissionsOf(names),
    })
  const remove = (message_id: number) =>
    client.bot(key, 'deleteMessage', { chat_id: group, message_id })
  const { message_id } = await client.write(ada.id, group, 'hi')
  await promote()
  t.match(await remove(message_id), bad("message can't be deleted"))
  const mine = (await done('sendMessage', { chat_id: group, ...text })).message_id
  t.match(await remove(mine), { body: { ok: true } }, 'what is its own')
  await done('setChatTitle', { chat_id: group, title: 'Tea' })
  t.match(await remove(mine + 1), bad("message can't be deleted"), 'an announcement is not')
  await promote('delete_messages')
  for (const id of [message_id, mine + 1]) t.match(await remove(id), { body: { ok: true } })
})
