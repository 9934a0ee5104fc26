/** What keeps an account of Telegram from writing, and to whom. */
import t from 'tap'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
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
