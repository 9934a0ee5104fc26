/** Sends to one chat reach it in the order in which they were asked for, whatever becomes of those before. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { RpcRefusal } from '../support/telegram-dc/data-centre.ts'
import { perform, refusalOf } from './contract/scene.ts'
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
    const session = await open()
    const send = (text: string) =>
      perform(session, {
        kind: 'send',
        chat: `${friend.id}`,
        content: { kind: 'text', text, entities: [] },
      })
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
    await Promise.all(texts.map(send))
    t.strictSame(arrived(), texts)
  })

  await t.test('where the network refuses the first', async (t) => {
    const { send, arrived } = await scene(t)
    first(async () => {
      await pause(SLOW_MS)
      throw new RpcRefusal(400, 'MESSAGE_TOO_LONG')
    })
    const [refused, ...others] = ['one', 'two', 'three'].map(send)
    t.match(await refusalOf(refused!), { code: 'bad_request' })
    await Promise.all(others)
    t.strictSame(arrived(), ['two', 'three'], 'the others are asked for once more, in their order')
  })
})
