/** A data centre that is broken or means ill: nothing of what it does fills the memory, or is answered without a pause. */
import { randomInt } from 'node:crypto'
import { Long } from '@mtcute/core'
import t from 'tap'
import type { RequestFailed } from '../../machines/model/failure.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { clock } from '../support/telegram-dc/clock.ts'
import { patience } from './contract/recorder.ts'
import { refusalOf } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

t.test('an account bears a data centre that means ill', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const options = { answerMilliseconds: 20_000 }

  for (const [name, length] of [
    ['that says that it is very long', 2 ** 31],
    ['that is an error', 4],
  ] as const) {
    await t.test(`a packet ${name} is the end of its connection`, async (t) => {
      const { person, store, listen, write } = await live(t, stage, options)
      await listen()
      const connections = network.connectionsOf(person)
      for (const connection of connections) connection.begin(length)
      await until(() => network.connectionsOf(person).every((one) => !connections.includes(one)))
      write('after')
      await store.message('after')
    })
  }

  for (const errorCode of [16, 20, 48]) {
    await t.test(`what it objects to without end (${errorCode}) is sent ever later`, async (t) => {
      const { store, listen, write } = await live(t, stage, { answerMilliseconds: 1_500 })
      const { session } = await listen()
      t.teardown(() => {
        network.habits.objects = undefined
      })
      let objections = 0
      network.habits.objects = ({ id, sequence }) => {
        objections += 1
        const wrong = { badMsgId: id, badMsgSeqno: sequence, errorCode }
        if (errorCode !== 48) return { _: 'mt_bad_msg_notification', ...wrong }
        return {
          _: 'mt_bad_server_salt',
          ...wrong,
          newServerSalt: Long.fromNumber(randomInt(2 ** 40)),
        }
      }
      t.match(await refusalOf(session.probe(patience())), { code: 'timeout' })
      t.ok(objections > 2 && objections < 100, `${objections} objections`)
      network.habits.objects = undefined
      await until(() => session.probe(patience()).catch(() => false))
      write('after')
      await store.message('after')
    })
  }

  await t.test(
    'a clock that is a year ahead later is no reason to start timers without end',
    async (t) => {
      const { store, listen, write } = await live(t, stage, options)
      const { session } = await listen()
      const warnings: string[] = []
      const note = ({ name }: Error) => void warnings.push(name)
      process.on('warning', note)
      t.teardown(() => {
        process.off('warning', note)
        clock.aheadSeconds = 0
      })
      clock.aheadSeconds = 365 * 86_400
      await session.probe(patience())
      write('after')
      await store.message('after')
      t.strictSame(warnings, [])
      clock.aheadSeconds = 0
      await until(() => session.probe(patience()).catch(() => false))
      write('with the right time again')
      await store.message('with the right time again')
    },
  )

  const noNews = { newMessages: [], otherUpdates: [], chats: [], users: [] }
  const lists = [
    [
      'updates.getDifference',
      'that there is more, and nothing of it',
      (pts: number) => ({
        _: 'updates.differenceSlice',
        ...noNews,
        newEncryptedMessages: [],
        intermediateState: { _: 'updates.state', pts, qts: 0, date: 1, seq: 0, unreadCount: 0 },
      }),
    ],
    [
      'updates.getDifference',
      'that it is too long to tell',
      (pts: number) => ({ _: 'updates.differenceTooLong', pts }),
    ],
    [
      'updates.getChannelDifference',
      'that there is more in a channel, and nothing of it',
      (pts: number) => ({ _: 'updates.channelDifference', ...noNews, pts }),
    ],
  ] as const
  for (const [method, name, answer] of lists) {
    await t.test(`who says ${name}, is not asked without end`, async (t) => {
      const warnings: string[] = []
      const logger = {
        ...quietLogger,
        warn: (_: object, what: string) => void warnings.push(what),
      }
      const { person, friend, store, listen, write } = await live(t, stage, {
        ...options,
        logger,
      })
      const group = network.channel(friend, [person], false)
      const post = (message: string) => network.delivery.send(friend, group, { message })
      const { session } = await listen()
      post('before')
      await store.message('before')
      network.between = async (asked, carryOut) => (asked === method ? answer(2) : carryOut())
      t.teardown(() => {
        network.between = (_, carryOut) => carryOut()
      })
      const before = network.requests(method)
      person.isHushed = true
      write('missed')
      post('missed post')
      person.isHushed = false
      post('after')
      const probe = () => session.probe(patience()).catch((cause: RequestFailed) => cause)
      const asked = () => network.requests(method) - before
      const isSaid = () => warnings.some((what) => what.includes('nothing comes of it'))
      await until(async () => (await probe()) && isSaid())
      t.ok(asked() > 3 && asked() < 10, `${asked()} times`)
      if (method === 'updates.getChannelDifference') return
      const refused = await until(async () => {
        const outcome = await probe()
        return typeof outcome !== 'number' && outcome
      })
      t.match(refused, { failure: { description: 'Telegram does not tell what was missed' } })
      t.equal(warnings.filter((what) => what.includes('nothing comes of it')).length, 1)
    })
  }
})
