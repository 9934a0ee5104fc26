/** Posts of channels that a Telegram account missed are told or not as the receive settings say. */
import t, { type Test } from 'tap'
import type { Channel } from '../support/telegram-dc/channel.ts'
import { clock } from '../support/telegram-dc/clock.ts'
import { patience } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

const LONG_AGO = 1_000_000_000

/** What happened there so far happened long ago. */
function age(channel: Channel) {
  for (const message of channel.messages.values()) message.date = LONG_AGO
  for (const { update } of channel.events) {
    if (!('message' in update) || typeof update.message !== 'object') continue
    if ('date' in update.message) update.message.date = LONG_AGO
    if ('editDate' in update.message) update.message.editDate = LONG_AGO
  }
}

t.test('Telegram accounts recover channels as they are told to', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { delivery } = network

  /** The network is silent while four of six posts come. */
  const missesPosts = async (t: Test) => {
    const { person, friend, store, open } = await live(t, stage)
    const channel = network.channel(friend, [person])
    const post = (message: string) => delivery.send(friend, channel, { message })
    const opened = await open({ recoverChannels: false })
    await opened.session.probe(patience())
    post('first')
    await store.message('first')
    person.isHushed = true
    for (let i = 0; i < 4; i++) post(`unheard ${i}`)
    person.isHushed = false
    post('heard')
    return store
  }

  await t.test('without recovery, only groups tell what was missed', async (t) => {
    const { person, friend, store, open } = await live(t, stage)
    const channel = network.channel(friend, [person])
    const group = network.channel(friend, [person], false)
    const first = await open()
    await first.session.probe(patience())
    const post = (message: string) => delivery.send(friend, channel, { message })
    post('live post')
    await store.message('live post')
    await first.stop()
    for (let i = 0; i < 3; i++) post(`missed ${i}`)
    delivery.edit(channel, 2, { message: 'edited' })
    delivery.delete(channel, [3])
    age(channel)
    delivery.send(friend, group, { message: 'missed in a group' })

    const second = await open({ recoverChannels: false })
    await second.session.probe(patience())
    await store.message('missed in a group')
    await store.until(() => store.happenings.find(({ kind }) => kind === 'deleted'))
    post('after')
    t.notOk((await store.message('after')).recovered)
    t.strictSame(store.texts().toSorted(), ['after', 'live post', 'missed in a group'])
    t.strictSame(store.texts('edited'), [])
  })

  await t.test('what was posted meanwhile was not missed, though it is asked for', async (t) => {
    const store = await missesPosts(t)
    t.notOk((await store.message('unheard 3')).recovered)
    await store.message('heard')
    t.equal(store.texts().length, 6)
  })

  await t.test('nor is it where the network is behind by its clock', async (t) => {
    clock.aheadSeconds = -200
    t.teardown(() => {
      clock.aheadSeconds = 0
    })
    const store = await missesPosts(t)
    await store.message('heard')
    t.equal(store.texts().length, 6)
  })

  await t.test('what was written while the account was away from a group is no news', async (t) => {
    for (const mostMissed of [3, Number.POSITIVE_INFINITY]) {
      const { person, friend, store, open } = await live(t, stage)
      person.mostMissed = mostMissed
      const group = network.channel(friend, [person], false)
      const post = (message: string) => delivery.send(friend, group, { message })
      const first = await open()
      await first.session.probe(patience())
      post('before')
      await store.message('before')
      await first.stop()
      for (let i = 0; i < 5; i++) post(`away ${i}`)
      age(group)
      group.joinedAt = LONG_AGO + 1
      post('back')
      // The network numbers the edit like news, and the message is as old as before.
      delivery.edit(group, group.nextMessage - 2, { message: 'corrected' })
      const { reports } = await open()
      await store.message('back')
      t.strictSame(store.texts(), ['before', 'back'])
      t.strictSame(store.texts('edited'), [])
      t.ok(reports.some(([report, what]) => report === 'skipped' && what === 'messages'))
    }
  })

  await t.test('a channel joined in a gap that was too long tells what came since', async (t) => {
    for (const recoverChannels of [true, false]) {
      const { person, friend, store, open, write } = await live(t, stage)
      person.mostMissed = 3
      const first = await open()
      write('before')
      await store.message('before')
      await first.stop()
      for (let i = 0; i < 5; i++) write(`missed ${i}`)
      const channel = network.channel(friend, [person])
      const post = (message: string) => delivery.send(friend, channel, { message })
      post('before it came')
      age(channel)
      channel.joinedAt = LONG_AGO + 1
      post('post')
      const { session } = await open({ recoverChannels })
      await store.message('missed 4')
      if (recoverChannels) t.ok((await store.message('post')).recovered)
      await session.probe(patience())
      post('after')
      await store.message('after')
      const posts = store.texts().filter((text) => /post|came/.test(text))
      t.strictSame(posts, recoverChannels ? ['post'] : [])
    }
  })
})
