/** Inline mode: a person writes to a bot in another chat, picks what it offers, and the bot changes it later. */
import { createHmac } from 'node:crypto'
import t from 'tap'
import { callWithFiles, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t)
const joe = await client.person('Joe', 'joe_joe')
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const hand = `/sandbox/people/${ada.id}`
const TOO_OLD = 'query is too old and response timeout expired or query ID is invalid'

async function done(method: string, parameters: object) {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}

let offset = 0
/** The next update of this kind; others are left out. */
async function next(kind: string) {
  for (;;) {
    const updates = await done('getUpdates', { offset, timeout: 20 })
    if (updates.length === 0) throw new Error(`no ${kind} came`)
    const place = updates.findIndex((update: object) => kind in update)
    offset = updates.at(place).update_id + 1
    if (place >= 0) return updates[place][kind]
  }
}

const article = (id: string, more: object = {}) => ({
  type: 'article',
  id,
  title: `Title ${id}`,
  input_message_content: { message_text: `Text ${id}` },
  ...more,
})
const pressable = { reply_markup: { inline_keyboard: [[{ text: 'Like', callback_data: 'like' }]] } }
const ask = (query: string, more: object = {}) =>
  client.result('POST', `${hand}/inline_queries`, {
    bot: '@gatebot',
    chat: joe.id,
    query,
    wait_seconds: 20,
    ...more,
  })
const pick = (inline_query_id: string, result_id: string, more: object = {}) =>
  client.ask('POST', `${hand}/inline_choices`, { inline_query_id, result_id, ...more })

/** Ada asks, the bot offers, and Ada sees it. */
async function offered(text: string, results: readonly object[], more: object = {}, asked = {}) {
  const asking = ask(text, asked)
  const query = await next('inline_query')
  await done('answerInlineQuery', { inline_query_id: query.id, results, cache_time: 0, ...more })
  return { query, seen: await asking }
}

t.test('a query, its results, the choice, a press and a change', async (t) => {
  t.match(await done('getMe', {}), { supports_inline_queries: true })
  const location = { latitude: 35.7, longitude: 51.4 }
  const results = [
    article('1', pressable),
    article('2', { description: 'Second', url: 'https://a.b' }),
  ]
  const more = { next_offset: '2', button: { text: 'Sign in', start_parameter: 'here' } }
  const { query, seen } = await offered('tea', results, more, { location })
  t.match(query, { from: { id: ada.id }, query: 'tea', offset: '', chat_type: 'private', location })
  t.match(seen, {
    answered: true,
    next_offset: /^2$/,
    button: { text: 'Sign in', start_parameter: 'here' },
    results: [
      { id: /^1$/, type: 'article', title: 'Title 1', text: 'Text 1' },
      { id: /^2$/, description: 'Second', url: 'https://a.b' },
    ],
  })
  const { body } = await pick(seen.inline_query_id, '1')
  t.match(body.result, { text: 'Text 1', via_bot: { id: bot.id }, chat: { id: joe.id } })
  const chosen = await next('chosen_inline_result')
  t.match(chosen, { result_id: /^1$/, from: { id: ada.id }, query: 'tea', location })
  const { inline_message_id } = chosen
  t.type(inline_message_id, 'string')

  const { message_id } = body.result
  const press = { chat: ada.id, message_id, callback_data: 'like', wait_seconds: 20 }
  const pressing = client.result('POST', `/sandbox/people/${joe.id}/presses`, press)
  const pressed = await next('callback_query')
  t.match(pressed, { from: { id: joe.id }, inline_message_id, data: 'like', chat_instance: String })
  t.notOk(pressed.message)
  await done('answerCallbackQuery', { callback_query_id: pressed.id, text: 'Thanks' })
  t.match(await pressing, { answered: true, text: 'Thanks' })

  const shown = async () =>
    (await client.result('GET', `/sandbox/people/${joe.id}/inbox?chat=${ada.id}`)).messages[0]
  const edit = { inline_message_id, text: 'Liked by *1*', parse_mode: 'MarkdownV2', ...pressable }
  t.equal(await done('editMessageText', edit), true)
  t.match(await shown(), { text: 'Liked by 1', entities: [{ type: 'bold' }], edit_date: Number })
  const same =
    'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message'
  t.match(await call('editMessageText', edit), bad(same))
  // Libraries of typed languages write a number that is not set as zero.
  const unset = { chat_id: '', message_id: 0, inline_message_id }
  t.equal(await done('editMessageReplyMarkup', unset), true)
  t.notOk((await shown()).inline_keyboard)
  const hers = { chat: joe.id, message: message_id }
  const own = `/sandbox/people/${ada.id}/chats/${hers.chat}/messages/${message_id}`
  t.match(await client.ask('PATCH', own, { text: 'mine' }), bad("message can't be edited"))
})

t.test('without buttons the bot learns no id, and more is asked for by offset', async (t) => {
  const { seen } = await offered('x', [article('a')], { next_offset: 'more' })
  const chosen = await pick(seen.inline_query_id, 'a')
  t.equal(chosen.status, 200)
  t.notOk('inline_message_id' in (await next('chosen_inline_result')))
  const { query } = await offered('x', [], {}, { offset: seen.next_offset })
  t.equal(query.offset, 'more')
  t.match(await pick(seen.inline_query_id, 'zzz'), bad('RESULT_ID_INVALID'))
})

t.test('the kind of chat is told, and what may be sent there is kept to', async (t) => {
  const group = { kind: 'supergroup', title: 'Team', owner: joe.id, members: [ada.id] }
  const { id: chat } = await client.result('POST', '/sandbox/chats', group)
  const inGroup = await offered('g', [article('g')], {}, { chat })
  t.equal(inGroup.query.chat_type, 'supergroup')
  const sent = await pick(inGroup.seen.inline_query_id, 'g')
  t.match(sent.body.result, { chat: { id: chat }, text: 'Text g' })
  const own = await offered('s', [article('s')], {}, { chat: bot.id })
  t.equal(own.query.chat_type, 'sender')
  await pick(own.seen.inline_query_id, 's')
  t.match(await next('message'), { text: 'Text s', via_bot: { id: bot.id, is_bot: true } })
  const outside = await client.person('Kim')
  const elsewhere = { kind: 'supergroup', title: 'Other', owner: outside.id }
  const { id: closed } = await client.result('POST', '/sandbox/chats', elsewhere)
  const asking = { bot: bot.id, chat: closed, query: 'x', wait_seconds: 0 }
  t.equal((await client.ask('POST', `${hand}/inline_queries`, asking)).status, 403)
})

t.test('answers are kept for others as long as the bot allows', async (t) => {
  const { query } = await offered('kept', [article('k')], { cache_time: 300 })
  t.ok(query.id)
  t.match(await ask('kept'), { answered: true, results: [{ id: 'k' }] }, 'nobody is asked again')
  const theirs = { bot: bot.id, chat: ada.id, query: 'kept', wait_seconds: 20 }
  const path = `/sandbox/people/${joe.id}/inline_queries`
  t.match(await client.result('POST', path, theirs), { results: [{ id: 'k' }] })
  await offered('mine', [article('m')], { cache_time: 300, is_personal: true })
  t.match(await ask('mine'), { answered: true })
  const asking = client.result('POST', path, { ...theirs, query: 'mine' })
  const again = await next('inline_query')
  t.equal(again.from.id, joe.id, 'what is personal is for one alone')
  await done('answerInlineQuery', { inline_query_id: again.id, results: [] })
  t.match(await asking, { answered: true, results: { length: 0 } })
})

t.test('results of every type become the messages that they stand for', async (t) => {
  const sending = { chat_id: ada.id, photo: 'attach://picture' }
  const files = { picture: { bytes: await picture() } }
  const { body } = await callWithFiles(service.url, key, 'sendPhoto', sending, files)
  const photo_file_id = body.result.photo.at(-1).file_id
  const place = { latitude: 1, longitude: 2, title: 'Here' }
  const results = [
    { type: 'photo', id: 'photo', photo_file_id, caption: '<b>Tea</b>', parse_mode: 'HTML' },
    { type: 'location', id: 'location', ...place },
    { type: 'venue', id: 'venue', ...place, address: 'Street' },
    { type: 'contact', id: 'contact', phone_number: '+1 555-01 00', first_name: 'Eve' },
    {
      type: 'photo',
      id: 'other',
      photo_file_id,
      input_message_content: { latitude: 3, longitude: 4 },
    },
  ]
  const { seen } = await offered('all', results)
  t.equal(seen.results.length, results.length)
  const shapes: Record<string, object> = {
    photo: { media: { type: 'photo' }, caption: 'Tea', caption_entities: [{ type: 'bold' }] },
    location: { location: { latitude: 1, longitude: 2 } },
    venue: { venue: { title: 'Here', address: 'Street' } },
    contact: { contact: { phone_number: '+15550100', first_name: 'Eve' } },
    other: { location: { latitude: 3, longitude: 4 } },
  }
  for (const [id, shape] of Object.entries(shapes)) {
    t.match(await pick(seen.inline_query_id, id), { status: 200, body: { result: shape } }, id)
  }
})

t.test('what cannot be offered is refused in the words of the reference', async (t) => {
  const asking = ask('wrong')
  const { id: inline_query_id } = await next('inline_query')
  const refuse = async (results: unknown, why: string, more: object = {}) =>
    t.match(await call('answerInlineQuery', { inline_query_id, results, ...more }), bad(why))
  const unread = "can't parse inline query result: "
  await refuse(
    [{ type: 'tea', id: '1' }],
    `${unread}Type "tea" is unsupported for the inline query result`,
  )
  await refuse([{ id: '1' }], `${unread}Can't find field "type"`)
  await refuse(
    [{ type: 'article', id: '1', title: 'x' }],
    `${unread}Input message content is not specified`,
  )
  await refuse([article('1'), article('1')], 'RESULT_ID_DUPLICATE')
  await refuse([article('x'.repeat(65))], 'RESULT_ID_INVALID')
  await refuse(
    Array.from({ length: 51 }, (_, id) => article(`${id}`)),
    'too many inline query results specified',
  )
  await refuse({ id: '1' }, 'expected an Array of inline query results')
  await refuse([], 'NEXT_OFFSET_INVALID', { next_offset: 'x'.repeat(65) })
  const button = { text: 'x', start_parameter: 'not this' }
  await refuse([], 'START_PARAM_INVALID', { button })
  t.equal(await done('answerInlineQuery', { inline_query_id, results: [] }), true)
  t.match(await call('answerInlineQuery', { inline_query_id, results: [] }), bad(TOO_OLD))
  t.match(await call('answerInlineQuery', { inline_query_id: '7', results: [] }), bad(TOO_OLD))
  t.match(await asking, { answered: true })
  const unknown = { inline_message_id: 'nothing', text: 'x' }
  t.match(await call('editMessageText', unknown), bad('MESSAGE_ID_INVALID'))
  t.match(
    await call('answerWebAppQuery', { web_app_query_id: '7', result: article('1') }),
    bad(TOO_OLD),
  )
})

t.test('a prepared message is sent where the bot allowed it', async (t) => {
  const saving = { user_id: ada.id, result: article('p', pressable) }
  t.match(
    await call('savePreparedInlineMessage', saving),
    bad('at least one chat type must be allowed'),
  )
  const prepared = await done('savePreparedInlineMessage', { ...saving, allow_user_chats: true })
  t.match(prepared, { id: String, expiration_date: Number })
  const send = (to: unknown) =>
    client.ask('POST', `${hand}/prepared_messages`, { id: prepared.id, to })
  const sent = await send(joe.id)
  t.match(sent, { status: 200, body: { result: { text: 'Text p', via_bot: { id: bot.id } } } })
  t.equal((await send(bot.id)).status, 400, 'not to such a chat')
  const theirs = `/sandbox/people/${joe.id}/prepared_messages`
  const stolen = await client.ask('POST', theirs, { id: prepared.id, to: ada.id })
  t.match(stolen, bad('MESSAGE_ID_INVALID'))
})

/** The check that the reference documents for web apps, over what they get. */
function isSigned(data: string, token: string): boolean {
  const fields = [...new URLSearchParams(data)].filter(([name]) => name !== 'hash')
  const text = fields
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join('\n')
  const secret = createHmac('sha256', 'WebAppData').update(token).digest()
  const hash = createHmac('sha256', secret).update(text).digest('hex')
  return hash === new URLSearchParams(data).get('hash')
}

t.test('what comes of a web app is sent for the person who has it open', async (t) => {
  const open = { bot: '@gatebot', chat: joe.id, url: 'https://app.invalid/tea?a=1' }
  const app = await client.result('POST', `${hand}/web_apps`, open)
  t.match(app, { query_id: String, url: /^https:\/\/app\.invalid\/tea\?a=1#tgWebAppData=query_id/ })
  t.notOk(new URLSearchParams(app.init_data).has('hash'), 'unsigned without the key')
  const signed = await client.result('POST', `${hand}/web_apps`, { ...open, bot_token: key })
  t.ok(isSigned(signed.init_data, key))
  t.notOk(isSigned(signed.init_data, `${key}x`))
  t.notOk(isSigned(signed.init_data.replace('query_id=', 'query_id=x'), key))
  t.equal(JSON.parse(new URLSearchParams(app.init_data).get('user') ?? '').id, ada.id)
  const answer = { web_app_query_id: app.query_id, result: article('w', pressable) }
  t.match(await done('answerWebAppQuery', answer), { inline_message_id: String })
  const path = `/sandbox/people/${joe.id}/inbox?chat=${ada.id}`
  const [shown] = (await client.result('GET', path)).messages
  t.match(shown, { text: 'Text w', from: { id: ada.id }, via_bot: { id: bot.id } })
  t.match(await call('answerWebAppQuery', answer), bad(TOO_OLD), 'once')
})
