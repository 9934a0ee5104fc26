/** An account of Telegram that is linked again at another node while its owner stands still, and then dies. */
import t from 'tap'
import { until } from '../support/client.ts'
import { arrives, PATIENCE_MS, twoNodes } from './telegram-scene.ts'

t.test('the session of a link before is signed out, although its owner died with it', async (t) => {
  t.setTimeout(180_000)
  const scene = await twoNodes(t)
  const { network, person, owner, client, link } = scene
  await arrives(scene, 'before')
  owner.signal('SIGSTOP')
  await link(client)
  await arrives(scene, 'by the new link')
  t.equal(network.devicesOf(person), 2)
  await owner.end('SIGKILL')
  await until(() => network.devicesOf(person) === 1, PATIENCE_MS)
  await arrives(scene, 'by the new link alone')
  t.notOk(network.isDuplicated(person))
  t.same(network.defects, [])
})
