/** Rooms: joined and joined again, read and written like any chat, with nothing missed and nobody mistaken. */
import t, { type Test } from 'tap'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const text = (value: string) => ({ kind: 'text' as const, text: value, entities: [] })

const persistent = `<query xmlns="http://jabber.org/protocol/muc#owner"><x xmlns="jabber:x:data" type="submit">
  <field var="FORM_TYPE"><value>http://jabber.org/protocol/muc#roomconfig</value></field>
  <field var="muc#roomconfig_persistentroom"><value>1</value></field></x></query>`

t.test('XMPP rooms', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  /** An account and a friend in a room that the friend has opened. */
  async function inRoom(t: Test, host = 'rooms.xmpp.test') {
    const all = await scene(t, network)
    const room = `${all.account.user}@${host}`
    await all.friend.join(room, 'friend')
    const hello = await sent(all.first, room, 'hello')
    await all.friend.sees(({ body }) => body === 'hello')
    return { ...all, room, hello, friendAddress: all.chat }
  }

  await t.test('whoever writes to a room by its address is in it', async (t) => {
    const { account, friend, store, room, hello, friendAddress } = await inRoom(t)
    t.match(hello, {
      chat: { native: room, surface: 'supergroup', username: room },
      from: { native: account.jid },
      content: { text: 'hello' },
    })
    friend.send(room, 'welcome')
    t.match(await store.message('welcome'), {
      direction: 'incoming',
      message: {
        chat: { native: room, surface: 'supergroup' },
        from: { native: friendAddress, firstName: 'friend' },
      },
    })
    t.notOk(store.texts().includes('hello'), 'what the session sent is not reported to it')
  })

  await t.test('what was said in a room while nobody was there comes later', async (t) => {
    const { friend, store, room, first, open } = await inRoom(t)
    friend.send(room, 'before')
    await store.message('before')
    await first.stop()
    const missed = Array.from({ length: 60 }, (_, index) => `missed ${index}`)
    for (const body of missed) friend.send(room, body)
    await friend.sees(({ body }) => body === missed.at(-1))
    await open()
    await store.message(missed.at(-1)!)
    friend.send(room, 'after')
    t.match(await store.message('after'), { message: { from: { firstName: 'friend' } } })
    t.strictSame(store.texts().slice(1), ['before', ...missed, 'after'])
  })

  await t.test('answers, corrections and retractions go both ways', async (t) => {
    const { friend, store, room, first, hello } = await inRoom(t)
    const handle = await friend.sees(({ body }) => body === 'hello')
    t.equal(handle.stanzaId, hello.native, 'named as the room names it')

    const theirs = friend.reply(room, hello.native, 'an answer')
    const answer = await store.message('an answer')
    t.match(answer, { message: { replyTo: { native: hello.native } } })
    friend.correct(room, theirs, 'a better answer')
    const native = answer.kind === 'message' ? answer.message.native : ''
    t.match(await store.message('a better answer', 'edited'), { message: { native } })
    friend.retract(room, native)
    const deleted = await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
    t.match(deleted, { chat: room, messages: [native] })

    const edit = { kind: 'edit', chat: room, message: hello.native, content: text('hi') } as const
    t.match(await perform(first, edit), { message: { native: hello.native } })
    await friend.sees(({ replaces, body }) => replaces === handle.id && body === 'hi')
    const reply = await sent(first, room, 'replied', { replyTo: native })
    t.equal((await friend.sees(({ body }) => body === 'replied')).replyTo, native)
    await perform(first, { kind: 'delete', chat: room, message: reply.native })
    await friend.sees(({ retracts }) => retracts === reply.native)
    t.match(await refusalOf(perform(first, { ...edit, message: native })), {
      description: "message can't be edited",
    })
  })

  await t.test('nobody changes what another one wrote', async (t) => {
    const { friend, store, room, hello } = await inRoom(t)
    const { id } = await friend.sees(({ body }) => body === 'hello')
    friend.correct(room, id, 'forged')
    friend.retract(room, hello.native)
    friend.send(room, 'done')
    await store.message('done')
    t.strictSame(store.texts('edited'), [])
    t.notOk(store.happenings.some(({ kind }) => kind === 'deleted'))
  })

  await t.test('a message into a room survives a cut, once', async (t) => {
    const { account, friend, store, room, first } = await inRoom(t)
    account.relay.cut()
    const { native } = await sent(first, room, 'through the cut')
    const seen = await friend.sees(({ body }) => body === 'through the cut')
    t.equal(seen.stanzaId, native)
    await friend.ask(room, persistent)
    friend.send(room, 'to stay')
    await store.message('to stay')
    await network.server.kill()
    const waiting = sent(first, room, 'through the restart')
    await network.server.up()
    await friend.join(room, 'friend-again')
    await waiting
    friend.send(room, 'last')
    await store.message('last')
    for (const body of ['through the cut', 'through the restart']) {
      // The room repeats itself to those who come in.
      const ids = friend.seen.flatMap((seen) => (seen.body === body ? [seen.stanzaId] : []))
      t.equal(new Set(ids).size, 1, body)
    }
  })

  await t.test('another device of the account speaks as the account', async (t) => {
    const { account, friend, store, room } = await inRoom(t)
    const phone = await network.device(account)
    await phone.join(room, 'on-the-phone')
    phone.send(room, 'from the phone')
    await friend.sees(({ body }) => body === 'from the phone')
    t.match(await store.message('from the phone'), {
      direction: 'own',
      message: { from: { native: account.jid } },
    })
  })

  await t.test('a nick that is taken does not keep the account out', async (t) => {
    const { account, friend, first } = await scene(t, network)
    const room = `taken-${account.user}@rooms.xmpp.test`
    await friend.join(room, account.user)
    const { from } = await sent(first, room, 'me too')
    t.equal(from?.firstName, `${account.user}_`)
    await friend.sees(({ body }) => body === 'me too')
  })

  await t.test('a room without an archive is read from its last words', async (t) => {
    const { friend, store, room, first, open } = await inRoom(t, 'forgetful.xmpp.test')
    friend.send(room, 'before')
    t.match(await store.message('before'), {
      message: { from: { native: `${room}/friend`, firstName: 'friend' } },
    })
    await first.stop()
    friend.send(room, 'missed')
    await friend.sees(({ body }) => body === 'missed')
    await open()
    await store.message('missed')
    friend.send(room, 'after')
    await store.message('after')
    const foreign = store.happenings.filter(({ direction }) => direction === 'incoming')
    t.equal(foreign.length, 4, 'each once')
  })

  await t.test('nothing is missed in it though somebody writes as of the future', async (t) => {
    const { friend, store, room, first, open } = await inRoom(t, 'forgetful.xmpp.test')
    const delay = { from: room, stamp: '9999-01-01T00:00:00Z' }
    friend.send(room, 'of the future', ['{urn:xmpp:delay}delay', delay])
    const { at } = await store.message('of the future')
    t.ok(at <= Date.now() / 1000)
    await first.stop()
    friend.send(room, 'missed')
    await friend.sees(({ body }) => body === 'missed')
    await open()
    await store.message('missed')
  })

  await t.test('nothing is missed in it though the clocks differ', async (t) => {
    const { friend, store, room, first, open } = await inRoom(t, 'forgetful.xmpp.test')
    friend.send(room, 'before')
    await store.message('before')
    await first.stop()
    // As if this machine was half a minute ahead of the server.
    store.checkpoint = JSON.parse(
      JSON.stringify(store.checkpoint, (name, value) => (name === 'at' ? value + 30 : value)),
    )
    friend.send(room, 'missed')
    await friend.sees(({ body }) => body === 'missed')
    await open()
    await store.message('missed')
    t.equal(store.texts().filter((body) => body === 'before').length, 1)
  })

  await t.test('a room that is not there is not made', async (t) => {
    const { first, account } = await scene(t, network)
    const room = `no-${account.user}@rooms.xmpp.test`
    const notFound = { code: 'bad_request', description: 'chat not found' }
    t.match(await refusalOf(perform(first, sending(room, 'x'))), notFound)
    t.match(await refusalOf(perform(first, { kind: 'resolve', name: room })), notFound)
  })

  await t.test('a room is found and described before it is joined', async (t) => {
    const { account, friend, first } = await scene(t, network)
    const room = `seen-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    for (const operation of [
      { kind: 'resolve', name: room },
      { kind: 'describe', chat: room },
    ] as const) {
      t.match(await perform(first, operation), {
        kind: 'chat',
        chat: { native: room, surface: 'supergroup', username: room },
      })
    }
  })

  await t.test('whoever is banned is told so', async (t) => {
    const { account, friend, room, first } = await inRoom(t)
    const ban = `<query xmlns="http://jabber.org/protocol/muc#admin"><item affiliation="outcast" jid="${account.jid}"/></query>`
    await friend.ask(room, ban)
    friend.send(room, 'they are gone')
    await friend.sees(({ body }) => body === 'they are gone')
    const failure = await refusalOf(perform(first, sending(room, 'let me in')))
    t.match(failure, {
      code: 'forbidden',
      description: 'bot was kicked from the supergroup chat',
    })
  })
})
