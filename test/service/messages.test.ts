/** Methods that send, edit, forward, copy and delete: their results, and every refusal in the reference's words. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t)
const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
const done = async (method: string, parameters: object) =>
  (await call(method, parameters)).body.result
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const send = (more: object = {}) => call('sendMessage', { chat_id: ada.id, text: 'hi', ...more })
const sent = async (more: object = {}): Promise<number> => (await send(more)).body.result.message_id
const inbox = async () => (await client.result('GET', `/sandbox/people/${ada.id}/inbox`)).messages
const unknownId = 999_999

t.test('a sent message comes back whole', async (t) => {
  const { result } = (await send({ text: '  hello /start @ada_l https://chapar.test  ' })).body
  t.match(result, {
    message_id: Number,
    date: Number,
    from: { id: bot.id, first_name: 'Bot', username: 'gatebot' },
    chat: { id: ada.id, type: 'private', first_name: 'Ada', username: 'gatebot_friend' },
    text: 'hello /start @ada_l https://chapar.test',
    entities: [
      { type: 'bot_command', offset: 6, length: 6 },
      { type: 'mention', offset: 13, length: 6 },
      { type: 'url', offset: 20, length: 19 },
    ],
  })
  t.ok(Math.abs(result.date - Date.now() / 1000) < 60)
  t.match((await inbox())[0], { text: result.text, message_id: result.message_id })
  t.match(await send({ chat_id: '@GATEBOT_friend' }), {
    body: { result: { chat: { id: ada.id } } },
  })
})

t.test('the three parse modes are understood, and their mistakes told', async (t) => {
  const bold = { text: 'x y', entities: [{ type: 'bold', offset: 0, length: 1 }] }
  for (const [parse_mode = '', text] of [
    ['HTML', '<b>x</b> y'],
    ['html', '<strong>x</strong> y'],
    ['MarkdownV2', '*x* y'],
    ['Markdown', '*x* y'],
  ]) {
    t.match(await send({ parse_mode, text }), { body: { result: bold } }, parse_mode)
  }
  const mistakes = [
    ['HTML', '<x>a</x>', 'Unsupported start tag "x" at byte offset 0'],
    ['HTML', 'س<b>a', `Can't find end tag corresponding to start tag "b"`],
    ['HTML', 'س<b>a</i>', 'Unmatched end tag at byte offset 6, expected "</b>", found "</i>"'],
    ['HTML', 'a</b>', 'Unexpected end tag at byte offset 1'],
    ['HTML', '<span>x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
    ['MarkdownV2', 'a.b', `Character '.' is reserved and must be escaped with the preceding '\\'`],
    ['MarkdownV2', 'س*a', "Can't find end of Bold entity at byte offset 2"],
    ['MarkdownV2', '`a', "Can't find end of Code entity at byte offset 0"],
    ['Markdown', 'a _b', "Can't find end of the entity starting at byte offset 2"],
  ]
  const before = (await inbox()).length
  for (const [parse_mode, text = '', detail] of mistakes) {
    t.match(await send({ parse_mode, text }), bad(`can't parse entities: ${detail}`), text)
  }
  t.match(await send({ parse_mode: 'BBCode' }), bad('unsupported parse_mode'))
  t.equal((await inbox()).length, before, 'nothing of it was sent')
})

t.test('texts that are empty or too long are refused', async (t) => {
  t.match(await send({ text: '' }), bad('message text is empty'))
  t.match(await call('sendMessage', { chat_id: ada.id }), bad('message text is empty'))
  t.match(await send({ text: ' \n ' }), bad('text must be non-empty'))
  t.match(await send({ text: '<b> </b>', parse_mode: 'HTML' }), bad('text must be non-empty'))
  t.match(await send({ text: '😀'.repeat(4096) }), { status: 200 }, 'counted in code points')
  t.match(await send({ text: '😀'.repeat(4097) }), bad('message is too long'))
  t.match(await send({ text: 'x'.repeat(32_769) }), bad('text is too long'))
  t.match(
    await send({ text: `<b>${'x'.repeat(4096)}</b>`, parse_mode: 'HTML' }),
    { status: 200 },
    'without the markup',
  )
  const beyond = [{ type: 'bold', offset: 5, length: 1 }]
  t.match(await send({ entities: beyond }), {
    status: 400,
    body: {
      description: /^Bad Request: entity begins after the end of the text at UTF-16 offset 5$/,
    },
  })
  t.match(await send({ entities: [{ type: 'bold' }] }), { status: 400 })
})

t.test('chats that are not there, or not open to the account', async (t) => {
  t.match(await send({ chat_id: '' }), bad('chat_id is empty'))
  for (const chat_id of [
    unknownId,
    '@nobody_here',
    'gatebot_friend',
    '@',
    0,
    -1,
    '1e400',
    `-100${unknownId}`,
  ]) {
    t.match(await send({ chat_id }), bad('chat not found'), `${chat_id}`)
  }
  t.match(await call('getChat', { chat_id: unknownId }), bad('chat not found'))
  t.match(
    await call('sendChatAction', { chat_id: unknownId, action: 'typing' }),
    bad('chat not found'),
  )

  const eve = await client.person('Eve', 'eve_blocks')
  await client.result('PUT', `/sandbox/people/${eve.id}/blocks/${bot.id}`)
  t.match(await send({ chat_id: eve.id }), refused(403, 'Forbidden: bot was blocked by the user'))
  await client.result('PATCH', `/sandbox/people/${eve.id}`, { deactivated: true })
  t.match(await send({ chat_id: eve.id }), refused(403, 'Forbidden: user is deactivated'))

  const group = async (kind: string, members: number[]) =>
    (await client.result('POST', '/sandbox/chats', { kind, title: kind, owner: ada.id, members }))
      .id
  const out = await group('group', [bot.id])
  t.match(await send({ chat_id: out }), {
    body: { result: { chat: { id: out, type: 'group', title: 'group' } } },
  })
  await client.result('DELETE', `/sandbox/chats/${out}/members/${bot.id}?kick=true`)
  t.match(
    await send({ chat_id: out }),
    refused(403, 'Forbidden: bot was kicked from the group chat'),
  )
  const news = await group('channel', [bot.id])
  t.match(await send({ chat_id: news }), bad('need administrator rights in the channel chat'))
  const closed = await group('supergroup', [])
  t.match(
    await send({ chat_id: closed }),
    refused(403, 'Forbidden: bot is not a member of the supergroup chat'),
  )
})

t.test('a reply names its target, in the new way and the old', async (t) => {
  const target = await sent({ text: 'target' })
  const reply = { text: 'hi', reply_to_message: { message_id: target, text: 'target' } }
  for (const more of [
    { reply_parameters: { message_id: target } },
    { reply_parameters: JSON.stringify({ message_id: target, chat_id: ada.id }) },
    { reply_to_message_id: target },
  ]) {
    const { body } = await send(more)
    t.match(body.result, reply)
    t.notOk(body.result.reply_to_message.reply_to_message)
  }
  const missing = bad('message to be replied not found')
  t.match(await send({ reply_parameters: { message_id: unknownId } }), missing)
  t.match(await send({ reply_to_message_id: unknownId }), missing)
  t.match(await send({ reply_parameters: '{' }), bad("can't parse reply parameters JSON object"))
  for (const wrong of [[], 'null']) {
    t.match(await send({ reply_parameters: wrong }), bad('object expected as reply parameters'))
  }
  for (const none of [null, {}, '{}', { message_id: 0 }]) {
    const { status, body } = await send({ reply_parameters: none })
    t.equal(status, 200, JSON.stringify(none))
    t.notOk(body.result?.reply_to_message)
  }
  const optional = { message_id: unknownId, allow_sending_without_reply: true }
  t.notOk((await send({ reply_parameters: optional })).body.result.reply_to_message)
})

t.test('an edit changes text and keyboard, and only what is there to be changed', async (t) => {
  const message_id = await sent({ text: 'old' })
  const edit = (more: object) =>
    call('editMessageText', { chat_id: ada.id, message_id, text: 'new', ...more })
  t.match(await edit({}), { body: { result: { message_id, text: 'new', edit_date: Number } } })
  const notModified =
    'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message'
  t.match(await edit({}), bad(notModified))
  t.match(await edit({ text: 'new  ' }), bad(notModified), 'after trimming')
  t.match(await edit({ parse_mode: 'HTML', text: '<i>new</i>' }), {
    body: { result: { entities: [{ type: 'italic' }] } },
  })
  t.match(await edit({ message_id: unknownId }), bad('message to edit not found'))
  t.match(await edit({ message_id: -4 }), bad('message to edit not found'))
  t.match(await edit({ text: '' }), bad('message text is empty'))
  t.match(await edit({ chat_id: '@nobody_here' }), bad('chat not found'))
  for (const none of [{}, { message_id: 0 }, { message_id: -1 }]) {
    const refused = await call('editMessageText', { text: 'x', ...none })
    t.match(refused, bad('message identifier is not specified'), JSON.stringify(none))
  }
  t.match(await call('editMessageText', { text: 'x', message_id }), bad('chat_id is empty'))
  const theirs = await client.write(ada.id, bot.id, 'mine')
  t.match(await edit({ message_id: theirs.message_id }), bad("message can't be edited"))
})

t.test('a deletion is for all, and happens once', async (t) => {
  const message_id = await sent()
  const remove = (more: object) => call('deleteMessage', { chat_id: ada.id, message_id, ...more })
  t.match(await remove({}), { status: 200, body: { ok: true, result: true } })
  t.notOk((await inbox()).some((shown: { message_id: number }) => shown.message_id === message_id))
  t.match(await remove({}), bad('message to delete not found'))
  for (const none of [0, -1, 'x']) {
    const refused = await remove({ message_id: none })
    t.match(refused, bad('message identifier is not specified'), `${none}`)
  }
  t.match(await call('deleteMessage', { message_id }), bad('chat identifier is not specified'))
  t.match(
    await call('deleteMessage', { chat_id: ada.id }),
    bad('message identifier is not specified'),
  )
  const group = await client.result('POST', '/sandbox/chats', {
    kind: 'group',
    title: 'G',
    owner: ada.id,
    members: [bot.id],
  })
  const theirs = await client.write(ada.id, group.id, 'the owner speaks')
  t.match(
    await call('deleteMessage', { chat_id: group.id, message_id: theirs.message_id }),
    bad("message can't be deleted"),
  )
})

t.test('a forward shows its origin, a copy does not', async (t) => {
  const eve = await client.person('Eve', 'eve_reads')
  const { message_id } = await client.write(ada.id, bot.id, 'words of /start Ada')
  const from = { chat_id: eve.id, from_chat_id: ada.id, message_id }
  const forwarded = await done('forwardMessage', from)
  t.match(forwarded, {
    text: 'words of /start Ada',
    chat: { id: eve.id },
    forward_origin: { type: 'user', sender_user: { id: ada.id, first_name: 'Ada' }, date: Number },
    forward_from: { id: ada.id },
    forward_date: Number,
  })
  const again = { chat_id: ada.id, from_chat_id: eve.id, message_id: forwarded.message_id }
  t.match(await done('forwardMessage', again), { forward_origin: { sender_user: { id: ada.id } } })
  const copied = await done('copyMessage', from)
  t.same(Object.keys(copied), ['message_id'])
  const seen = (await client.result('GET', `/sandbox/people/${eve.id}/inbox`)).messages
  t.match(seen[0], { message_id: copied.message_id, text: 'words of /start Ada' })
  t.notOk(seen[0].forwarded_from)
  for (const [method, verb] of [
    ['forwardMessage', 'forward'],
    ['copyMessage', 'copy'],
  ] as const) {
    t.match(
      await call(method, { ...from, message_id: unknownId }),
      bad(`message to ${verb} not found`),
    )
    t.match(
      await call(method, { ...from, message_id: undefined }),
      bad(`message to ${verb} not found`),
    )
    t.match(await call(method, { ...from, from_chat_id: '@nobody_here' }), bad('chat not found'))
    t.match(await call(method, { ...from, chat_id: '' }), bad('chat_id is empty'))
    const required = bad('parameter "from_chat_id" is required')
    t.match(await call(method, { ...from, from_chat_id: '' }), required)
  }
})

t.test('nothing of this was a defect', async (t) => {
  const log = await client.result('GET', '/user/logs/api-requests?error_code=500')
  t.same(log.items, [])
  t.ok(service.url)
})

t.test('that previews are off is shown where a page is linked', async (t) => {
  const send = async (parameters: object) =>
    (await client.bot(key, 'sendMessage', { chat_id: ada.id, ...parameters })).body.result
  const off = { link_preview_options: { is_disabled: true } }
  for (const text of ['see https://example.org/a', 'https://example.org/', 'see example.org/a']) {
    t.match(await send({ text, ...off }), off, text)
    t.match(await send({ text, disable_web_page_preview: true }), off, text)
  }
  const entities = [{ type: 'text_link', offset: 0, length: 4, url: 'https://example.org/' }]
  t.match(await send({ text: 'here', entities, ...off }), off)
  for (const text of [
    'nothing',
    'example.org',
    'me@example.org',
    'ftp://example.org/a',
    '/start',
  ]) {
    t.notOk('link_preview_options' in (await send({ text, ...off })), text)
  }
  const above = { link_preview_options: { show_above_text: true } }
  t.match(await send({ text: 'nothing', ...above }), above)
})
