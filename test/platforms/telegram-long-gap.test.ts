/** Gaps that are too long for Telegram itself to list: what was missed is read from the chats. */
import { Long } from '@mtcute/core'
import t, { type Test } from 'tap'
import { fieldsOf } from '../../src/platforms/kit/platform.ts'
import type { TelegramOptions } from '../../src/platforms/telegram/platform.ts'
import { quietLogger } from '../support/logger.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { patience } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

/** More than a few missed events are too much for the network to list. */
async function forgetful(t: Test, stage: Stage, options: Partial<TelegramOptions> = {}) {
  const scene = await live(t, stage, options)
  scene.person.mostMissed = 3
  return scene
}

const SECRET_LISTS = 10

/** Part of a list: one message of a secret chat, which counts apart from the others. */
const secretsUpTo = (qts: number, pts: number) => ({
  _: 'updates.differenceSlice',
  newMessages: [],
  newEncryptedMessages: [
    {
      _: 'encryptedMessageService',
      randomId: Long.ONE,
      chatId: 1,
      date: 1,
      bytes: Buffer.alloc(8),
    },
  ],
  otherUpdates: [],
  chats: [],
  users: [],
  intermediateState: { _: 'updates.state', pts, qts, date: 1, seq: 0, unreadCount: 0 },
})

t.test('Telegram accounts read from the chats what was too much to be listed', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const { delivery } = network

  await t.test('messages of all chats are told as recovered, in their order', async (t) => {
    const { person, friend, store, open, write } = await forgetful(t, stage)
    const group = network.group([person, friend])
    const first = await open()
    // It has asked what it missed when it answers.
    await first.session.probe(patience())
    for (let i = 0; i < 5; i++) write(`before ${i}`)
    await store.message('before 4')
    await first.stop()
    const missed: string[] = []
    for (let i = 0; i < 120; i++) {
      const text = `missed ${i}`
      missed.push(text)
      if (i % 2 === 0) write(text)
      else delivery.send(friend, group, { message: text })
    }
    const reportedBefore = store.reported.length
    const { session, reports } = await open()
    await store.message('missed 119')
    const skipped = [['skipped', 'changes']]
    t.strictSame(
      reports.filter(([report]) => report === 'skipped'),
      skipped,
      'of edits and deletions nobody knows',
    )
    const recovered = store.happenings.filter(({ recovered }) => recovered)
    t.strictSame(store.texts().slice(5), missed)
    t.equal(recovered.length, 120)
    t.equal(store.reported.length - reportedBefore, 120, 'what was told before is not told again')
    await session.probe(patience())
    write('after')
    t.notOk((await store.message('after')).recovered)
  })

  await t.test('many lists with nothing but secret messages are read on', async (t) => {
    const { person, store, listen, write } = await live(t, stage)
    const { session } = await listen()
    write('before')
    await store.message('before')
    let lists = 0
    network.between = async (asked, carryOut) => {
      if (asked !== 'updates.getDifference' || lists === SECRET_LISTS) return carryOut()
      lists += 1
      return secretsUpTo(lists, person.pts - 1)
    }
    t.teardown(() => {
      network.between = (_, carryOut) => carryOut()
    })
    person.isHushed = true
    write('missed')
    person.isHushed = false
    await session.probe(patience())
    await store.message('missed')
    t.equal(lists, SECRET_LISTS)
  })

  await t.test('also by an account that was never told of a message', async (t) => {
    const { store, open, write } = await forgetful(t, stage)
    const first = await open()
    await first.stop()
    for (let i = 0; i < 5; i++) write(`first ${i}`)
    await open()
    await store.message('first 4')
    t.strictSame(store.texts(), ['first 0', 'first 1', 'first 2', 'first 3', 'first 4'])
  })

  await t.test('nothing is counted that could not be stored', async (t) => {
    const { store, open, write } = await forgetful(t, stage)
    const first = await open()
    write('before')
    await store.message('before')
    await first.stop()
    for (let i = 0; i < 5; i++) write(`missed ${i}`)
    store.failing = 1
    const second = await open()
    await second.reported('lost')
    t.strictSame(store.texts(), ['before'])
    await open()
    await store.message('missed 4')
    t.equal(store.texts().length, 6)
  })

  await t.test('beyond the bound the newest are told, and a warning names the chat', async (t) => {
    const warned = Promise.withResolvers<object>()
    const logger = { ...quietLogger, warn: (facts: object) => warned.resolve(facts) }
    const recovery = { ofChat: 4, inAll: 100 }
    const { friend, store, open, write } = await forgetful(t, stage, { logger, recovery })
    const first = await open()
    write('before')
    await store.message('before')
    await first.stop()
    for (let i = 0; i < 6; i++) write(`missed ${i}`)
    const second = await open()
    await store.message('missed 5')
    t.strictSame(store.texts(), ['before', 'missed 2', 'missed 3', 'missed 4', 'missed 5'])
    const skipped = second.reports.filter(([report]) => report === 'skipped')
    t.strictSame(skipped, [
      ['skipped', 'messages'],
      ['skipped', 'changes'],
    ])
    t.strictSame(await warned.promise, { chats: [`${friend.id}`] })
  })

  await t.test('chats are not asked for once the bound of all is reached', async (t) => {
    const recovery = { ofChat: 10, inAll: 2 }
    const { person, store, open, write } = await forgetful(t, stage, { recovery })
    const first = await open()
    write('before')
    await store.message('before')
    await first.stop()
    for (let i = 0; i < 6; i++) {
      delivery.send(network.person(), person, { message: `missed ${i}` })
      write(`missed as well ${i}`)
    }
    const second = await open()
    t.strictSame(await second.reported('skipped'), ['messages'])
    await store.until(() => (store.texts().length === 3 ? true : undefined))
    t.ok(person.historiesAsked <= 2, `${person.historiesAsked} were asked for`)
  })

  await t.test('posts of channels are told, unless that is not wanted', async (t) => {
    for (const recoverChannels of [true, false]) {
      const { person, friend, store, open } = await forgetful(t, stage)
      const channel = network.channel(friend, [person])
      const first = await open()
      await first.session.probe(patience())
      const post = (message: string) => delivery.send(friend, channel, { message })
      post('live post')
      await store.message('live post')
      await first.stop()
      for (let i = 0; i < 5; i++) post(`missed ${i}`)
      const second = await open({ recoverChannels })
      await second.session.probe(patience())
      if (recoverChannels) {
        t.match(await store.message('missed 4'), {
          recovered: true,
          message: { chat: { native: nativeOfPlace(channel), surface: 'channel' } },
        })
      } else {
        const counted = () => {
          const { channels } = fieldsOf(store.checkpoint)
          return fieldsOf(channels)[channel.id] === channel.pts || undefined
        }
        await store.until(counted)
      }
      post('after')
      await store.message('after')
      const missed = recoverChannels ? [0, 1, 2, 3, 4].map((i) => `missed ${i}`) : []
      t.strictSame(store.texts(), ['live post', ...missed, 'after'])
    }
  })
})
