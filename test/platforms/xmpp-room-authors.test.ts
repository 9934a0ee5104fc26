/** Who wrote what in a room: believed to the room alone, and remembered over restarts. */
import t, { type Test } from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { perform, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest, unable } from './xmpp/under-test.ts'

const nativeOf = (happening: Happening) =>
  'message' in happening && happening.message ? happening.message.native : ''
const mucUser = 'http://jabber.org/protocol/muc#user'

/** Else anybody may have had the nick. */
const isTold = unable('tell occupants apart by ids').skip === false
const veiled = `<query xmlns="http://jabber.org/protocol/muc#owner"><x xmlns="jabber:x:data" type="submit">
  <field var="FORM_TYPE"><value>http://jabber.org/protocol/muc#roomconfig</value></field>
  <field var="muc#roomconfig_whois"><value>moderators</value></field>
  <field var="muc#roomconfig_persistentroom"><value>1</value></field></x></query>`

t.test('authors in XMPP rooms', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  async function inRoom(t: Test) {
    const all = await scene(t, network)
    const room = `authors-${all.account.user}@rooms.xmpp.test`
    await all.friend.join(room, 'friend')
    const hello = await sent(all.first, room, 'hello')
    return { ...all, room, hello }
  }

  await t.test('nobody writes as somebody else while the account is away', async (t) => {
    const { account, friend, chat, store, room, first, open } = await inRoom(t)
    await first.stop()
    const forged = (jid: string) =>
      [`{${mucUser}}x`, { xml: `<item xmlns='${mucUser}' jid='${jid}'/>` }] as const
    friend.send(room, 'as the account', forged(account.jid))
    const victim = await network.friend()
    friend.send(room, 'as a third', forged(victim.jid))
    await friend.sees(({ body }) => body === 'as a third')
    await open()
    for (const text of ['as the account', 'as a third']) {
      t.match(await store.message(text), {
        direction: 'incoming',
        recovered: true,
        message: { from: { native: chat, firstName: 'friend' } },
      })
    }
  })

  await t.test('whoever had the nick of the account meanwhile is not the account', async (t) => {
    const { account, friend, chat, store, room, first, open } = await inRoom(t)
    await first.stop()
    const other = await network.friend()
    await other.join(room, account.user)
    other.send(room, 'under your name')
    await friend.sees(({ body }) => body === 'under your name')
    await other.disconnect()
    friend.send(room, 'seen it?')
    await open()
    await store.message('seen it?')
    t.match(await store.message('under your name'), {
      direction: 'incoming',
      message: { from: { native: other.jid.split('/')[0], firstName: account.user } },
    })
    t.match(await store.message('seen it?'), { message: { from: { native: chat } } })
  })

  await t.test('a change of what was written before a restart is a change', async (t) => {
    const { friend, store, room, first, open } = await inRoom(t)
    const id = friend.send(room, 'a word')
    const word = nativeOf(await store.message('a word'))
    friend.send(room, 'another')
    const other = nativeOf(await store.message('another'))
    await first.stop()
    await open()
    friend.send(room, 'are you back?')
    await store.message('are you back?')
    friend.correct(room, id, 'a better word')
    t.match(await store.message('a better word', 'edited'), { message: { native: word } })
    friend.retract(room, other)
    t.match(await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted')), {
      messages: [other],
    })
  })

  await t.test('whoever takes the nick of somebody does not change their words', async (t) => {
    const { friend, store, room } = await inRoom(t)
    const id = friend.send(room, 'mine')
    const mine = nativeOf(await store.message('mine'))
    await friend.disconnect()
    const other = await network.friend()
    await other.join(room, 'friend')
    other.correct(room, id, 'forged')
    other.retract(room, mine)
    other.send(room, 'done')
    await store.message('done')
    t.strictSame(store.texts('edited'), [])
    t.notOk(store.happenings.some(({ kind }) => kind === 'deleted'))
  })
  await t.test('nor where the room shows no addresses', async (t) => {
    const { account, friend, store, first } = await scene(t, network)
    const room = `hidden-${account.user}@forgetful.xmpp.test`
    await friend.join(room, 'friend')
    await sent(first, room, 'hello')
    const id = friend.send(room, 'mine')
    await store.message('mine')
    friend.correct(room, id, 'mine still')
    await store.message('mine still', 'edited')
    await friend.disconnect()
    const other = await network.friend()
    await other.join(room, 'friend')
    other.correct(room, id, 'forged')
    await store.message('forged')
    t.strictSame(store.texts('edited'), ['mine still'])
  })

  await t.test(
    'where addresses are hidden a change over a break is joined if the room says by whom',
    async (t) => {
      const { account, friend, store, first, open } = await scene(t, network)
      const room = `veiled-${account.user}@rooms.xmpp.test`
      await friend.join(room, 'friend')
      await friend.ask(room, veiled)
      await sent(first, room, 'hello')
      const [mine, , last] = ['mine', 'to go', 'to stay'].map((body) => friend.send(room, body))
      const [word, away] = [await store.message('mine'), await store.message('to go')]
      t.match(word, { message: { from: { native: `${room}/friend` } } }, 'no address is shown')
      await store.message('to stay')
      await first.stop()
      friend.correct(room, mine!, 'mine still')
      friend.retract(room, nativeOf(away))
      await friend.sees(({ retracts }) => retracts === nativeOf(away))
      await friend.disconnect()
      const other = await network.friend()
      await other.join(room, 'friend')
      other.correct(room, last!, 'forged')
      other.send(room, 'done')
      const second = await open()
      await store.message('done')
      const changed = isTold ? 'edited' : 'message'
      const changing = nativeOf(await store.message('mine still', changed))
      t.equal(changing === nativeOf(word), isTold)
      t.match(
        store.happenings.filter(({ kind }) => kind === 'deleted'),
        isTold ? [{ chat: room, messages: [nativeOf(away)] }] : { length: 0 },
      )
      t.strictSame(store.texts('edited'), isTold ? ['mine still'] : [])
      const past = await perform(second, { kind: 'read_history', chat: room, limit: 9 })
      const texts = (past.kind === 'history' ? past.messages : []).map(
        ({ message: { content } }) => content.kind === 'text' && content.text,
      )
      const apart = ['done', 'forged', 'mine still', 'to stay', 'to go', 'mine', 'hello']
      t.strictSame(texts, isTold ? ['done', 'to stay', 'mine still', 'hello'] : apart)
    },
  )

  await t.test('nor does a bot pass on what they make of them', async (t) => {
    const { friend, chat, store, first, room } = await inRoom(t)
    const id = friend.send(room, 'mine')
    const mine = nativeOf(await store.message('mine'))
    await friend.disconnect()
    const other = await network.friend()
    await other.join(room, 'friend')
    other.correct(room, id, 'forged')
    await store.message('forged')
    const copied = await perform(first, { kind: 'copy', from: room, message: mine, chat })
    t.match(copied, { message: { content: { text: 'mine' } } })
  })

  await t.test('whoever calls a message as the room calls another is not in its way', async (t) => {
    const { friend, store, first, open, room, hello } = await inRoom(t)
    friend.sendNamed(room, hello.native, 'I am the hello')
    await store.message('I am the hello')
    await first.stop()
    const content = { kind: 'text', text: 'hello again', entities: [] } as const
    const edit = { kind: 'edit', chat: room, message: hello.native, content } as const
    t.match(await perform(await open(), edit), { message: { native: hello.native } })
    await friend.sees(({ body }) => body === 'hello again')
  })
})
