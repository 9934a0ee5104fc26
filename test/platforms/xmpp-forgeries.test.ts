/** What a hostile peer puts into its messages changes nothing but what the peer itself says. */
import t from 'tap'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

t.test('forgeries on XMPP', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

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
})
