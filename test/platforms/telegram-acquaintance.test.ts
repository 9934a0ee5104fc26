/** Whom an account of Telegram may name to the network: people seen but briefly, and people whose number a channel has. */
import { Long, type tl } from '@mtcute/core'
import t from 'tap'
import { asSeenBy, nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { perform, sending } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('an account of Telegram', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { delivery } = network

  await t.test('names somebody seen in a group by what they wrote there', async (t) => {
    const { person, friend, store, listen } = await live(t, stage)
    const stranger = network.person()
    stranger.isSeenBriefly = true
    const group = network.channel(person, [friend, stranger], false)
    const session = await listen()
    delivery.send(friend, group, { message: 'hello' })
    await store.message('hello')
    delivery.send(stranger, group, { message: 'spam' })
    const told = await store.message('spam')
    const name = stranger.firstName
    t.match(told, {
      message: { from: { native: new RegExp(`^${stranger.id}$`), firstName: name } },
    })
    const somebody = { chat: nativeOfPlace(group), person: `${stranger.id}` }
    t.match(await perform(session, { kind: 'member', ...somebody }), {
      member: { person: { native: new RegExp(`^${stranger.id}$`) }, status: 'member' },
    })
    await perform(session, { kind: 'ban', ...somebody })
    t.notOk(group.members.has(stranger.id))
  })

  await t.test('still writes to somebody it knows who is seen briefly elsewhere', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    const group = network.channel(person, [friend], false)
    const session = await listen()
    write('hello')
    await store.message('hello')
    friend.isSeenBriefly = true
    delivery.send(friend, group, { message: 'in passing' })
    await store.message('in passing')
    await perform(session, sending(`${friend.id}`, 'between us'))
    t.match([...friend.messages.values()].at(-1), { message: 'between us' })
  })

  await t.test('writes to people, and never to a channel of the same number', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    const made = network.channel(person, [friend], false)
    const group = { ...made, id: friend.id, title: 'Same number' }
    network.places.delete(made.id)
    network.places.set(group.id, group)
    const session = await listen()
    write('hello')
    await store.message('hello')
    delivery.send(friend, group, { message: 'in the group' })
    await store.message('in the group')
    const sent = await perform(session, sending(`${friend.id}`, 'between us'))
    t.match(sent, {
      message: { chat: { native: new RegExp(`^${friend.id}$`), surface: 'private' } },
    })
    t.equal([...group.messages.values()].length, 1)
    const posted = await perform(session, sending(nativeOfPlace(group), 'to all'))
    t.match(posted, { message: { chat: { native: nativeOfPlace(group), title: 'Same number' } } })
    write('again')
    t.match(await store.message('again'), { message: { from: { firstName: friend.firstName } } })
  })

  await t.test('still writes to a channel that is named in passing elsewhere', async (t) => {
    const { person, friend, store, listen, write } = await live(t, stage)
    const group = network.channel(person, [friend], false)
    const chat = nativeOfPlace(group)
    const session = await listen()
    delivery.send(friend, group, { message: 'hello' })
    await store.message('hello')
    await perform(session, sending(chat, 'one'))
    group.title = 'Renamed'
    const whole = asSeenBy(group, person.id) as tl.RawChannel
    const passing = { ...whole, min: true, accessHash: Long.ONE } as const
    person.isHushed = true
    write('meanwhile')
    person.isHushed = false
    const { update } = person.events.at(-1)!
    const { users } = delivery.along(person)
    for (const connection of network.connectionsOf(person)) {
      const news = { updates: [update], users, chats: [passing], date: 0, seq: 0 }
      if (connection.wantsUpdates) connection.notify({ _: 'updates', ...news })
    }
    await store.message('meanwhile')
    await perform(session, sending(chat, 'two'))
    t.match([...group.messages.values()].at(-1), { message: 'two' })
    const [row] = await stage.db.query<{ complete: Buffer }>(
      'select complete from telegram_peer where id = $1',
      [Number(chat)],
    )
    t.ok(row?.complete.includes('Renamed'), 'its new title is kept once it is seen whole')
  })
})
