/** Rooms of XMPP as a bot sees them: invited, moderating, whispering, and sharing places and cards. */
import t from 'tap'
import { prosodyMissing } from '../support/prosody.ts'
import { xmppScene } from './xmpp-scene.ts'

const skip = prosodyMissing ?? false

t.test('a bot is invited to a room and moderates it', { skip }, async (t) => {
  const { prosody, slixmpp, client } = await xmppScene(t)
  const jid = await prosody.register('gatebot', 'secret')
  const person = async (name: string) => {
    const address = await prosody.register(name, 'secret')
    return slixmpp.client(`${address}/phone`, 'secret', prosody.port)
  }
  const fields = { jid, password: 'secret', server: prosody.server }
  const { credential } = await client.result('POST', '/platforms/xmpp/link/start', fields)
  await client.state(credential.credential_id, 'active')
  const { key } = await client.key(credential.credential_id)
  const bot = async (method: string, parameters: object) =>
    (await client.bot(key, method, parameters)).body
  let offset = 0
  const next = async () => {
    const { result } = await bot('getUpdates', { offset, limit: 1, timeout: 25 })
    offset = result[0].update_id + 1
    return result[0]
  }

  const owner = await person('owner')
  const guest = await person('guest')
  const room = 'lounge@rooms.xmpp.test'
  await owner.join(room, 'owner')
  await guest.join(room, 'guest')
  owner.invite(room, jid, 'mediated')
  const { my_chat_member: invited } = await next()
  t.match(invited, {
    chat: { type: 'supergroup', username: room },
    from: { username: 'owner@xmpp.test' },
    old_chat_member: { status: 'left', user: { username: jid } },
    new_chat_member: { status: 'member', user: { username: jid } },
  })
  const chat_id = invited.chat.id

  guest.send(room, 'hello, bot')
  const { message: hello } = await next()
  t.match(hello, { text: 'hello, bot', chat: { id: chat_id }, from: { first_name: 'guest' } })
  const user_id = hello.from.id
  t.match(await bot('banChatMember', { chat_id, user_id }), {
    description: 'Bad Request: not enough rights to restrict/unrestrict chat member',
  })
  owner.ask(
    room,
    `<query xmlns="http://jabber.org/protocol/muc#admin"><item jid="${jid}" affiliation="admin"/></query>`,
  )
  owner.send(room, 'you are one of us')
  t.match(await next(), { message: { text: 'you are one of us' } })
  t.match(await bot('restrictChatMember', { chat_id, user_id, permissions: {} }), { result: true })
  t.match(await bot('getChatMember', { chat_id, user_id }), {
    result: { status: 'restricted', can_send_messages: false },
  })
  t.match(await bot('banChatMember', { chat_id, user_id }), { result: true })
  await guest.until(({ left }) => left)
  t.match(await bot('getChatMember', { chat_id, user_id }), { result: { status: 'kicked' } })

  owner.whisper(`${room}/gatebot`, 'well done')
  const { message: whisper } = await next()
  t.match(whisper, { text: 'well done', chat: { type: 'private', first_name: 'owner' } })
  t.equal(whisper.chat.id, whisper.from.id)
  await bot('sendMessage', { chat_id: whisper.chat.id, text: 'my pleasure' })
  t.match(await owner.sees(({ body }) => body === 'my pleasure'), {
    type: 'chat',
    from: `${room}/gatebot`,
  })

  const place = { latitude: 1.5, longitude: 2.5, title: 'Café', address: 'Long Street 1' }
  t.match(await bot('sendVenue', { chat_id, ...place }), {
    result: { venue: { title: 'Café', address: 'Long Street 1', location: { latitude: 1.5 } } },
  })
  await owner.sees(({ place: seen }) => seen?.title === 'Café')
  const card = { phone_number: '+15550100', first_name: 'Ada' }
  t.match(await bot('sendContact', { chat_id, ...card }), { result: { contact: card } })
  await owner.sees(({ card: seen }) => seen?.phone === 'tel:+15550100')
})
