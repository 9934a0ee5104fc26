/** Sends to one chat reach it in the order in which they were asked for, whatever becomes of those before. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { RpcRefusal } from '../support/telegram-dc/data-centre.ts'
import { patience } from './contract/recorder.ts'
import { refusalOf } from './contract/scene.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

const SLOW_MS = 300

t.test('sends of one account to one chat keep their order', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  /** What becomes of the first send to each chat from now on; the others are carried out at once. */
  const first = (work: (carryOut: () => Promise<unknown>) => Promise<unknown>) => {
    let isFirst = true
    network.between = (name, carryOut) => {
      if (name !== 'messages.sendMessage' || !isFirst) return carryOut()
      isFirst = false
      return work(carryOut)
    }
  }
  t.afterEach(() => {
    network.between = (_, carryOut) => carryOut()
  })
  const scene = async (t: Parameters<typeof live>[0]) => {
    const { friend, open } = await live(t, stage)
    const opened = await open()
    const send = (text: string, signal = patience()) => {
      const content = { kind: 'text', text, entities: [] } as const
      const operation = { kind: 'send', chat: `${friend.id}`, content } as const
      return opened.session.perform(operation, crypto.randomUUID(), signal)
    }
    await send('known')
    const arrived = () =>
      [...friend.messages.values()].slice(1).map((one) => 'message' in one && one.message)
    return { send, arrived }
  }

  await t.test('where the network is slow with the first', async (t) => {
    const { send, arrived } = await scene(t)
    first(async (carryOut) => {
      await pause(SLOW_MS)
      return carryOut()
    })
    const texts = ['one', 'two', 'three']
    await Promise.all(texts.map((text) => send(text)))
    t.strictSame(arrived(), texts)
  })

  await t.test('where the network refuses the first', async (t) => {
    const { send, arrived } = await scene(t)
    first(async () => {
      await pause(SLOW_MS)
      throw new RpcRefusal(400, 'MESSAGE_TOO_LONG')
    })
    const [refused, ...others] = ['one', 'two', 'three'].map((text) => send(text))
    t.match(await refusalOf(refused!), { code: 'bad_request' })
    await Promise.all(others)
    t.strictSame(arrived(), ['two', 'three'], 'the others are asked for once more, in their order')
  })

  await t.test('where the network refuses many in a row', async (t) => {
    const { send, arrived } = await scene(t)
    network.habits.packs = true
    t.teardown(() => {
      network.habits.packs = false
    })
    const texts = Array.from({ length: 6 }, (_, place) => `text ${place}`)
    let left = 3
    network.between = async (name, carryOut) => {
      if (name !== 'messages.sendMessage' || left === 0) return carryOut()
      left -= 1
      await pause(20)
      throw new RpcRefusal(400, 'MESSAGE_TOO_LONG')
    }
    const sent = texts.map((text) => send(text))
    await Promise.allSettled(sent.slice(0, 3))
    await Promise.allSettled([...sent, send('last')])
    t.strictSame(
      arrived(),
      [...texts.slice(3), 'last'],
      'none overtakes those that are asked again',
    )
  })

  for (const isLeft of [false, true]) {
    const name = isLeft ? 'until nobody waits for it' : 'more than once'
    await t.test(`where the network objects to the first ${name}`, async (t) => {
      const { send, arrived } = await scene(t)
      let objections = 0
      network.habits.objects = ({ id, sequence, body }) => {
        if (objections === 3 || !body.includes('first of all')) return undefined
        objections += 1
        return { _: 'mt_bad_msg_notification', badMsgId: id, badMsgSeqno: sequence, errorCode: 20 }
      }
      t.teardown(() => {
        network.habits.objects = undefined
      })
      const leaving = new AbortController()
      const sent = [send('first of all', leaving.signal)]
      await until(() => objections === 3)
      const before = network.requests('messages.sendMessage')
      sent.push(send('two'), send('three'))
      if (isLeft) {
        await until(() => network.requests('messages.sendMessage') > before + 1)
        leaving.abort()
      }
      const [first] = await Promise.allSettled(sent)
      t.equal(first?.status, isLeft ? 'rejected' : 'fulfilled')
      t.strictSame(arrived(), [...(isLeft ? [] : ['first of all']), 'two', 'three'])
    })
  }
})
