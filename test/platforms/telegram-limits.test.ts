/** What keeps an account of Telegram from writing, and to whom. */
import t from 'tap'
import { type Channel, nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { perform, refusalOf, sending } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('a group that lets its members write slowly does not restrict the account', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { person, friend, store, open } = await live(t, stage)
  const group = network.channel(friend, [person], false)
  const session = await open()
  network.delivery.send(friend, group, { message: 'slowly' })
  await store.message('slowly')
  group.slowSeconds = 900
  const failure = await refusalOf(perform(session, sending(nativeOfPlace(group), 'too soon')))
  t.match(failure, { code: 'rate_limited', retryAfterSeconds: 900 })
  await perform(session, sending(`${friend.id}`, 'elsewhere'))
  t.notOk(session.reports.some(([report]) => report === 'limited'))
})

t.test('an account that may not write learns which kind of chat keeps it out', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { person, friend, store, open } = await live(t, stage)
  const channel = network.channel(friend, [person])
  const group = network.channel(friend, [person], false)
  const session = await open()
  network.delivery.send(friend, channel, { message: 'in the channel' })
  network.delivery.send(friend, group, { message: 'in the group' })
  await store.message('in the channel')
  await store.message('in the group')
  const refusal = (place: Channel) =>
    refusalOf(perform(session, sending(nativeOfPlace(place), 'let me in')))
  const forbidden = (description: string) => ({ code: 'forbidden', description })
  const told = async (text: string) => {
    for (const place of [channel, group]) network.delivery.tellStanding(person, place)
    network.delivery.send(friend, person, { message: text })
    await store.message(text)
  }

  t.match(await refusal(channel), {
    code: 'bad_request',
    description: 'need administrator rights in the channel chat',
  })
  for (const place of [channel, group]) place.members.delete(person.id)
  await told('out')
  t.match(await refusal(channel), forbidden('bot is not a member of the channel chat'))
  t.match(await refusal(group), forbidden('bot is not a member of the supergroup chat'))
  for (const place of [channel, group]) {
    place.banned.set(person.id, { _: 'chatBannedRights', untilDate: 0, viewMessages: true })
  }
  await told('for good')
  t.match(await refusal(channel), forbidden('bot was kicked from the channel chat'))
  t.match(await refusal(group), forbidden('bot was kicked from the supergroup chat'))
})
