/** A data centre that is broken or means ill: nothing of what it does fills the memory, or is answered without a pause. */
import t from 'tap'
import { until } from '../support/client.ts'
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
})
