/** Updates that the client library fails to process: none is counted that was not told, and none holds up others. */
import type { tl } from '@mtcute/core'
import t from 'tap'
import type { Queryable } from '../../src/database/database.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import type { Person } from '../support/telegram-dc/people.ts'
import { patience } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('Telegram accounts miss nothing that is hard to process', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { delivery } = network
  const push = (person: Person, update: Omit<tl.RawUpdates, '_' | 'date' | 'seq'>) => {
    const pushed = { _: 'updates', date: 0, seq: 0, ...update } as const
    for (const connection of network.connectionsOf(person)) {
      if (connection.wantsUpdates) connection.notify(pushed)
    }
  }

  /** A database that does not say who this one is. */
  const flaky = (away: { who?: number }): Queryable => ({
    query: (statement, values) =>
      `${statement}`.includes('from telegram_peer') && values?.[1] === away.who
        ? Promise.reject(new Error('the database is away'))
        : stage.db.query(statement, values),
  })

  await t.test('a channel of which the network says nothing holds up no message', async (t) => {
    const { person, store, listen, write } = await live(t, stage)
    await listen()
    person.isHushed = true
    write('beside it')
    person.isHushed = false
    const { update } = person.events.at(-1)!
    const unknown = { _: 'updateChannel', channelId: network.newId() } as const
    push(person, { updates: [update, unknown], ...delivery.along(person) })
    await store.message('beside it')
  })

  await t.test('a message from a channel that only its writer knows', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const elsewhere = network.channel(friend, [])
    friend.isSeenBriefly = true
    const { session } = await listen()
    const savedFromPeer = { _: 'peerChannel', channelId: elsewhere.id } as const
    const fwdFrom = { _: 'messageFwdHeader', date: 1, savedFromPeer, savedFromMsgId: 1 } as const
    const group = network.channel(friend, [person], false)
    delivery.send(friend, group, { message: 'from elsewhere', fwdFrom })
    await session.probe(patience())
    await store.message('from elsewhere')
  })

  await t.test('what cannot be looked up is told by the next session', async (t) => {
    const away: { who?: number } = {}
    const stranger = network.newId()
    const { person, friend, store, open, listen, write } = await live(t, stage, { db: flaky(away) })
    const first = await listen()
    write('before')
    await store.message('before')
    await first.stop()
    friend.isSeenBriefly = true
    const fromId = { _: 'peerUser', userId: stranger } as const
    const fwdFrom = { _: 'messageFwdHeader', date: 1, fromId } as const
    delivery.send(friend, person, { message: 'of a stranger', fwdFrom })
    const second = await open()
    away.who = stranger
    t.strictSame(await second.reported('lost'), ['events_not_stored', undefined])
    delete away.who
    await listen()
    await store.message('of a stranger')
  })

  await t.test('nor is anything lost of a packet whose people cannot be looked up', async (t) => {
    const away: { who?: number } = {}
    const { person, store, listen } = await live(t, stage, { db: flaky(away) })
    const first = await listen()
    const stranger = network.person()
    stranger.isSeenBriefly = true
    away.who = stranger.id
    delivery.send(stranger, person, { message: 'in a packet' })
    t.strictSame(await first.reported('lost'), ['events_not_stored', undefined])
    delete away.who
    await listen()
    await store.message('in a packet')
  })

  await t.test('nor of a channel that cannot be looked up', async (t) => {
    const away: { who?: number } = {}
    const { person, friend, store, listen } = await live(t, stage, { db: flaky(away) })
    const group = network.channel(friend, [person], false)
    const first = await listen()
    delivery.send(friend, group, { message: 'before' })
    await store.message('before')
    person.isHushed = true
    delivery.send(friend, group, { message: 'in a channel' })
    person.isHushed = false
    away.who = Number(nativeOfPlace(group))
    const { id: channelId, pts } = group
    const news = { _: 'updateChannelTooLong', channelId, pts } as const
    push(person, { updates: [news], users: [], chats: [] })
    t.strictSame(await first.reported('lost'), ['events_not_stored', undefined])
    delete away.who
    await listen()
    await store.message('in a channel')
  })

  await t.test('what is about a chat names it, though the network does not', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    const channel = network.channel(friend, [person])
    await listen()
    write('hello')
    delivery.send(friend, channel, { message: 'a post' })
    await store.message('a post')
    await store.message('hello')
    const nobody = { users: [], chats: [] }
    const upTo = { maxId: 1, pts: person.pts + 1, ptsCount: 1 }
    const peer = { _: 'peerUser', userId: friend.id } as const
    push(person, { updates: [{ _: 'updateReadHistoryOutbox', peer, ...upTo }], ...nobody })
    const gone = { channelId: channel.id, messages: [1], pts: channel.pts + 1, ptsCount: 1 }
    push(person, { updates: [{ _: 'updateDeleteChannelMessages', ...gone }], ...nobody })
    const read = await store.until(() => store.happenings.find(({ kind }) => kind === 'receipt'))
    t.match(read, {
      chat: { firstName: friend.firstName },
      person: { firstName: friend.firstName },
    })
    const deleted = await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
    t.match(deleted, { surface: 'channel' })
    person.pts += 1
    channel.pts += 1
  })

  await t.test('who reacts in a small group is named, though the network does not', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const third = network.person()
    const group = network.group([person, friend, third])
    await listen()
    for (const one of [friend, third]) delivery.send(one, group, { message: `of ${one.id}` })
    const heard = await store.message(`of ${friend.id}`)
    await store.message(`of ${third.id}`)
    const id = heard.kind === 'message' ? Number(heard.message.native) : 0
    const reaction = { _: 'reactionEmoji', emoticon: '👍' } as const
    const peerId = { _: 'peerUser', userId: third.id } as const
    const date = Math.floor(Date.now() / 1000) + 1
    const message = { ...person.messages.get(id)!, editDate: date, editHide: true } as tl.RawMessage
    const reactions: tl.RawMessageReactions = {
      _: 'messageReactions',
      results: [{ _: 'reactionCount', reaction, count: 1 }],
      recentReactions: [{ _: 'messagePeerReaction', peerId, date, reaction }],
    }
    for (const now of [{ ...message, reactions }, message]) {
      person.pts += 1
      const update = { _: 'updateEditMessage', message: now, pts: person.pts, ptsCount: 1 } as const
      push(person, { updates: [update], users: [], chats: [] })
    }
    const told = await store.until(() => {
      const found = store.happenings.filter(({ kind }) => kind === 'reaction')
      return found.length > 1 ? found : undefined
    })
    const who = { person: { firstName: third.firstName } }
    t.match(told, [who, who])
  })
})
