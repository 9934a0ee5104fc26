/** Bots that people make for an account which manages them, and mistakes in passports. */
import t from 'tap'
import { until } from '../support/client.ts'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const done = async (method: string, parameters: object) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
async function told(kind: string) {
  for (;;) {
    const update = await next()
    const found = update[kind] ?? update.message?.[kind]
    if (found) return found
  }
}
const kim = await client.person('Kim')
const path = `/sandbox/people/${ada.id}/managed_bots`
const make = (username: string, more: object = {}) =>
  client.ask('POST', path, { manager: bot.id, first_name: 'Tea', username, ...more })
const tea = (await make('tea_bot')).body.result

t.test(
  'the manager is told of a bot, by an update and where a key asked by a message',
  async (t) => {
    t.match(await told('managed_bot'), {
      user: { id: ada.id },
      bot: { id: tea.id, is_bot: true, username: 'tea_bot' },
    })
    t.match(await make('tea'), { status: 400 })
    t.match(await make('cup_bot', { request_id: 7 }), { status: 400 })
    const request_managed_bot = { request_id: 7 }
    const reply_markup = { keyboard: [[{ text: 'Make a bot', request_managed_bot }]] }
    await done('sendMessage', { chat_id: ada.id, text: 'Do', reply_markup })
    const cup = (await make('cup_bot', { request_id: 7 })).body.result
    t.match(await told('managed_bot'), { bot: { id: cup.id } })
    t.match(await told('managed_bot_created'), { bot: { id: cup.id, is_bot: true } })
  },
)

t.test('everybody sees that it is a bot', async (t) => {
  const chat = { kind: 'supergroup', title: 'Tea', owner: ada.id, members: [bot.id, kim.id] }
  const { id: chat_id } = await client.result('POST', '/sandbox/chats', chat)
  for (const person of [tea, kim, bot]) {
    await client.result('PUT', `/sandbox/chats/${chat_id}/members/${person.id}`, { role: 'admin' })
  }
  const member = (user_id: number) => done('getChatMember', { chat_id, user_id })
  t.match(await member(tea.id), { user: { id: tea.id, is_bot: true } })
  t.match(await member(kim.id), { user: { id: kim.id, is_bot: false } })
  await client.write(tea.id, chat_id, 'Warm?')
  let update = await next()
  while (update.message?.text !== 'Warm?') update = await next()
  t.match(update.message.from, { id: tea.id, is_bot: true })
  const administrators = async (more: object = {}) =>
    (await done('getChatAdministrators', { chat_id, ...more })).map(
      ({ user }: { user: { id: number } }) => user.id,
    )
  const others = [ada.id, kim.id, bot.id]
  t.same((await administrators()).sort(), others.sort(), 'bots other than itself are left out')
  t.same((await administrators({ return_bots: true })).sort(), [...others, tea.id].sort())
})

t.test('its token links it, until it is replaced', async (t) => {
  const start = (token: string) =>
    client.ask('POST', '/platforms/sandbox/link/start', { method: 'token', token })
  const token = await done('getManagedBotToken', { user_id: tea.id })
  t.match(token, new RegExp(`^${tea.id}:`))
  t.match(await call('getManagedBotToken', { user_id: kim.id }), bad('BOT_INVALID'))
  const { credential } = (await start(token)).body.result
  await client.state(credential.credential_id, 'active')
  const renewed = await done('replaceManagedBotToken', { user_id: tea.id })
  t.not(renewed, token)
  t.equal(await done('getManagedBotToken', { user_id: tea.id }), renewed)
  t.not((await start(token)).status, 200)
  await until(async () => {
    const record = await client.result('GET', `/platforms/credentials/${credential.credential_id}`)
    return record.state === 'active' ? undefined : record
  })
  t.equal(await client.result('POST', `${path}/${tea.id}/token`), true)
  t.match(await told('managed_bot'), { user: { id: ada.id }, bot: { id: tea.id } })
  t.not(await done('getManagedBotToken', { user_id: tea.id }), renewed)
  const others = `/sandbox/people/${kim.id}/managed_bots/${tea.id}/token`
  t.match(await client.ask('POST', others), { status: 400 })
  const stranger = await service.client('+989120000099')
  t.match(
    await stranger.ask('POST', '/platforms/sandbox/link/start', {
      method: 'token',
      token: renewed,
    }),
    { body: { ok: false } },
  )
})

t.test('only the owner and those added write to a restricted bot', async (t) => {
  const write = async (person: { id: number }) =>
    (await client.ask('POST', `/sandbox/people/${person.id}/messages`, { to: tea.id, text: 'hi' }))
      .status
  const settings = { user_id: tea.id, is_access_restricted: true }
  t.same(await done('getManagedBotAccessSettings', { user_id: tea.id }), {
    is_access_restricted: false,
  })
  t.equal(await write(kim), 200)
  t.equal(await done('setManagedBotAccessSettings', settings), true)
  t.same(await Promise.all([write(kim), write(ada)]), [403, 200])
  await done('setManagedBotAccessSettings', { ...settings, added_user_ids: [kim.id] })
  t.match(await done('getManagedBotAccessSettings', { user_id: tea.id }), {
    is_access_restricted: true,
    added_users: [{ id: kim.id }],
  })
  t.equal(await write(kim), 200)
  const wrong = { ...settings, added_user_ids: ['x'] }
  const why = bad('wrong added_user_ids specified')
  t.match(await call('setManagedBotAccessSettings', wrong), why)
  const nobody = { ...settings, added_user_ids: [999_999_999] }
  t.match(await call('setManagedBotAccessSettings', nobody), bad('user not found'))
})

t.test('mistakes in a passport stand until they are corrected', async (t) => {
  const mine = `/sandbox/people/${kim.id}/passport_errors`
  const error = { source: 'selfie', type: 'passport', file_hash: 'x', message: 'Blurred' }
  const files = { source: 'files', type: 'utility_bill', file_hashes: ['x'], message: 'Old' }
  const report = (errors: readonly object[], person = kim) =>
    call('setPassportDataErrors', { user_id: person.id, errors })
  t.match(await report([error, files]), { body: { ok: true, result: true } })
  t.same(await client.result('GET', mine), [{ bot: bot.id, errors: [error, files] }])
  const wrong: readonly (readonly [error: object, why: string])[] = [
    [{ ...error, source: 'tea' }, 'wrong Passport Element Error source specified'],
    [{ ...error, type: 'utility_bill' }, 'wrong Telegram Passport element type specified'],
    [{ ...error, file_hash: '' }, `can't find field "file_hash"`],
    [{ ...files, file_hashes: [] }, 'wrong file_hashes specified'],
  ]
  for (const [one, why] of wrong) t.match(await report([one]), bad(why), why)
  t.match(await report([error], { ...kim, id: 999_999_999 }), bad('user not found'))
  t.equal(await client.result('DELETE', `${mine}/${bot.id}`), true)
  t.same(await client.result('GET', mine), [])
  t.match(await client.ask('DELETE', `${mine}/${bot.id}`), { status: 404 })
})
