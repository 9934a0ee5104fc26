/** What a hostile peer puts into its messages changes nothing but what the peer itself says. */
import t, { type Test } from 'tap'
import { says } from './contract/recorder.ts'
import { sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const longAgo = '1999-01-01T00:00:00Z'

t.test('forgeries on XMPP', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  async function inRoom(t: Test, host: string) {
    const all = await scene(t, network)
    const room = `forgeries-${all.account.user}@${host}`
    await all.friend.join(room, 'friend')
    await sent(all.first, room, 'hello')
    return { ...all, room }
  }

  await t.test('an id in the name of the archive is not its place in it', async (t) => {
    const { account, friend, store, first, open } = await scene(t, network)
    const forged = { by: account.jid, id: 'forged' }
    friend.send(account.jid, 'named', ['{urn:xmpp:sid:0}stanza-id', forged])
    const { sourceKey } = await store.message('named')
    t.notMatch(sourceKey, 'forged')
    t.notMatch(JSON.stringify(store.checkpoint), 'forged')
    await first.stop()
    friend.send(account.jid, 'missed')
    await open()
    await store.message('missed')
    t.equal(store.texts().filter((text) => text === 'named').length, 1)
  })

  await t.test('people are heard at once, however long ago they say they wrote', async (t) => {
    const { account, friend, store, first, open } = await scene(t, network, {
      settleMilliseconds: [],
    })
    await first.stop()
    await open()
    const delay = { from: network.server.domain, stamp: longAgo }
    let turn = 0
    const isToldLive = () =>
      store.happenings.some((told) => !told.recovered && says(told, 'message', `backdated ${turn}`))
    // What comes before the stream has settled is read from the archive.
    while (!isToldLive()) {
      if (turn === 100) return t.fail('they were never heard')
      turn += 1
      friend.send(account.jid, `backdated ${turn}`, ['{urn:xmpp:delay}delay', delay])
      friend.send(account.jid, `after ${turn}`)
      await store.message(`after ${turn}`)
    }
    t.ok(store.happenings.every(({ at }) => at > Date.now() / 1000 - 60))
  })

  await t.test(
    'nobody changes what the account has written, on whatever device and whenever',
    async (t) => {
      const { account, chat, friend, store, first, open } = await scene(t, network)
      const phone = await network.device(account)
      const { native } = await sent(first, chat, 'by the session before')
      await first.stop()
      await open()
      const named = phone.send(chat, 'by the phone')
      await store.message('by the phone')
      for (const id of [native, named]) {
        friend.correct(account.jid, id, 'never said')
        friend.retract(account.jid, id)
      }
      const mine = friend.send(account.jid, 'a qestion')
      friend.correct(account.jid, mine, 'a question')
      await store.message('a question', 'edited')
      t.strictSame(store.texts('edited'), ['a question'])
      t.notOk(store.happenings.some(({ kind }) => kind === 'deleted'))
    },
  )

  for (const host of ['rooms.xmpp.test', 'forgetful.xmpp.test']) {
    await t.test(`people of ${host} do not say when they wrote`, async (t) => {
      const { friend, store, room } = await inRoom(t, host)
      friend.send(room, 'backdated', ['{urn:xmpp:delay}delay', { from: room, stamp: longAgo }])
      const { at } = await store.message('backdated')
      t.ok(at > Date.now() / 1000 - 60)
    })
  }

  await t.test('words in the envelope of an answer of an archive are words', async (t) => {
    const { account, friend, store, room } = await inRoom(t, 'rooms.xmpp.test')
    const result = ['{urn:xmpp:mam:2}result', { id: '1', queryid: 'guessed' }] as const
    for (const to of [account.jid, room]) {
      friend.send(to, `to ${to}`, result)
      t.match(await store.message(`to ${to}`), { direction: 'incoming', recovered: undefined })
    }
  })

  await t.test('words beside a receipt are words', async (t) => {
    const { account, chat, first, friend, store, room } = await inRoom(t, 'rooms.xmpp.test')
    const { native: id } = await sent(first, chat, 'to the friend')
    for (const to of [account.jid, room]) {
      friend.send(to, `read in ${to}`, ['{urn:xmpp:chat-markers:0}displayed', { id }])
      t.match(await store.message(`read in ${to}`), { direction: 'incoming' })
    }
  })
})
