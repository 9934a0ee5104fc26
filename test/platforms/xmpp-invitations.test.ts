/** Being asked into rooms and put out of them, and whispers between those who are in one. */

import { setImmediate as turn } from 'node:timers/promises'
import { xml } from '@xmpp/client'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import { parseInvited, readInvitation } from '../../src/platforms/xmpp/invitation.ts'
import { bookmarks } from '../../src/platforms/xmpp/rooms/bookmarks.ts'
import { Invitations } from '../../src/platforms/xmpp/rooms/invitations.ts'
import { quietLogger } from '../support/logger.ts'
import { patience, type Store } from './contract/recorder.ts'
import { perform, refusalOf, sending, sent } from './contract/scene.ts'
import { Network } from './xmpp/network.ts'
import { deviceOf, scene, until } from './xmpp/scene.ts'
import { serverUnderTest } from './xmpp/under-test.ts'

const mucUser = 'http://jabber.org/protocol/muc#user'
const admin = (item: string) =>
  `<query xmlns="http://jabber.org/protocol/muc#admin"><item ${item}/></query>`
const locked = (password: string) => `<query xmlns="http://jabber.org/protocol/muc#owner">
  <x xmlns="jabber:x:data" type="submit">
  <field var="FORM_TYPE"><value>http://jabber.org/protocol/muc#roomconfig</value></field>
  <field var="muc#roomconfig_roomsecret"><value>${password}</value></field></x></query>`

/** What the account was told of its own standing in a room. */
const standings = ({ happenings }: Store, chat: string) =>
  happenings.flatMap((one: Happening) =>
    one.kind === 'member' && one.isSelf && one.chat.native === chat ? [one] : [],
  )
const told = (store: Store, chat: string, count: number) =>
  store.until(() => (standings(store, chat).length >= count ? standings(store, chat) : undefined))

t.test('an invitation is read from either form', async (t) => {
  const message = (from: string, ...children: ReturnType<typeof xml>[]) =>
    readInvitation(xml('message', { from }, ...children))
  const invite = xml('invite', { from: 'ada@x.test/home' })
  const user = xml('x', mucUser, invite, xml('password', {}, 'secret'))
  t.strictSame(message('room@r.test', user), {
    room: 'room@r.test',
    by: 'ada@x.test',
    password: 'secret',
  })
  const direct = (jid: string) => xml('x', { xmlns: 'jabber:x:conference', jid })
  t.match(message('ada@x.test/home', direct('room@r.test')), {
    room: 'room@r.test',
    by: 'ada@x.test',
  })
  t.match(message('room@r.test/ada', direct('room@r.test')), { by: 'room@r.test/ada' })
  for (const jid of ['', 'r.test', 'not an address']) {
    t.equal(message('ada@x.test', direct(jid)), undefined)
  }
  t.equal(message('room@r.test', xml('x', mucUser, xml('decline', {}))), undefined)
  t.strictSame(parseInvited({ invited: [{ key: 'k' }, 'x', null] }), [])
})

t.test('an invitation that cannot be answered now is kept for a while', async (t) => {
  const now = Math.floor(Date.now() / 1000)
  const by = 'ada@x.test'
  const at = (key: string, seconds: number) => ({ key, room: `${key}@r.test`, by, at: seconds })
  let invited = [at('slow', now), at('old', now - 100_000), at('closed', now)]
  const asked: string[] = []
  const invitations = new Invitations({
    logger: quietLogger,
    failed: (cause) => t.fail(`${cause}`),
    ledger: {
      get invited() {
        return invited
      },
      answered: async ({ key }) => {
        invited = invited.filter((other) => other.key !== key)
      },
    },
    enter: async ({ key }) => {
      asked.push(key)
      if (key === 'closed') throw failed('forbidden')
      throw new DOMException('too slow', 'TimeoutError')
    },
  })
  invitations.wake()
  t.strictSame(asked, [], 'not before there is a stream')
  for (const count of [3, 4]) {
    invitations.begin(new AbortController().signal)
    while (asked.length < count) await turn()
    await turn()
  }
  t.strictSame(asked, ['slow', 'old', 'closed', 'slow'])
  t.match(invited, [{ key: 'slow' }])
})

t.test('invitations over a server', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  await t.test('whoever is invited comes, and is told by whom', async (t) => {
    const { account, friend, chat, store, first, open } = await scene(t, network)
    const room = `mediated-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await friend.ask(room, locked('open sesame'))
    friend.invite(room, account.jid, 'mediated')
    const [joined] = await told(store, room, 1)
    t.match(joined, {
      chat: { native: room, surface: 'supergroup' },
      by: { native: chat },
      before: { status: 'left' },
      after: { status: 'member', person: { native: account.jid } },
    })
    friend.send(room, 'welcome')
    await store.message('welcome')
    friend.invite(room, account.jid, 'direct')
    await first.stop()
    await open()
    friend.send(room, 'still there?')
    await store.message('still there?')
    t.equal(standings(store, room).length, 1, 'who is in need not be invited')
  })

  await t.test('an invitation waits for whoever is away', async (t) => {
    const { account, friend, chat, store, first, open } = await scene(t, network)
    const room = `direct-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await first.stop()
    friend.invite(room, account.jid, 'direct')
    const id = friend.send(friend.jid, 'a note to oneself')
    await friend.sees((seen) => seen.id === id)
    await open()
    t.match(await told(store, room, 1), [{ by: { native: chat }, after: { status: 'member' } }])
    friend.send(room, 'welcome')
    await store.message('welcome')
    t.strictSame(store.texts(), ['the first words', 'welcome'])
    t.notMatch(store.checkpoint, { invited: [] }, 'it is dealt with')
  })

  await t.test('an invitation to nowhere changes nothing', async (t) => {
    const { account, friend, store } = await scene(t, network)
    for (const room of [`no-${account.user}@rooms.xmpp.test`, account.jid, friend.jid]) {
      friend.invite(room, account.jid, 'direct')
    }
    const real = `real-${account.user}@rooms.xmpp.test`
    await friend.join(real, 'friend')
    friend.invite(real, account.jid, 'direct')
    await told(store, real, 1)
    t.equal(store.happenings.filter(({ kind }) => kind === 'member').length, 1)
  })

  await t.test('whoever is put out is told so, and stays out', async (t) => {
    const { account, friend, chat, store, first, open } = await scene(t, network)
    const room = `out-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await sent(first, room, 'hello')
    await friend.ask(room, admin(`nick="${account.user}" role="none"`))
    const by = { native: chat, firstName: 'friend' }
    t.match(await told(store, room, 1), [
      { by, before: { status: 'member' }, after: { status: 'left' } },
    ])
    const device = await deviceOf(t, account)
    await until(async () => (await bookmarks(device, patience())).length === 0)
    await first.stop()
    const second = await open()
    friend.send(room, 'among ourselves')
    friend.send(account.jid, 'between us')
    await store.message('between us')
    t.notOk(store.texts().includes('among ourselves'))
    await sent(second, room, 'back again')
    await friend.ask(room, admin(`jid="${account.jid}" affiliation="outcast"`))
    t.match((await told(store, room, 2))[1], { by, after: { status: 'kicked' } })
  })

  await t.test('whispers go both ways, and to nobody else', async (t) => {
    const { account, friend, store, first, open } = await scene(t, network)
    const room = `whisper-${account.user}@rooms.xmpp.test`
    await friend.join(room, 'friend')
    await sent(first, room, 'hello')
    const chat = `${room}/friend`
    const id = friend.whisper(`${room}/${account.user}`, 'psst')
    t.match(await store.message('psst'), {
      direction: 'incoming',
      message: { chat: { native: chat, surface: 'private' }, from: { native: chat } },
    })
    const answer = await sent(first, chat, 'what?', { replyTo: id })
    t.match(answer, { chat: { native: chat, firstName: 'friend' }, from: { native: account.jid } })
    const seen = await friend.sees(({ body }) => body === 'what?')
    t.match(seen, { type: 'chat', from: `${room}/${account.user}`, replyTo: id })
    const edit = { kind: 'edit', chat, message: answer.native } as const
    const content = { kind: 'text', text: 'what is it?', entities: [] } as const
    await perform(first, { ...edit, content })
    await friend.sees(({ body, replaces }) => body === 'what is it?' && replaces === answer.native)
    friend.correct(`${room}/${account.user}`, id, 'nothing')
    t.match(await store.message('nothing', 'edited'), { message: { native: id } })

    await first.stop()
    friend.whisper(`${room}/${account.user}`, 'gone?')
    const second = await open()
    await sent(second, chat, 'here again')
    await friend.sees(({ body }) => body === 'here again')
    t.notOk(store.texts().includes('what?'), 'what the session sent is not reported to it')
    const nobody = sending(`${room}/nobody`, 'x')
    t.match(await refusalOf(perform(second, nobody)), { description: 'chat not found' })
  })
})
