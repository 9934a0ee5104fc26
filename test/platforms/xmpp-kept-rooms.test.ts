/** The rooms of an account are its own: whatever its server forgets, it is back in them, and misses nothing. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Element, xml } from '@xmpp/client'
import t, { type Test } from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import type { Json } from '../../machines/model/protocol.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { RequestRefused, type Requests } from '../../src/platforms/xmpp/requests.ts'
import { addBookmark, bookmarks } from '../../src/platforms/xmpp/rooms/bookmarks.ts'
import { KeptRooms, OwedRooms } from '../../src/platforms/xmpp/rooms/kept.ts'
import { xmppServers } from '../support/xmpp-servers.ts'
import { patience } from './contract/recorder.ts'
import { perform, sent } from './contract/scene.ts'
import { MemoryRooms } from './xmpp/kept-rooms.ts'
import { Network } from './xmpp/network.ts'
import { deviceOf, scene, until } from './xmpp/scene.ts'

const persistent = `<query xmlns="http://jabber.org/protocol/muc#owner"><x xmlns="jabber:x:data" type="submit">
  <field var="FORM_TYPE"><value>http://jabber.org/protocol/muc#roomconfig</value></field>
  <field var="muc#roomconfig_persistentroom"><value>1</value></field></x></query>`

for (const { name, skip, start } of xmppServers) {
  t.test(`rooms on ${name}`, { skip }, async (t) => {
    const network = Network.over(t, await start())

    /** An account and a friend in rooms that the friend has opened, to stay. */
    async function inRooms(t: Test, ...names: string[]) {
      const all = await scene(t, network)
      const rooms = names.map((name) => `${name}-${all.account.user}@rooms.xmpp.test`)
      for (const room of rooms) {
        await all.friend.join(room, 'friend')
        await all.friend.ask(room, persistent)
        await sent(all.first, room, `hello, ${room}`)
        await all.friend.sees(({ body }) => body === `hello, ${room}`)
      }
      return { ...all, rooms }
    }

    await t.test('a new session is back in all of them', async (t) => {
      const { friend, store, first, open, rooms } = await inRooms(t, 'a', 'b', 'c')
      await first.stop()
      for (const room of rooms) friend.send(room, `missed in ${room}`)
      await friend.sees(({ body }) => body === `missed in ${rooms[2]}`)
      await open()
      for (const room of rooms) await store.message(`missed in ${room}`)
      for (const room of rooms) {
        friend.send(room, `after in ${room}`)
        await store.message(`after in ${room}`)
      }
    })

    await t.test('a restart of the server puts nobody out', async (t) => {
      const { friend, store, first, open, rooms } = await inRooms(t, 'restarted')
      const [room = ''] = rooms
      friend.send(room, 'before')
      await store.message('before')
      await first.stop()
      await network.server.kill()
      await network.server.up()
      await friend.join(room, 'friend-again')
      friend.send(room, 'missed')
      await friend.sees(({ body }) => body === 'missed')
      await open()
      await store.message('missed')
      friend.send(room, 'after')
      await store.message('after')
      t.equal(store.texts().filter((text) => text === 'before').length, 1)
    })

    await t.test('bookmarks are added to those that devices keep', async (t) => {
      const { account, rooms, first } = await inRooms(t, 'x', 'y', 'z')
      const device = await deviceOf(t, account)
      const found = async () => (await bookmarks(device, patience())).map(({ room }) => room)
      await until(async () => (await found()).length === rooms.length)
      t.strictSame((await found()).toSorted(), rooms.toSorted())
      t.notOk(first.reports.some(([report]) => report === 'unshared'))
    })

    await t.test('a room that is left while it is being bookmarked has no bookmark', async (t) => {
      const { account, rooms, first } = await inRooms(t, 'one', 'two', 'three')
      const [left = '', second = '', third = ''] = rooms.toReversed()
      for (const chat of [left, second]) await perform(first, { kind: 'leave', chat })
      const device = await deviceOf(t, account)
      const found = async () => (await bookmarks(device, patience())).map(({ room }) => room)
      await until(async () => `${await found()}` === third)
      await delay(500)
      t.same(await found(), [third])
    })

    await t.test('a room that another device added is taken over, and kept', async (t) => {
      const { account, friend, store, first, open } = await scene(t, network)
      const room = `added-${account.user}@rooms.xmpp.test`
      await friend.join(room, 'friend')
      const device = await deviceOf(t, account)
      await addBookmark(device, { room, nick: 'myself' }, patience())
      await first.stop()
      const second = await open()
      // It begins with what is said once the account is in.
      const greeting = setInterval(() => friend.send(room, 'welcome'), 100)
      await store.message('welcome').finally(() => clearInterval(greeting))
      const kept = () => network.rooms.load({ credentialId: store.credentialId, epoch: 1 })
      t.match(await kept(), [{ room, nick: 'myself', shared: true }])
      await second.stop()

      // How a device leaves a room: the bookmark stays, and is not joined any more (XEP-0402).
      const node = xml('publish', { node: ns.bookmarks }, leftBehind(room))
      await device.ask('set', xml('pubsub', ns.pubsub, node), { signal: patience() })
      await open()
      friend.send(room, 'are you in?')
      friend.send(account.jid, 'and here?')
      await store.message('and here?')
      await until(async () => (await kept()).length === 0)
      friend.send(account.jid, 'and now?')
      await store.message('and now?')
      t.notOk(store.texts().includes('are you in?'))
    })

    for (const way of ['left', 'put out']) {
      await t.test(`a crash leads an account into no room that it was ${way} of`, async (t) => {
        const { account, friend, store, first, open, rooms } = await inRooms(t, 'gone', 'stays')
        const [gone = '', stays = ''] = rooms
        const device = await deviceOf(t, account)
        const found = async () => (await bookmarks(device, patience())).map(({ room }) => room)
        const owner = { credentialId: store.credentialId, epoch: 1 }
        const kept = () => network.rooms.load(owner)
        await until(async () => (await found()).length === 2)
        const before = await kept()
        // The process ends once it has stored that the account is out, before it has forgotten the room.
        const commit = store.commit.bind(store)
        let atCrash: Json | undefined
        store.commit = (happenings, checkpoint) => {
          if (isOut(checkpoint)) atCrash ??= checkpoint
          commit(happenings, checkpoint)
        }
        if (way === 'left') await perform(first, { kind: 'leave', chat: gone })
        else await friend.ask(gone, kick(account.user))
        await store.until(() => atCrash)
        await first.stop()
        store.checkpoint = atCrash ?? null
        for (const room of before) await network.rooms.keep(owner, room)
        await addBookmark(device, { room: gone }, patience())

        const second = await open()
        friend.send(gone, 'are you in?')
        friend.send(stays, 'and here?')
        await store.message('and here?')
        await until(async () => `${await found()}` === stays)
        await until(async () => `${(await kept()).map(({ room }) => room)}` === stays)
        await store.until(() => !isOut(store.checkpoint) || undefined)
        t.notOk(store.texts().includes('are you in?'))
        await sent(second, gone, 'back again')
        await until(async () => (await found()).length === 2)
        await second.stop()
        await open()
        friend.send(gone, 'and now?')
        await store.message('and now?')
      })
    }

    await t.test('nor does a session that ended before it was stored', async (t) => {
      const { account, friend, store, first, open, rooms } = await inRooms(t, 'gone', 'stays')
      const [gone = '', stays = ''] = rooms
      // The database is away at the moment at which the account is put out.
      const commit = store.commit.bind(store)
      let refused: Happening | undefined
      store.commit = (happenings, checkpoint) => {
        if (!isOut(checkpoint)) return commit(happenings, checkpoint)
        refused = happenings.find(({ kind }) => kind === 'member')
        throw new Error('the database is away')
      }
      await friend.ask(gone, kick(account.user))
      await first.reported('lost')
      t.match(refused, { kind: 'member', chat: { native: gone } })
      store.commit = commit
      const second = await open()
      friend.send(gone, 'are you in?')
      friend.send(stays, 'and here?')
      await store.message('and here?')
      const key = refused?.sourceKey
      await store.until(() => store.happenings.find(({ sourceKey }) => sourceKey === key))
      await store.until(() => !isOut(store.checkpoint) || undefined)
      t.notOk(store.texts().includes('are you in?'))
      await second.stop()
      await open()
      friend.send(gone, 'and now?')
      friend.send(stays, 'and here now?')
      await store.message('and here now?')
      t.notOk(store.texts().includes('and now?'))
    })

    await t.test('a room that the account left is not joined again', async (t) => {
      const { friend, store, first, open, rooms } = await inRooms(t, 'left', 'stays')
      const [left = '', stays = ''] = rooms
      await perform(first, { kind: 'leave', chat: left })
      await first.stop()
      await open()
      friend.send(left, 'are you in?')
      friend.send(stays, 'and here?')
      await store.message('and here?')
      t.notOk(store.texts().includes('are you in?'))
    })
  })

  t.test(`rooms on ${name} without bookmarks`, { skip }, async (t) => {
    const network = Network.over(t, await start({ withoutBookmarks: true }))
    const { account, friend, store, first, open } = await scene(t, network)
    for (const name of ['one', 'two']) {
      const room = `${name}-${account.user}@rooms.xmpp.test`
      await friend.join(room, 'friend')
      await sent(first, room, 'hello')
    }
    await first.reported('unshared')
    await first.stop()
    const second = await open()
    const room = `two-${account.user}@rooms.xmpp.test`
    friend.send(room, 'and without')
    await store.message('and without')
    await sent(second, room, 'here again')
    const told = [...first.reports, ...second.reports].filter(([report]) => report === 'unshared')
    t.equal(told.length, 1, 'told once')
  })
}

/** Some room is still to be forgotten. */
const isOut = (checkpoint: Json) => 'out' in Object(checkpoint)

/** An occupant without a role is none any more. */
const kick = (nick: string) =>
  `<query xmlns="${ns.mucAdmin}"><item nick="${nick}" role="none"/></query>`

const leftBehind = (room: string) =>
  xml('item', { id: room }, xml('conference', { xmlns: ns.bookmarks, autojoin: 'false' }))

t.test('what an account owes anew is not settled by what it owed before', async (t) => {
  const owed = new OwedRooms()
  const owner = { credentialId: 1, epoch: 1 }
  const kept = new KeptRooms(new MemoryRooms(), owner, owed)
  const [first, second] = [{ sourceKey: 'first' }, { sourceKey: 'second' }] as Happening[]
  kept.owe('room@r.test', first as Happening)
  // It goes back into the room, and is put out once more, while the first is being stored.
  kept.settle('room@r.test')
  kept.owe('room@r.test', second as Happening)
  kept.settle('room@r.test', first)
  t.same([...kept.owed], [['room@r.test', second]])
  kept.settle('room@r.test', second)
  t.equal(owed.of(owner), undefined)
})

t.test('bookmarks are not published where that would push out others', async (t) => {
  const asked: string[] = []
  const server = {
    ask: async (_type: string, payload: Element) => {
      const text = payload.toString()
      asked.push(text)
      if (/publish-options|max_items/.test(text)) throw new RequestRefused('resource-constraint')
      return payload
    },
  } as unknown as Requests
  await t.rejects(addBookmark(server, { room: 'room@r.test' }, patience()), RequestRefused)
  t.ok(asked.length > 2, 'other settings were tried')
  t.notOk(asked.some((text) => text.includes('<publish') && !text.includes('publish-options')))
})
