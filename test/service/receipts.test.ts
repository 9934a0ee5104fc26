/** Receipts: a key that names their kinds is told what was delivered and read, and any other key is not. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { prosodyMissing } from '../support/prosody.ts'
import { refused, scene } from './scene.ts'
import { linkedXmpp } from './xmpp-scene.ts'

t.test('people of the sandbox read what the account wrote', async (t) => {
  const { client, bot, ada, key, credentialId } = await scene(t)
  const { key: other } = await client.key(credentialId)
  const kim = await client.person('Kim')
  const allowed_updates = ['message', 'message_read']
  const told = async (key: string, parameters: object = {}) =>
    (await client.bot(key, 'getUpdates', parameters)).body.result
  await told(key, { allowed_updates })
  await told(other)
  const send = async (chat_id: number, text: string) =>
    (await client.bot(key, 'sendMessage', { chat_id, text })).body.result
  const reads = (person: { id: number }, body: object) =>
    client.result('POST', `/sandbox/people/${person.id}/reads`, body)
  const one = await send(ada.id, 'one')
  await client.write(ada.id, bot.id, 'between')
  const two = await send(ada.id, 'two')
  const three = await send(ada.id, 'three')

  await reads(ada, { to: bot.id, message_id: two.message_id })
  await reads(ada, { to: bot.id, message_id: one.message_id })
  await reads(ada, { to: bot.id })
  await reads(ada, { to: bot.id })
  const { id: group } = await client.result('POST', '/sandbox/chats', {
    kind: 'supergroup',
    title: 'Tea',
    owner: kim.id,
    members: [bot.id, ada.id],
  })
  const mine = await send(group, 'in the group')
  await client.write(ada.id, group, 'hers')
  await reads(kim, { to: group })
  await client.write(ada.id, bot.id, 'end')
  const updates = await until(async () => {
    const all = await told(key, { allowed_updates })
    return all.at(-1)?.message?.text === 'end' && all
  })
  const receipts = updates.flatMap((update: { message_read?: object }) => update.message_read ?? [])
  const chat = { id: ada.id, type: 'private', first_name: 'Ada' }
  t.match(receipts, [
    { chat, user: { id: ada.id }, message_id: two.message_id, date: Number },
    { chat, user: { id: ada.id }, message_id: three.message_id },
    { chat: { id: group }, user: { id: kim.id }, message_id: mine.message_id },
  ])
  t.equal(receipts.length, 3, 'a mark never moves back')
  const others = await told(other)
  t.match(others.at(-1), { message: { text: 'end' } })
  t.notOk(
    others.some((update: object) => 'message_read' in update),
    'nobody is told who does not ask for it',
  )
  t.match(
    await client.ask('POST', `/sandbox/people/${ada.id}/reads`, { to: bot.id, message_id: 999 }),
    refused(400, 'Bad Request: message to read not found'),
  )
})

t.test(
  'on the sandbox a message is delivered, then read; what no key asks for is not stored',
  async (t) => {
    const { service, client, bot, ada, key, credentialId } = await scene(t)
    const db = openDatabase({ url: service.databaseUrl, logger: quietLogger })
    t.teardown(() => db.close())
    const wanted = ['message', 'message_delivered', 'message_read']
    const updates = async (allowed_updates?: string[]) =>
      (await client.bot(key, 'getUpdates', allowed_updates ? { allowed_updates } : {})).body.result
    const send = async (text: string) =>
      (await client.bot(key, 'sendMessage', { chat_id: ada.id, text })).body.result.message_id
    const confirm = (kind: 'deliveries' | 'reads', body: object = {}) =>
      client.result('POST', `/sandbox/people/${ada.id}/${kind}`, { to: bot.id, ...body })
    const stored = async () => {
      const rows = await db.query<{ payload: string }>(
        `select payload from update_log where credential_id = $1 and payload like '"message\\_%'`,
        [credentialId],
      )
      return rows.map(({ payload }) => payload.split('"')[1])
    }
    await updates(['message'])
    await send('nobody asks')
    await confirm('reads')
    await client.write(ada.id, bot.id, 'stored after it')
    await until(async () => (await updates()).length === 1)
    t.same(await stored(), [])

    await updates(wanted)
    const one = await send('one')
    const two = await send('two')
    await confirm('deliveries', { message_id: one })
    await confirm('deliveries', { message_id: one })
    await confirm('reads', { message_id: two })
    const told = await until(async () => {
      const all = await updates()
      return all.length >= 4 && all.slice(1)
    })
    const about = { chat: { id: ada.id }, user: { id: ada.id } }
    t.match(told, [
      { message_delivered: { ...about, message_id: one } },
      { message_delivered: { ...about, message_id: two } },
      { message_read: { ...about, message_id: two } },
    ])
    t.same(await stored(), ['message_delivered', 'message_delivered', 'message_read'])
    const group = { kind: 'group', title: 'Tea', owner: ada.id, members: [bot.id] }
    const { id } = await client.result('POST', '/sandbox/chats', group)
    const route = `/sandbox/people/${ada.id}/deliveries`
    t.match(
      await client.ask('POST', route, { to: id }),
      refused(400, 'Bad Request: only private chats tell what is delivered'),
    )
    t.match(
      await client.ask('POST', route, { to: bot.id, message_id: 999 }),
      refused(400, 'Bad Request: message to deliver not found'),
    )
  },
)

const skip = prosodyMissing ?? false

t.test('on XMPP a message is delivered, then read', { skip }, async (t) => {
  const { client, jid, friend, friendJid, key } = await linkedXmpp(t, 'teller')
  const allowed_updates = ['message_delivered', 'message_read']
  const updates = async () => (await client.bot(key, 'getUpdates', { allowed_updates })).body.result
  await updates()
  const sent = await client.bot(key, 'sendMessage', { chat_id: `@${friendJid}`, text: 'hello' })
  const { message_id, chat } = sent.body.result
  const { id } = await friend.sees(({ body }) => body === 'hello')
  friend.confirm(jid, id, 'received')
  friend.confirm(jid, 'never-was-sent-by-anybody', 'displayed')
  friend.confirm(jid, id, 'displayed')
  const told = await until(async () => {
    const all = await updates()
    return all.length >= 2 && all
  })
  const about = { chat: { id: chat.id }, user: { id: chat.id }, message_id }
  t.match(told, [{ message_delivered: about }, { message_read: about }])
  t.equal(told.length, 2)
})
