/** Who comes and goes in the chats of a Telegram account, and who asks to be let in. */

import type { tl } from '@mtcute/core'
import t, { type Test } from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { follow } from '../support/telegram-dc/invites.ts'
import type { Store } from './contract/recorder.ts'
import { perform } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

const told = <Kind extends Happening['kind']>(store: Store, kind: Kind, count = 1) =>
  store.until(() => {
    const found = store.happenings.filter((one) => one.kind === kind)
    return found.length >= count ? (found as (Happening & { kind: Kind })[]) : undefined
  })

t.test('Telegram accounts hear who comes and goes', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { delivery } = network
  const inGroup = async (t: Test) => {
    const scene = await live(t, stage)
    const group = network.channel(scene.person, [scene.friend], false)
    return { ...scene, group, chat: nativeOfPlace(group) }
  }

  await t.test('by what is announced in a supergroup, beside the message', async (t) => {
    const { person, friend, store, listen, group, chat } = await inGroup(t)
    await listen()
    const guest = network.person()
    group.members.add(guest.id)
    const people = [guest.id]
    delivery.announce(friend, group, { _: 'messageActionChatAddUser', users: people })
    const left = { _: 'messageActionChatDeleteUser', userId: guest.id } as const
    delivery.announce(guest, group, left)
    delivery.announce(friend, group, left)
    const self = { _: 'messageActionChatAddUser', users: [person.id] } as const
    delivery.announce(friend, group, { ...self, users: [person.id] })
    const about = { chat: { native: chat, surface: 'supergroup' }, direction: 'incoming' }
    const [by, it] = [{ native: `${friend.id}` }, { native: `${guest.id}` }]
    t.match(await told(store, 'member', 4), [
      { ...about, by, isSelf: false, before: { status: 'left' }, after: { status: 'member' } },
      { ...about, by: it, before: { person: it, status: 'member' }, after: { status: 'left' } },
      { ...about, by, before: { status: 'member' }, after: { person: it, status: 'kicked' } },
      { ...about, by, isSelf: true, after: { status: 'member' } },
    ])
    t.match(await told(store, 'message', 4), [
      { message: { content: { kind: 'service', fact: 'joined' } } },
    ])
  })

  await t.test('also what was missed, and in small groups', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const first = await listen()
    await first.stop()
    const small = network.group([person, friend])
    const created: tl.RawMessageActionChatCreate = {
      _: 'messageActionChatCreate',
      title: small.title,
      users: [person.id],
    }
    delivery.announce(friend, small, created)
    delivery.announce(friend, small, { _: 'messageActionChatDeleteUser', userId: person.id })
    await listen()
    const about = { chat: { native: nativeOfPlace(small), surface: 'group' }, isSelf: true }
    t.match(await told(store, 'member', 2), [
      { ...about, recovered: true, before: { status: 'left' }, after: { status: 'member' } },
      { ...about, recovered: true, before: { status: 'member' }, after: { status: 'left' } },
    ])
  })

  await t.test('and with everything where the network says more', async (t) => {
    const { person, friend, store, listen, group, chat } = await inGroup(t)
    await listen()
    const [userId, actorId] = [friend.id, person.id]
    delivery.tell(person, {
      _: 'updateChannelParticipant',
      channelId: group.id,
      date: 1_700_000_000,
      actorId,
      userId,
      prevParticipant: { _: 'channelParticipant', userId, date: 1 },
      newParticipant: {
        _: 'channelParticipantAdmin',
        userId,
        promotedBy: actorId,
        date: 1,
        adminRights: { _: 'chatAdminRights', pinMessages: true },
      },
      qts: 1,
    })
    t.match(await told(store, 'member'), [
      {
        chat: { native: chat },
        at: 1_700_000_000,
        direction: 'own',
        isSelf: false,
        by: { native: new RegExp(`^${person.id}$`) },
        before: { person: { native: new RegExp(`^${friend.id}$`) }, status: 'member' },
        after: { status: 'administrator', rights: ['pin_messages'] },
      },
    ])
  })

  await t.test('what the account itself is in channels, where nothing announces it', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const session = await listen()
    const channel = network.channel(friend, [person])
    const tell = () => delivery.tellStanding(person, channel)
    channel.joinedAt = Math.floor(Date.now() / 1000) + 5
    tell()
    await told(store, 'member')
    // As often as something else about the channel has changed.
    tell()
    channel.admins.set(person.id, { _: 'chatAdminRights', postMessages: true })
    tell()
    await told(store, 'member', 2)
    channel.admins.delete(person.id)
    const about = { chat: { native: nativeOfPlace(channel), surface: 'channel' }, isSelf: true }
    await perform(session, { kind: 'leave', chat: about.chat.native })
    tell()
    await told(store, 'member', 3)
    channel.banned.set(person.id, { _: 'chatBannedRights', viewMessages: true, untilDate: 0 })
    tell()
    const by = { native: `${friend.id}` }
    const self = { native: `${person.id}` }
    t.match(await told(store, 'member', 4), [
      { ...about, by, before: { status: 'left' }, after: { person: self, status: 'member' } },
      { ...about, by, before: { status: 'member' }, after: { rights: ['post_messages'] } },
      { ...about, by: self, direction: 'own', after: { person: self, status: 'left' } },
      { ...about, by: { isBot: true }, before: { status: 'left' }, after: { status: 'kicked' } },
    ])
  })

  await t.test('who came in long ago has not come in again', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    await listen()
    const group = network.channel(friend, [person], false)
    delivery.tellStanding(person, group)
    const self = { _: 'messageActionChatAddUser', users: [person.id] } as const
    const other = network.channel(friend, [person], false)
    other.joinedAt = Math.floor(Date.now() / 1000) + 5
    delivery.announce(friend, other, { ...self, users: [person.id] })
    delivery.tellStanding(person, other)
    group.members.delete(person.id)
    delivery.tellStanding(person, group)
    const [joined, left] = await told(store, 'member', 2)
    t.match(joined, { chat: { native: nativeOfPlace(other) }, after: { status: 'member' } })
    t.match(left, { chat: { native: nativeOfPlace(group) }, after: { status: 'left' } })
    write('last')
    await store.message('last')
    t.equal(store.happenings.filter(({ kind }) => kind === 'member').length, 2)
  })

  await t.test('who asks to come in is told once, with what they say of themselves', async (t) => {
    const { friend, store, listen, group, chat } = await inGroup(t)
    const session = await listen()
    const made = await perform(session, {
      kind: 'invite',
      chat,
      primary: false,
      needsApproval: true,
    })
    const link = made.kind === 'invite' ? made.invite.link : ''
    const guest = network.person()
    for (const one of [friend, guest]) {
      group.members.delete(one.id)
      one.about = `I am ${one.id}`
      follow(network, one, link)
      await told(store, 'join_request', one === guest ? 2 : 1)
    }
    t.match(await told(store, 'join_request', 2), [
      {
        chat: { native: chat },
        person: { native: new RegExp(`^${friend.id}$`) },
        bio: `I am ${friend.id}`,
      },
      { person: { native: new RegExp(`^${guest.id}$`), firstName: guest.firstName } },
    ])
    const requests = store.reported.filter(({ kind }) => kind === 'join_request')
    t.equal(requests.length, 2, 'who is still waiting is not told again')
    const person = `${guest.id}`
    await perform(session, { kind: 'answer_join', chat, person, approves: true })
    t.ok(group.members.has(guest.id))
  })
})
