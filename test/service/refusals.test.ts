/** Parameters that no account here can follow, and values that would break what keeps them. */
import t from 'tap'
import { callWithFiles, picture } from './files.ts'
import { refused, scene } from './scene.ts'

const { service, client, ada, key } = await scene(t, {
  env: { CHAT_RATE: '0.01', CHAT_BURST: '20' },
})
const call = (method: string, parameters: object = {}) => client.bot(key, method, parameters)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const chat_id = ada.id

t.test('accounts act for no business, and chats have no threads', async (t) => {
  const message = { chat_id, text: 'hi', message_id: 1, action: 'typing', question: 'q' }
  const business = { ...message, business_connection_id: 'b' }
  for (const name of ['sendMessage', 'sendPhoto', 'sendPoll', 'sendMediaGroup', 'sendChatAction']) {
    const thread = { ...message, message_thread_id: 5 }
    t.match(await call(name, thread), bad('message thread not found'), name)
  }
  for (const name of ['sendMessage', 'sendChatAction']) {
    t.match(await call(name, business), bad('business connection not found'), name)
  }
  const poll = { ...business, options: ['yes', 'no'] }
  t.match(await call('sendPoll', poll), bad('business connection not found'))
  const files = { a: { bytes: await picture() }, b: { bytes: await picture() } }
  const media = ['a', 'b'].map((name) => ({ type: 'photo', media: `attach://${name}` }))
  const uploads = [
    ['sendPhoto', { ...business, photo: 'attach://a' }],
    ['sendMediaGroup', { ...business, media }],
  ] as const
  for (const [name, parameters] of uploads) {
    const answer = await callWithFiles(service.url, key, name, parameters, files)
    t.match(answer, bad('business connection not found'), name)
  }
  for (const name of ['editMessageText', 'stopPoll', 'pinChatMessage', 'unpinChatMessage']) {
    t.match(await call(name, business), bad('business connection not found'), name)
  }
  const many = { chat_id, from_chat_id: chat_id, message_ids: [2, 1] }
  for (const name of ['forwardMessages', 'copyMessages']) {
    t.match(await call(name, { ...many, message_thread_id: 5 }), bad('message thread not found'))
    t.match(
      await call(name, many),
      bad('message identifiers must be in a strictly increasing order'),
    )
  }
})

t.test('what is kept of a bot has a sound name and sound words', async (t) => {
  const long = 'x'.repeat(5_000)
  for (const name of ['setMyName', 'getMyName', 'setMyDescription', 'getMyCommands']) {
    t.match(await call(name, { language_code: long }), bad('LANG_CODE_INVALID'), name)
  }
  t.match(await call('getChatMenuButton', { chat_id: long }), bad('invalid chat_id specified'))
  const scope = { type: 'chat', chat_id: long }
  t.match(await call('getMyCommands', { scope }), bad('chat not found'))
  t.match(
    await call('getMyCommands', { scope: { type: 'chat_member', chat_id: 1 } }),
    bad('can\'t parse BotCommandScope: Can\'t find field "user_id"'),
  )
  t.match(
    await call('getMyCommands', { scope: { type: 'constructor' } }),
    bad("can't parse BotCommandScope: Unsupported type specified"),
  )
  for (const description of ['a\0b', 'b\ud800']) {
    const commands = JSON.stringify([{ command: 'odd', description }])
    t.match(await call('setMyCommands', { commands }), { status: 400 })
  }
  const commands = [{ command: 'odd', description: 'a b' }]
  t.match(await call('setMyCommands', { commands: JSON.stringify(commands) }), { status: 200 })
  t.match(await call('getMyCommands'), {
    body: { result: [{ command: 'odd', description: 'a b' }] },
  })
})

t.test('however a chat is written, its messages count for one chat', async (t) => {
  const { id } = await client.person('Kim')
  const spellings = [`${id}`, `${id} `, `${id}x`, `0${id}`, `${id}.5`]
  const statuses = []
  for (let sent = 0; sent < 22; sent += 1) {
    const chat_id = spellings[sent % spellings.length]
    statuses.push((await call('sendMessage', { chat_id, text: 'hi' })).status)
  }
  t.same(statuses.slice(-4), [200, 200, 429, 429])
})
