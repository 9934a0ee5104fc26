/** Buttons and keys that do more than press or write, and what they send back. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const joe = await client.person('Joe', 'joe_joe')
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const hand = `/sandbox/people/${ada.id}`

async function done(method: string, parameters: object) {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const send = (button: object, chat_id = ada.id) =>
  call('sendMessage', { chat_id, text: 'x', reply_markup: { inline_keyboard: [[button]] } })

let offset = 0
async function next(kind: string) {
  for (;;) {
    const updates = await done('getUpdates', { offset, timeout: 20 })
    if (updates.length === 0) throw new Error(`no ${kind} came`)
    offset = updates[0].update_id + 1
    if (updates[0].message?.[kind]) return updates[0].message
  }
}

t.test('every kind of button is kept, with its looks, and shown', async (t) => {
  const flags = { user: true, bot: false, group: false, channel: true }
  const chats = Object.entries(flags).map(([kind, is]) => [`allow_${kind}_chats`, is])
  const chosen = { query: 'tea', ...Object.fromEntries(chats) }
  const actions: readonly object[] = [
    { web_app: { url: 'https://app.invalid' } },
    { copy_text: { text: 'copied' } },
    { switch_inline_query: 'tea' },
    { switch_inline_query_current_chat: '' },
    { switch_inline_query_chosen_chat: chosen },
    { disabled: {} },
    { callback_data: 'x', style: 'danger', icon_custom_emoji_id: '5368324170671202286' },
    { url: 'https://site.invalid', style: 'success' },
  ]
  for (const action of actions) {
    const button = { text: 'Press', ...action }
    const { body } = await send(button)
    t.strictSame(body.result?.reply_markup, { inline_keyboard: [[button]] }, JSON.stringify(body))
    const [shown] = (await client.result('GET', `${hand}/inbox?chat=${bot.id}`)).messages
    t.strictSame(shown.inline_keyboard, [[button]])
  }
})

t.test('an address without a character is none', async (t) => {
  const { body } = await send({ text: 'Press', url: '', callback_data: 'x' })
  const shown = { inline_keyboard: [[{ text: 'Press', callback_data: 'x' }]] }
  t.strictSame(body.result?.reply_markup, shown)
  t.match(
    await send({ text: 'Press', url: '' }),
    bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"),
  )
})

t.test('buttons are shown as the reference makes them out', async (t) => {
  const shown = async (button: object) =>
    (await send({ text: 'Press', ...button })).body.result?.reply_markup.inline_keyboard[0][0]
  const all = { user: true, bot: true, group: true, channel: true }
  const any = Object.fromEntries(Object.keys(all).map((kind) => [`allow_${kind}_chats`, true]))
  t.strictSame(await shown({ switch_inline_query_chosen_chat: { query: 'tea', ...any } }), {
    text: 'Press',
    switch_inline_query: 'tea',
  })
  t.match(await shown({ switch_inline_query_chosen_chat: { allow_bot_chats: true } }), {
    switch_inline_query_chosen_chat: { query: '', allow_user_chats: false, allow_bot_chats: true },
  })
  t.match(
    await send({ text: 'Press', switch_inline_query_chosen_chat: { query: 'tea' } }),
    bad('at least one chat type must be allowed'),
  )
  t.strictSame(await shown({ web_app: { url: 'https://app.invalid', more: 1 } }), {
    text: 'Press',
    web_app: { url: 'https://app.invalid' },
  })
  const row = (count: number) =>
    Array.from({ length: count }, (_, place) => ({ text: `${place}`, callback_data: 'x' }))
  const inline_keyboard = [[{ text: '', callback_data: 'x' }, ...row(13)], [{ text: '' }], row(2)]
  const sent = await done('sendMessage', {
    chat_id: ada.id,
    text: 'rows',
    reply_markup: { inline_keyboard },
  })
  t.same(sent.reply_markup.inline_keyboard, [row(12), row(2)])
})

t.test('a query of inline mode cannot be begun from a channel', async (t) => {
  const { id: chat_id } = await client.result('POST', '/sandbox/chats', {
    kind: 'channel',
    title: 'News',
    owner: bot.id,
  })
  for (const [name, value] of [
    ['switch_inline_query', ''],
    ['switch_inline_query_current_chat', 'tea'],
  ] as const) {
    const reply_markup = { inline_keyboard: [[{ text: 'Press', [name]: value }]] }
    t.match(
      await call('sendMessage', { chat_id, text: 'x', reply_markup }),
      bad(
        `can't use ${name} button in a channel chat, because users will not be able to use the button without knowing bot's username`,
      ),
    )
  }
})

t.test('a button for signing in is shown to a bot as a link, as the reference does', async (t) => {
  const url = 'https://site.invalid/login'
  const { body } = await send({ text: 'Press', login_url: { url } })
  t.strictSame(body.result.reply_markup, { inline_keyboard: [[{ text: 'Press', url }]] })
  const [shown] = (await client.result('GET', `${hand}/inbox?chat=${bot.id}`)).messages
  t.strictSame(shown.inline_keyboard, [[{ text: 'Press', login_url: { url } }]])
})

t.test('what makes no button is refused', async (t) => {
  const wrong: readonly (readonly [button: object, why: string])[] = [
    [
      { web_app: { url: 'http://app.invalid' } },
      "inline keyboard button Web App URL 'http://app.invalid' is invalid: Only HTTPS links are allowed",
    ],
    [{ web_app: {} }, `can't parse inline keyboard button: Can't find field "url"`],
    [{ copy_text: { text: '' } }, 'BUTTON_COPY_TEXT_INVALID'],
    [{ copy_text: { text: 'x'.repeat(257) } }, 'BUTTON_COPY_TEXT_INVALID'],
    [
      { callback_data: 'x', style: 'pink' },
      "can't parse inline keyboard button: Invalid button style specified",
    ],
    [
      { style: 'danger' },
      "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
    ],
  ]
  for (const [button, why] of wrong) t.match(await send({ text: 'x', ...button }), bad(why), why)
  const group = { kind: 'supergroup', title: 'Team', owner: ada.id, members: [bot.id] }
  const { id } = await client.result('POST', '/sandbox/chats', group)
  const app = { text: 'x', web_app: { url: 'https://app.invalid' } }
  t.match(await send(app, id), bad('BUTTON_TYPE_INVALID'), 'web apps open in private chats')
})

const bring = (...keys: object[]) =>
  done('sendMessage', { chat_id: ada.id, text: 'share', reply_markup: { keyboard: [keys] } })
const share = (body: object, person = ada) =>
  client.ask('POST', `/sandbox/people/${person.id}/shares`, { to: bot.id, ...body })

t.test('people and chats are shared where a key asks for them', async (t) => {
  const { id: chat_id } = await client.result('POST', '/sandbox/chats', {
    kind: 'channel',
    title: 'News',
    owner: ada.id,
  })
  await bring(
    { text: 'Who', request_users: { request_id: 1, max_quantity: 2, request_name: true } },
    { text: 'Where', request_chat: { request_id: 2, chat_is_channel: true, request_title: true } },
  )
  t.equal((await share({ request_id: 1, user_ids: [joe.id, bot.id] })).status, 200)
  const { users_shared } = await next('users_shared')
  const given = [bot, joe].sort((one, other) => one.id - other.id)
  t.strictSame(users_shared, {
    request_id: 1,
    user_ids: given.map(({ id }) => id),
    users: given.map(({ id, first_name }) => ({ user_id: id, first_name })),
  })
  const shared = await share({ request_id: 2, chat_id })
  t.match(shared.body.result, { service: 'chat_shared', shared: { request_id: 2, chat_id } })
  const seen = await next('chat_shared')
  t.strictSame(seen.chat_shared, { request_id: 2, chat_id, title: 'News' })
  t.match(await share({ request_id: 3, user_ids: [joe.id] }), bad('no key asks for this'))
  const three = [joe.id, bot.id, ada.id]
  t.match(await share({ request_id: 1, user_ids: three }), bad('wrong number of people'))
  t.match(await share({ request_id: 1, user_ids: [999_999_999] }), bad('user not found'))
  t.match(await share({ request_id: 1, user_ids: [joe.id] }, joe), bad('no key asks for this'))
})

t.test('a web app that a key has opened sends data', async (t) => {
  await bring({ text: 'Order', web_app: { url: 'https://app.invalid' } })
  const path = `${hand}/web_app_data`
  const data = { to: bot.id, button_text: 'Order', data: '{"tea":1}' }
  t.match(await client.result('POST', path, data), { service: 'web_app_data' })
  const { web_app_data } = await next('web_app_data')
  t.strictSame(web_app_data, { data: '{"tea":1}', button_text: 'Order' })
  const other = await client.ask('POST', path, { ...data, button_text: 'Other' })
  t.match(other, bad('no key opens a web app'))
})

t.test('a key that was prepared for a web app shares, too', async (t) => {
  const button = { text: 'Who', request_users: { request_id: 9 } }
  const { id } = await done('savePreparedKeyboardButton', { user_id: ada.id, button })
  const given = { request_id: 9, user_ids: [joe.id], prepared_button_id: id }
  t.equal((await share(given)).status, 200)
  t.match(await next('users_shared'), {
    user_shared: { user_id: joe.id, request_id: 9 },
    users_shared: { users: [{ user_id: joe.id }] },
  })
  t.match(await share(given, joe), bad('no key asks for this'), 'it is for one person')
  const saving = { user_id: ada.id, button: { text: 'x' } }
  t.match(await call('savePreparedKeyboardButton', saving), bad('BUTTON_TYPE_INVALID'))
})
