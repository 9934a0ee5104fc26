/** Rooms that the account falls out of by nobody's will: it goes back, and misses nothing. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Element, xml } from '@xmpp/client'
import t, { type Test } from 'tap'
import type { IncomingMessage } from '../../src/platforms/xmpp/delivery.ts'
import { Requests } from '../../src/platforms/xmpp/requests.ts'
import { Entrance } from '../../src/platforms/xmpp/rooms/entrance.ts'
import { removal } from '../../src/platforms/xmpp/rooms/reading.ts'
import { Room, type RoomParts } from '../../src/platforms/xmpp/rooms/room.ts'
import { Tending } from '../../src/platforms/xmpp/rooms/tending.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { Prosody } from '../support/prosody.ts'
import { patience } from './contract/recorder.ts'
import { perform, sent } from './contract/scene.ts'
import { Network, type Tuning } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'
import { serverUnderTest, unable } from './xmpp/under-test.ts'

const affiliation = (jid: string, value: string) =>
  `<query xmlns="http://jabber.org/protocol/muc#admin"><item jid="${jid}" affiliation="${value}"/></query>`

/** Addresses are for moderators only. */
const hiding = `<query xmlns="http://jabber.org/protocol/muc#owner"><x xmlns="jabber:x:data" type="submit">
  <field var="FORM_TYPE"><value>http://jabber.org/protocol/muc#roomconfig</value></field>
  <field var="muc#roomconfig_whois"><value>moderators</value></field></x></query>`

const facts = { hasArchive: false, givesIds: true, showsAddresses: true }

t.test('two on the way in do not shut each other out', async (t) => {
  const stream = { sendWhenUp: async () => undefined }
  const entrance = new Entrance({ room: 'room@r.test', nick: 'me' }, stream)
  const welcome = () =>
    entrance.take(
      xml(
        'presence',
        { from: 'room@r.test/me' },
        xml('x', 'http://jabber.org/protocol/muc#user', xml('status', { code: '110' })),
      ),
    )
  const ending = new AbortController()
  const first = entrance.enter(undefined, ending.signal)
  const second = entrance.enter(undefined, patience())
  ending.abort(new Error('no time'))
  await t.rejects(first, { message: 'no time' })
  welcome()
  await second
  const both = [1, 2].map(() => entrance.enter(undefined, patience()))
  welcome()
  await Promise.all(both)
})

t.test('what a room repeats keeps its time, behind a former subject as well', async (t) => {
  const room = 'room@r.test'
  const stamp = '2020-01-01T00:00:00Z'
  const then = Date.parse(stamp) / 1000
  const delayed = xml('delay', { xmlns: 'urn:xmpp:delay', from: room, stamp })
  const orders: Readonly<Record<string, readonly Element[]>> = {
    'the last subject has no time': [],
    'the last subject has a time': [delayed],
  }
  for (const [order, time] of Object.entries(orders)) {
    const told: IncomingMessage[] = []
    const ledger = {
      checkpoint: () => ({ at: then }),
      commit: async (said: readonly IncomingMessage[]) => void told.push(...said),
    }
    const { promise: asked, resolve } = Promise.withResolvers<void>()
    const stream = { sendWhenUp: async () => resolve() }
    const parts = { own: 'me@here.test', nick: 'me', ledger, stream, sent: () => false }
    const entered = new Room({ room }, facts, parts as unknown as RoomParts)
    const says = (...words: Element[]) =>
      entered.takeMessage(xml('message', { type: 'groupchat', from: `${room}/bob` }, ...words))
    const joining = entered.join(facts, patience())
    await asked
    entered.takePresence(
      xml(
        'presence',
        { from: `${room}/me` },
        xml('x', 'http://jabber.org/protocol/muc#user', xml('status', { code: '110' })),
      ),
    )
    says(xml('subject', {}, 'former'), delayed)
    says(xml('body', {}, 'repeated'), delayed)
    says(xml('subject', {}, 'last'), ...time)
    says(xml('body', {}, 'new'))
    says(xml('body', {}, 'backdated'), delayed)
    await joining
    await until(() => told.length === 5)
    const [, repeated, , said, backdated] = told
    t.match(repeated, { at: then, delayed: true }, order)
    t.ok(said!.at > then)
    t.match(backdated, { delayed: undefined }, 'once something new came, nobody says the time')
    t.ok(backdated!.at > then)
  }
})

t.test('a kick for technical reasons is no removal by somebody', async (t) => {
  const muc = 'http://jabber.org/protocol/muc#user'
  const room = 'room@r.test'
  const self = { native: 'me@here.test', firstName: 'me' }
  const standing = {
    chat: { native: room, surface: 'supergroup' },
    self,
    status: 'member',
    person: (nick: string) => ({ native: `${room}/${nick}`, firstName: nick }),
  } as const
  const out = (...codes: string[]) => {
    const statuses = codes.map((code) => xml('status', { code }))
    const attributes = { from: `${room}/me`, type: 'unavailable' }
    return removal(xml('presence', attributes, xml('x', muc, ...statuses)), standing)
  }
  t.match(out('110', '307'), { kind: 'member', isSelf: true, after: { status: 'left' } })
  t.equal(out('110', '307', '333'), undefined)
  t.equal(out('110', '333'), undefined)
  t.match(out('110', '301', '333'), { after: { status: 'kicked' } })
})

t.test(
  'a room that puts the account out after each return is not entered all the time',
  async (t) => {
    const ending = new AbortController()
    t.teardown(() => ending.abort())
    const address = 'room@r.test'
    const rounds: number[] = []
    let round = 0
    const room = {
      address,
      self: { native: 'me@here.test', firstName: 'me' },
      left: () => undefined,
      /** It lets the account in and puts it out again before the next round, but for some time in between. */
      get isJoined() {
        return round > 50 && round < 90
      },
    }
    const tending = new Tending({
      requests: new Requests('me@here.test', async () => undefined),
      logger: quietLogger,
      tendMilliseconds: 1,
      find() {
        round += 1
        if (room.isJoined) tending.heard(address)
        return room
      },
      async enter() {
        rounds.push(round)
      },
    })
    tending.want({ room: address })
    tending.heard(address)
    tending.run(ending.signal)
    while (round < 105) await delay(1)
    t.strictSame(rounds, [1, 12, 23, 34, 45, 90, 101])
  },
)

t.test('the way back into XMPP rooms', { skip: serverUnderTest().skip }, async (t) => {
  const network = await Network.start(t)

  async function forget(room: string, account: string, tells: boolean) {
    if (!(network.server instanceof Prosody)) throw new Error('the server cannot be told to')
    await network.server.forgetOccupant(room, account, tells)
  }

  async function inRoom(t: Test, tuning: Tuning = { tendMilliseconds: 50 }) {
    const all = await scene(t, network, tuning)
    const room = `returns-${all.account.user}@rooms.xmpp.test`
    await all.friend.join(room, 'friend')
    await sent(all.first, room, 'hello')
    return { ...all, room }
  }

  for (const tells of [true, false]) {
    const how = tells ? 'goes away in good order' : 'has forgotten the account'
    await t.test(`a room that ${how} is joined again`, unable('forget an occupant'), async (t) => {
      const { account, friend, store, room, first } = await inRoom(t)
      friend.send(room, 'heard')
      await store.message('heard')
      await forget(room, account.jid, tells)
      friend.send(room, 'unheard')
      t.match(await store.message('unheard'), { message: { chat: { native: room } } })
      friend.send(room, 'heard again')
      await store.message('heard again')
      t.notOk(first.reports.some(([report]) => report === 'lost'))
    })
  }

  await t.test(
    'who left a room while the account was out is not counted',
    unable('forget an occupant'),
    async (t) => {
      // Only what it writes takes it back.
      const { account, friend, store, room, first } = await inRoom(t, {})
      const count = { kind: 'count_members', chat: room } as const
      const other = await network.friend()
      await other.join(room, 'other')
      other.send(room, 'I am in')
      await store.message('I am in')
      t.match(await perform(first, count), { number: 3 })
      await forget(room, account.jid, true)
      await other.disconnect()
      friend.send(account.jid, 'you are out')
      await store.message('you are out')
      await sent(first, room, 'back')
      t.match(await perform(first, count), { number: 2 })
    },
  )

  for (const way of ['a broken connection', 'a restart'] as const) {
    await t.test(
      `who took a nick before the account came back from ${way} changes no words of the former one`,
      unable('forget an occupant'),
      async (t) => {
        const { account, friend, store, first, open } = await scene(t, network)
        const domain = way === 'a restart' ? 'rooms' : 'forgetful'
        const room = `hidden-${account.user}@${domain}.xmpp.test`
        await friend.join(room, 'friend')
        await friend.ask(room, hiding)
        const third = await network.friend()
        await third.join(room, 'third')
        await sent(first, room, 'hello')
        const id = friend.send(room, 'mine')
        t.match(await store.message('mine'), { message: { from: { native: `${room}/friend` } } })
        if (way === 'a restart') await first.stop()
        else await forget(room, account.jid, true)
        await friend.disconnect()
        const other = await network.friend()
        await other.join(room, 'friend')
        const session = way === 'a restart' ? await open() : first
        third.send(account.jid, 'you were out')
        await store.message('you were out')
        await sent(session, room, 'back')
        other.correct(room, id, 'forged')
        await store.message('forged')
        t.strictSame(store.texts('edited'), [])
      },
    )
  }

  await t.test('a room that lets the account in later is joined later', async (t) => {
    const { account, friend, store, room, first, open } = await inRoom(t)
    friend.send(room, 'before')
    await store.message('before')
    await first.stop()
    await friend.ask(room, affiliation(account.jid, 'outcast'))
    friend.send(room, 'keep out')
    await friend.sees(({ body }) => body === 'keep out')
    const again = await open()
    await sent(again, friend.jid.split('/')[0]!, 'let me in')
    await friend.sees(({ body }) => body === 'let me in')
    await friend.ask(room, affiliation(account.jid, 'none'))
    friend.send(room, 'welcome back')
    await store.message('welcome back')
    t.ok(store.texts().includes('keep out'))
  })

  await t.test(
    'a room that the account has left stays left',
    unable('forget an occupant'),
    async (t) => {
      const { account, friend, store, first, room } = await inRoom(t)
      const other = `other-${room}`
      await friend.join(other, 'friend')
      await sent(first, other, 'hello')
      await perform(first, { kind: 'leave', chat: room })
      await forget(other, account.jid, false)
      friend.send(other, 'are you in?')
      await store.message('are you in?')
      friend.send(room, 'and here?')
      friend.send(other, 'good')
      await store.message('good')
      t.notOk(store.texts().includes('and here?'))
    },
  )
})
