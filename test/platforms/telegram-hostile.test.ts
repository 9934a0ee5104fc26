/** A data centre that is broken or means ill: nothing of what it does fills the memory, or is answered without a pause. */
import { randomInt } from 'node:crypto'
import { Long } from '@mtcute/core'
import t from 'tap'
import { until } from '../support/client.ts'
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
})
