/** Receipts: a key that names their kinds is told what was delivered and read, and any other key is not. */
import t from 'tap'
import { until } from '../support/client.ts'
import { prosodyMissing } from '../support/prosody.ts'
import { refused, scene } from './scene.ts'
import { xmppScene } from './xmpp-scene.ts'

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

const skip = prosodyMissing ?? false

t.test('on XMPP a message is delivered, then read', { skip }, async (t) => {
  const { prosody, slixmpp, client } = await xmppScene(t)
  const jid = await prosody.register('teller', 'secret')
  const friendJid = await prosody.register('friend', 'friend-secret')
  const friend = await slixmpp.client(`${friendJid}/phone`, 'friend-secret', prosody.port)
  const linked = await client.result('POST', '/platforms/xmpp/link/start', {
    jid,
    password: 'secret',
    server: prosody.server,
  })
  const { credential_id } = linked.credential
  await client.state(credential_id, 'active')
  const { key } = await client.key(credential_id)
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
