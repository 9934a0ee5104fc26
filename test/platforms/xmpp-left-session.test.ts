/** A session that is handed over: the next one, in another process, goes on with its stream, and nothing is lost or doubled. */
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { fieldsOf } from '../../src/platforms/kit/platform.ts'
import { until } from '../support/client.ts'
import type { XmppServerOptions } from '../support/xmpp-server.ts'
import { type Run, run } from './contract/recorder.ts'
import { perform, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

/** What a login does and a resumption does not: read an archive, get a resource, appear, and enter rooms. */
const LOGIN = /urn:xmpp:mam:2|xmpp-bind|<presence|urn:xmpp:carbons|bookmarks/

/** A session that has just logged in is at rest once it has read the archive again after these times. */
const quick = { settleMilliseconds: [100, 200] }
/** So much later it has done so, even on a busy machine. */
const AT_REST_MS = 3_000

/** The log is away from the first event that follows `happens` on. */
async function handsOverUnstored({ session, store }: Run, happens: () => unknown): Promise<void> {
  const commit = store.commit
  const away = Promise.withResolvers<never>()
  const stuck = new Promise<void>((resolve) => {
    store.commit = async () => {
      resolve()
      await away.promise
    }
  })
  happens()
  await stuck
  const leaving = session.handOver?.()
  away.reject(new Error('the log is away'))
  await leaving
  store.commit = commit
}

/** At rest once the archive was read for the last time after its login. */
async function handsOver({ session, store }: Run): Promise<void> {
  await until(async () => {
    await session.handOver?.()
    return fieldsOf(store.secrets).left !== undefined
  }, 30_000)
  await session.close({ signOut: false })
}

async function begun(t: Test, network: Network) {
  const all = await scene(t, network, quick)
  const { account, store } = all
  return {
    ...all,
    /** In another process, which knows nothing but what is stored. */
    async next() {
      const wire = account.relay.overhear()
      const opened = run(network.platform(quick), store)
      t.teardown(() => opened.stop())
      await opened.reported('opened')
      const [asked, answered] = [() => wire.asked.join(''), () => wire.answered.join('')]
      return Object.assign(opened, { asked, answered })
    },
  }
}

t.test('a stream of XMPP that is handed over', { skip: serverUnderTest().skip }, async (t) => {
  t.setTimeout(300_000)
  const network = await Network.start(t)

  await t.test('goes on, and messages of the gap arrive once', async (t) => {
    const { account, friend, chat, store, first, next } = await begun(t, network)
    await handsOver(first)
    for (const text of ['one', 'two', 'three']) friend.send(account.jid, text)
    // ejabberd does not keep the order of what comes while a stream goes on.
    friend.send(friend.jid, 'all are there')
    await friend.sees(({ body }) => body === 'all are there')
    const second = await next()
    await store.message('three')
    t.match(second.asked(), /<resume [^>]*h="\d+"/)
    t.match(second.answered(), /<resumed /)
    await sent(second, chat, 'an answer')
    await friend.sees(({ body }) => body === 'an answer')
    t.equal(fieldsOf(store.secrets).left, undefined, 'the counters are used once')

    friend.send(account.jid, 'four')
    await store.message('four')
    await handsOver(second)
    friend.send(account.jid, 'five')
    const third = await next()
    await store.message('five')
    await sent(third, chat, 'another answer')
    await friend.sees(({ body }) => body === 'another answer')

    t.same(store.texts(), ['the first words', 'one', 'two', 'three', 'four', 'five'])
    for (const text of ['an answer', 'another answer']) {
      t.equal(friend.seen.filter(({ body }) => body === text).length, 1)
    }
    for (const { asked } of [second, third]) t.notMatch(asked(), LOGIN)
  })

  await t.test('has the account in its rooms', async (t) => {
    const { account, friend, store, first, next } = await begun(t, network)
    const room = `left-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await sent(first, room, 'hello')
    const before = friend.send(room, 'befroe')
    const { native } = await nativeOf(store, 'befroe')
    await handsOver(first)
    friend.correct(room, before, 'before')
    friend.send(room, 'in the gap')
    const second = await next()
    await store.message('in the gap')
    const edited = await store.message('before', 'edited')
    t.match(edited, { message: { native, chat: { native: room } } })
    const { asked } = second
    t.notMatch(asked(), /<presence|xmpp-bind|urn:xmpp:carbons|bookmarks/)
    t.same(await perform(second, { kind: 'count_members', chat: room }), {
      kind: 'number',
      number: 2,
    })
    const member = await perform(second, {
      kind: 'member',
      chat: room,
      person: friend.jid.split('/')[0]!,
    })
    t.match(member, { member: { person: { firstName: 'friend' } } })
    await sent(second, room, 'still here')
    await friend.sees(({ body }) => body === 'still here')
    t.equal(friend.seen.filter(({ body }) => body === 'still here').length, 1)
    t.notMatch(asked(), /<presence/)
    t.same(store.texts(), ['the first words', 'befroe', 'in the gap'])
    t.same(store.texts('edited'), ['before'])
  })

  await t.test('tells what a room said before it put the account out', async (t) => {
    const { account, friend, store, first, next } = await begun(t, network)
    const room = `out-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await sent(first, room, 'hello')
    await handsOver(first)
    friend.send(room, 'the last words')
    await friend.sees(({ body }) => body === 'the last words')
    const ban = `<item jid="${account.jid}" affiliation="outcast"/>`
    await friend.ask(room, `<query xmlns="http://jabber.org/protocol/muc#admin">${ban}</query>`)
    friend.send(room, 'without it')
    await friend.sees(({ body }) => body === 'without it')
    const second = await next()
    await store.message('the last words')
    t.match(second.answered(), /<resumed /)
  })

  await t.test('gets again what the process before it had not stored', async (t) => {
    const { account, friend, store, first, next } = await begun(t, network)
    await delay(AT_REST_MS)
    await handsOverUnstored(first, () => friend.send(account.jid, 'not stored'))
    t.ok(fieldsOf(store.secrets).left)
    const second = await next()
    await store.message('not stored')
    friend.send(account.jid, 'stored')
    await store.message('stored')
    t.same(store.texts(), ['the first words', 'not stored', 'stored'])
    t.match(second.answered(), /<resumed /)
    t.notMatch(second.asked(), LOGIN)
  })

  await t.test('is not left where the words of a room were not stored', async (t) => {
    const { account, friend, store, first, next } = await begun(t, network)
    const room = `unstored-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await sent(first, room, 'hello')
    friend.send(room, 'stored')
    await store.message('stored')
    await delay(AT_REST_MS)
    await handsOverUnstored(first, () => friend.send(room, 'not stored'))
    t.equal(fieldsOf(store.secrets).left, undefined)
    await next()
    await store.message('not stored')
    t.same(store.texts(), ['the first words', 'stored', 'not stored'])
  })

  for (const lost of ['requests', 'answers'] as const) {
    await t.test(`says once what the server had not confirmed: ${lost} are lost`, async (t) => {
      const { account, friend, chat, store, first, next } = await begun(t, network)
      await delay(AT_REST_MS)
      account.relay.silence(lost)
      await perform(first, { kind: 'act', chat, action: 'typing' })
      if (lost === 'answers') await friend.sees(({ state }) => state === 'composing')
      await handsOver(first)
      const second = await next()
      t.match(second.answered(), /<resumed /)
      t.notMatch(second.asked(), LOGIN)
      await friend.sees(({ state }) => state === 'composing')
      await sent(second, chat, 'the end')
      await friend.sees(({ body }) => body === 'the end')
      t.equal(friend.seen.filter(({ state }) => state === 'composing').length, 1)
      friend.send(account.jid, 'the end')
      await store.message('the end')
    })
  }

  await t.test('is forgotten where the next session cannot use it', async (t) => {
    const { store, first, next } = await begun(t, network)
    await handsOver(first)
    const { left, ...secrets } = fieldsOf(store.secrets)
    const stored = JSON.parse(`${left}`)
    store.secrets = { ...secrets, left: JSON.stringify({ ...stored, at: stored.at - 86_400 }) }
    const second = await next()
    t.match(second.asked(), /xmpp-bind/)
    t.same(Object.keys(fieldsOf(store.secrets)).sort(), Object.keys(secrets).sort())
  })

  await t.test('is not left while a send is unconfirmed: the next session looks', async (t) => {
    const { account, friend, chat, store, first, next } = await begun(t, network)
    await delay(AT_REST_MS)
    account.relay.silence('answers')
    const sending = sent(first, chat, 'unconfirmed').catch((cause: unknown) => cause)
    await friend.sees(({ body }) => body === 'unconfirmed')
    await first.session.handOver?.()
    t.equal(fieldsOf(store.secrets).left, undefined)
    await first.session.close({ signOut: false })
    t.match(await sending, { failure: { certain: false } })
    const second = await next()
    t.match(second.asked(), /xmpp-bind/)
    t.equal(friend.seen.filter(({ body }) => body === 'unconfirmed').length, 1)
  })
})

t.test(
  'a stream that the server has given up is followed by a login',
  { skip: serverUnderTest().skip },
  async (t) => {
    t.setTimeout(120_000)
    const options: XmppServerOptions = { hibernationSeconds: 1 }
    const network = await Network.start(t, options)
    const { account, friend, chat, store, first, next } = await begun(t, network)
    await handsOver(first)
    await delay(3_000)
    friend.send(account.jid, 'meanwhile')
    const second = await next()
    await store.message('meanwhile')
    t.match(second.answered(), /<failed /)
    const { resource } = fieldsOf(store.secrets)
    t.ok(second.asked().includes(`<resource>${resource}</resource>`), 'under its own name')
    await sent(second, chat, 'here again')
    await friend.sees(({ body }) => body === 'here again')
    t.same(store.texts(), ['the first words', 'meanwhile'])
  },
)

async function nativeOf(store: Run['store'], text: string) {
  const found = await store.message(text)
  if (found.kind !== 'message') throw new Error('it is no message')
  return found.message
}
