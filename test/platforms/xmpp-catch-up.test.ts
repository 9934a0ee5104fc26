/** What happened while no session was open comes out of the archive: all of it, in order, once. */
import t from 'tap'
import { run } from './contract/recorder.ts'
import { sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

t.test('XMPP catch-up', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  await t.test('pages of messages are fetched in order', async (t) => {
    const { account, friend, store, first, open } = await scene(t, network)
    await first.stop()
    const texts = Array.from({ length: 130 }, (_, index) => `missed ${index}`)
    for (const text of texts) friend.send(account.jid, text)
    const elsewhere = await network.device(account)
    await elsewhere.until((line) => line.message?.body === texts.at(-1) || undefined)
    await open()
    await store.message(texts.at(-1)!)
    t.strictSame(store.texts().slice(1), texts)
    t.equal(reportsOf(store, 'missed 64'), 1, 'nothing was even reported twice')
  })

  await t.test('what the account did on another device meanwhile is its own', async (t) => {
    const { account, friend, chat, store, first, open } = await scene(t, network)
    await first.stop()
    const phone = await network.device(account)
    const id = phone.send(chat, 'from the phone')
    phone.correct(chat, id, 'from the telephone')
    phone.retract(chat, id)
    await friend.sees(({ retracts }) => retracts === id)
    await open()
    const deleted = await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
    t.match(deleted, { direction: 'own', chat, messages: [id], recovered: true })
    t.match(await store.message('from the phone'), {
      direction: 'own',
      sourceKey: `own:${id}`,
      message: { native: id, chat: { native: chat }, from: { native: account.jid } },
    })
    t.match(await store.message('from the telephone', 'edited'), { message: { native: id } })
  })

  await t.test('what an earlier session sent is recognised by its id', async (t) => {
    const { account, friend, chat, store, first, open } = await scene(t, network)
    const before = store.checkpoint
    const { native } = await sent(first, chat, 'by the first session')
    await first.stop()
    store.checkpoint = before
    await open()
    t.match(await store.message('by the first session'), {
      sourceKey: `own:${native}`,
      direction: 'own',
    })
    friend.send(account.jid, 'later')
    await store.message('later')
  })

  await t.test('the live copy and the archived one have the same source key', async (t) => {
    const { account, friend, platform, store, first } = await scene(t, network)
    const before = store.checkpoint
    friend.send(account.jid, 'twice')
    const live = await store.message('twice')
    await first.stop()
    store.checkpoint = before
    const again = run(platform, store)
    t.teardown(() => again.stop())
    await store.until(() => (reportsOf(store, 'twice') === 2 ? true : undefined))
    const keys = store.reported.filter(({ sourceKey }) => sourceKey === live.sourceKey)
    t.equal(keys.length, 2)
  })

  await t.test('the first start begins now, not with the history', async (t) => {
    const { account, friend, platform, store, first } = await scene(t, network)
    await first.stop()
    store.checkpoint = null
    store.happenings.length = 0
    const fresh = run(platform, store)
    t.teardown(() => fresh.stop())
    await fresh.reported('opened')
    friend.send(account.jid, 'news')
    await store.message('news')
    t.strictSame(store.texts(), ['news'])
  })

  await t.test('a checkpoint that the archive has forgotten is found by its time', async (t) => {
    const { account, friend, store, first, open } = await scene(t, network)
    await first.stop()
    store.checkpoint = { mam: 'forgotten', at: Math.floor(Date.now() / 1000) }
    friend.send(account.jid, 'missed')
    await open()
    await store.message('missed')
    t.strictSame(store.texts(), ['the first words', 'missed'])
  })
})

const reportsOf = (store: { reported: readonly object[] }, text: string) =>
  store.reported.filter((happening) => JSON.stringify(happening).includes(`"${text}"`)).length
