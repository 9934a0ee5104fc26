/** An account of Telegram, whose key ends for good when two nodes use it at once, while its owner is killed, frozen and stopped. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { arrives, PATIENCE_MS, twoNodes } from './telegram-scene.ts'

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  t.test(`${signal}: the next owner opens a session only after the one before`, async (t) => {
    t.setTimeout(180_000)
    const scene = await twoNodes(t)
    const { network, person, owner } = scene
    await arrives(scene, 'before')
    const began = performance.now()
    const ended = owner.end(signal)
    await arrives(scene, 'after')
    t.comment(`sent by the next owner ${Math.round(performance.now() - began)} ms after ${signal}`)
    await ended
    t.notOk(network.isDuplicated(person))
    t.equal(await scene.node(), 'other')
    t.same(network.defects, [])
  })
}

t.test(
  'a frozen owner that wakes up says nothing with a key that is not its own any more',
  async (t) => {
    t.setTimeout(240_000)
    const scene = await twoNodes(t)
    const { network, person, friend, owner } = scene
    await arrives(scene, 'before')
    owner.signal('SIGSTOP')
    const began = performance.now()
    // Its connection stands, and brings it something to confirm.
    network.delivery.send(friend, person, { message: 'said to a frozen one' })
    await until(async () => (await scene.node()) === 'other', PATIENCE_MS)
    await arrives(scene, 'after')
    t.comment(`sent by the next owner ${Math.round(performance.now() - began)} ms after SIGSTOP`)
    network.delivery.send(friend, person, { message: 'said to both' })
    owner.signal('SIGCONT')
    // Long enough for what it would have confirmed, and for its connections to be closed.
    await until(
      () => network.connectionsOf(person).every(({ client }) => client === 1_002),
      PATIENCE_MS,
    )
    await pause(1_000)
    t.notOk(network.isDuplicated(person))
    await arrives(scene, 'at last')
    t.same(network.defects, [])
  },
)
