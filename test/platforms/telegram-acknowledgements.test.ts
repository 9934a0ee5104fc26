/** What the network says again, because it does not know that it came, is acknowledged. */
import { type Long, SessionConnection } from '@mtcute/node'
import t from 'tap'
import { until } from '../support/client.ts'
import { patience } from './contract/recorder.ts'
import { live } from './telegram/live.ts'
import { Stage } from './telegram/stage.ts'

interface Hearing {
  readonly _session: { queuedAcks: unknown[] }
  _handleMessage(...told: readonly [id: Long, message: { readonly _: string }]): void
}

/** What the network said unasked, and to which connection. */
const told: { readonly client: Hearing; readonly update: Parameters<Hearing['_handleMessage']> }[] =
  []
const connections = SessionConnection.prototype as unknown as Hearing
const hear = connections._handleMessage
connections._handleMessage = function (...update) {
  told.push({ client: this, update })
  hear.apply(this, update)
}

t.test('a Telegram account acknowledges what it knows', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  // With a single salt the client asks for more in each packet.
  network.habits.givesSalts = true
  const { person, listen, write, store } = await live(t, stage)
  const { session } = await listen()
  const connectionOf = () => network.connectionsOf(person).find(({ wantsUpdates }) => wantsUpdates)

  await t.test('an update that comes again', async (t) => {
    write('once')
    await store.message('once')
    const last = told.findLast(({ update: [, { _ }] }) => !_.startsWith('mt_'))
    if (!last) throw new Error('There was no update')
    const { client, update } = last
    client._session.queuedAcks = []
    client._handleMessage(...update)
    t.strictSame(client._session.queuedAcks, [update[0]])
    t.equal(store.texts().filter((text) => text === 'once').length, 1)
  })

  await t.test('answers that are given again after a cut', async () => {
    const before = connectionOf()
    await session.probe(patience())
    network.cut(person, 100)
    // All but the answer to the newest request.
    await until(async () => {
      await session.probe(patience())
      const now = connectionOf()
      return now !== undefined && now !== before && now.unacknowledged <= 1
    })
  })
})
