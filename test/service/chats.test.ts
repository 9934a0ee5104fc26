/** Methods about chats and buttons: who is who, typing, keyboards, presses and their answers. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const send = (reply_markup: unknown) =>
  call('sendMessage', { chat_id: ada.id, text: 'pick', reply_markup })
const keyboard = (...buttons: unknown[]) => ({ inline_keyboard: [buttons] })
const press = (message_id: number, callback_data: string, wait_seconds = 10) =>
  client.result('POST', `/sandbox/people/${ada.id}/presses`, {
    chat: bot.id,
    message_id,
    callback_data,
    wait_seconds,
  })

t.test('getMe has the shape of a bot, whatever the account is', async (t) => {
  t.same((await call('getMe')).body.result, {
    id: bot.id,
    is_bot: true,
    first_name: 'Bot',
    username: 'gatebot',
    can_join_groups: true,
    can_read_all_group_messages: true,
    supports_inline_queries: true,
    supports_guest_queries: true,
    can_connect_to_business: true,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  })
  const nameless = await client.person('Nameless')
  const other = await client.key(await client.link(nameless))
  t.match((await client.bot(other.key, 'getMe')).body.result, { username: `user${nameless.id}` })
})

t.test('getChat knows people and groups, by name and by id', async (t) => {
  const person = {
    id: ada.id,
    type: 'private',
    first_name: 'Ada',
    username: 'gatebot_friend',
    active_usernames: ['gatebot_friend'],
    accent_color_id: 0,
    max_reaction_count: 11,
  }
  for (const chat_id of [ada.id, `${ada.id}`, '@gatebot_friend', '@Gatebot_Friend']) {
    t.match((await call('getChat', { chat_id })).body.result, person, `${chat_id}`)
  }
  const club = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'The Club',
    username: 'the_club',
    description: 'for members',
    owner: ada.id,
  })
  for (const chat_id of [club.id, '@the_club']) {
    t.match((await call('getChat', { chat_id })).body.result, {
      id: club.id,
      type: 'supergroup',
      title: 'The Club',
      username: 'the_club',
      description: 'for members',
    })
  }
  t.ok(club.id < -1_000_000_000_000)
  const hidden = await client.result('POST', '/sandbox/chats', {
    kind: 'group',
    title: 'Secret',
    owner: ada.id,
  })
  for (const chat_id of [hidden.id, 424_242, '@nobody_here', 'the_club']) {
    t.match(await call('getChat', { chat_id }), bad('chat not found'), `${chat_id}`)
  }
  t.match(await call('getChat'), bad('chat_id is empty'))
})

t.test('typing is shown, in any letter case of its kinds', async (t) => {
  const act = (action?: string) => call('sendChatAction', { chat_id: ada.id, action })
  t.match(await act('typing'), { status: 200, body: { result: true } })
  const { typing } = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
  t.match(typing, [{ person: { id: bot.id }, action: 'typing' }])
  t.match(await act('Upload_Photo'), { status: 200 })
  for (const [older, action] of Object.entries({
    record_audio: 'record_voice',
    upload_audio: 'upload_voice',
    pick_up_location: 'find_location',
  })) {
    t.match(await act(older), { status: 200 }, older)
    const inbox = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
    t.match(inbox.typing, [{ action }])
  }
  t.match(await act('cancel'), { status: 200 })
  t.same((await client.result('GET', `/sandbox/people/${ada.id}/inbox`)).typing, [])
  t.match(await act('constructor'), bad('wrong parameter action in request'))
  t.match(await act('dancing'), bad('wrong parameter action in request'))
  t.match(await act(), bad('wrong parameter action in request'))
  t.match(await call('sendChatAction', { action: 'typing' }), bad('chat_id is empty'))
})

t.test('keyboards are shown as given, and changed by edits', async (t) => {
  const rows = {
    inline_keyboard: [
      [
        { text: 'A', callback_data: 'a' },
        { text: 'Site', url: 'https://chapar.test/' },
      ],
      [{ text: 7, callback_data: 'ب'.repeat(32) }],
    ],
  }
  const { result } = (await send(rows)).body
  rows.inline_keyboard[1]![0]!.text = '7'
  t.same(result.reply_markup, rows)
  const edit = (more: object) =>
    call('editMessageText', {
      chat_id: ada.id,
      message_id: result.message_id,
      text: 'pick',
      ...more,
    })
  const other = keyboard({ text: 'B', callback_data: 'b' })
  t.same((await edit({ reply_markup: other })).body.result.reply_markup, other)
  t.notOk((await edit({})).body.result.reply_markup, 'an edit without one takes it away')
  for (const markup of [{ keyboard: [['A']] }, { remove_keyboard: true }, { force_reply: true }]) {
    t.match(await edit({ reply_markup: markup }), bad('inline keyboard expected'))
  }
  t.notOk((await send({ inline_keyboard: [] })).body.result.reply_markup)
  t.notOk((await send({ inline_keyboard: [[], []] })).body.result.reply_markup)
  t.match(await send({ remove_keyboard: true }), { status: 200 })
  t.match(await send('null'), bad('object expected as reply markup'))
})

t.test('a markup that asks for nothing is none', async (t) => {
  const nothing = [
    {},
    { keyboard: [] },
    { keyboard: [[]], resize_keyboard: true },
    { force_reply: false },
    { remove_keyboard: false },
    { hide_keyboard: true },
  ]
  for (const markup of nothing) {
    const { status, body } = await send(markup)
    t.equal(status, 200, JSON.stringify(markup))
    t.notOk(body.result.reply_markup)
  }
  const buttons = keyboard({ text: 'B', callback_data: 'b' })
  t.same((await send({ ...buttons, keyboard: [] })).body.result.reply_markup, buttons)
})

t.test('keyboards that are none are refused', async (t) => {
  const rows = 'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays'
  const button = "can't parse inline keyboard button: "
  const cases = [
    ['{', "can't parse reply keyboard markup JSON object"],
    ['[]', 'object expected as reply markup'],
    ['7', 'object expected as reply markup'],
    [{ keyboard: ['A'] }, 'field "keyboard" must be an Array of Arrays'],
    [{ force_reply: 'true' }, 'field "force_reply" must be of type Boolean'],
    [{ inline_keyboard: 'x' }, 'field "inline_keyboard" must be of type Array'],
    [{ keyboard: 'x' }, 'field "keyboard" must be of type Array'],
    [{ inline_keyboard: [{ text: 'A' }] }, rows],
    [keyboard('A'), `${button}InlineKeyboardButton must be an Object`],
    [keyboard({ callback_data: 'a' }), `${button}Can't find field "text"`],
    [keyboard({ text: {}, callback_data: 'a' }), `${button}Field "text" must be of type String`],
    [keyboard({ text: ' ', callback_data: 'a' }), 'inline keyboard button text must be non-empty'],
    [keyboard({ text: 'A' }), `${button}Text buttons are unallowed in the inline keyboard`],
    [keyboard({ text: 'A', pay: true }), 'BUTTON_TYPE_INVALID'],
    [
      keyboard({ text: 'A', pay: false }),
      `${button}Text buttons are unallowed in the inline keyboard`,
    ],
    [
      keyboard({ text: 'A', callback_data: '' }),
      `${button}Text buttons are unallowed in the inline keyboard`,
    ],
    [keyboard({ text: 'A', callback_data: 'ب'.repeat(33) }), 'BUTTON_DATA_INVALID'],
    [
      { inline_keyboard: Array(101).fill([{ text: 'A', callback_data: 'a' }]) },
      'reply markup is too long',
    ],
  ] as const
  for (const [markup, description] of cases) t.match(await send(markup), bad(description))
  t.match(await send({ keyboard: [['A']] }), { status: 200 })
  t.match(await send({ force_reply: true }), { status: 200 })
})

t.test('a press is an update, and its answer is shown to whoever pressed', async (t) => {
  const { message_id } = (await send(keyboard({ text: 'Go', callback_data: 'go:1' }))).body.result
  const pressing = press(message_id, 'go:1')
  const [update] = (await call('getUpdates', { timeout: 10, allowed_updates: ['callback_query'] }))
    .body.result
  t.match(update.callback_query, {
    id: String,
    from: { id: ada.id, is_bot: false, first_name: 'Ada' },
    message: { message_id, text: 'pick', chat: { id: ada.id }, from: { id: bot.id } },
    chat_instance: String,
    data: 'go:1',
  })
  const answer = (more: object = {}) =>
    call('answerCallbackQuery', { callback_query_id: update.callback_query.id, ...more })
  t.match(await answer({ text: 'é'.repeat(201) }), bad('MESSAGE_TOO_LONG'))
  t.match(await answer({ text: 'gone', show_alert: true }), { status: 200, body: { result: true } })
  t.match(await pressing, { answered: true, text: 'gone', show_alert: true })
  const tooOld = bad('query is too old and response timeout expired or query ID is invalid')
  t.match(await answer(), tooOld, 'answered once')
  for (const callback_query_id of ['1', 'x', '', '9'.repeat(30), null]) {
    t.match(await answer({ callback_query_id }), tooOld, `${callback_query_id}`)
  }
  t.match(await press(message_id, 'go:1', 0), { answered: false }, 'nobody answers')
})

t.test('a chat with a public name shows its members to all but the banned', async (t) => {
  const { id: chat_id } = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Club',
    username: 'open_club',
    owner: ada.id,
  })
  const looks = ['getChatMemberCount', 'getChatAdministrators', 'getChatMember'] as const
  const look = (method: string) => call(method, { chat_id: '@open_club', user_id: ada.id })
  const [count, administrators, owner] = await Promise.all(looks.map(look))
  t.equal(count!.body.result, 1)
  t.match(administrators!.body.result, [{ status: 'creator', user: { id: ada.id } }])
  t.match(owner!.body.result, { status: 'creator' })
  const text = 'hi'
  t.match(
    await call('sendMessage', { chat_id, text }),
    refused(403, 'Forbidden: bot is not a member of the supergroup chat'),
  )
  await client.result('PUT', `/sandbox/chats/${chat_id}/members/${bot.id}`, {})
  await client.result('DELETE', `/sandbox/chats/${chat_id}/members/${bot.id}?kick=true`)
  const banned = refused(403, 'Forbidden: bot was kicked from the supergroup chat')
  for (const method of looks) t.match(await look(method), banned, method)
  const { id: hidden } = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Hidden',
    owner: ada.id,
  })
  t.match(
    await call('getChatMemberCount', { chat_id: hidden }),
    refused(403, 'Forbidden: bot is not a member of the supergroup chat'),
  )
})
