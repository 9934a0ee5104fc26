/** Between polling and a webhook and back again while people write: nothing is lost, order is kept. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

const SWITCHES = 4
const WRITERS = 3
const EACH = 60
const AT_ONCE = 2
const PACE_MS = 1_050

t.test('switching modes under load loses nothing', async (t) => {
  const { client, key } = await scene(t)
  const receiver = await Receiver.open(t, async (_, response) => {
    await pause(Math.random() * 15)
    response.end()
  })
  const polled: ReturnType<typeof JSON.parse>[] = []
  const bot = (method: string, body: unknown = {}) => client.bot(key, method, body)

  const people = await Promise.all(
    Array.from({ length: WRITERS }, (_, index) => client.person(`Writer ${index}`)),
  )
  const writing = people.map(async ({ id }, index) => {
    for (let place = 1; place <= EACH; place++) {
      await client.write(id, '@gatebot', `${index}:${place}`)
      await pause(Math.random() * 60)
    }
  })
  let offset = 0
  /** Polled, and told again because no poll after it has confirmed it. */
  let unconfirmed = 0
  const poll = async () => {
    const { body } = await bot('getUpdates', { offset, timeout: 0 })
    polled.push(...body.result)
    offset = body.result.at(-1)?.update_id + 1 || offset
    return body.result.length
  }
  for (let turn = 0; turn < SWITCHES; turn++) {
    t.equal((await bot('setWebhook', { url: receiver.url, max_connections: AT_ONCE })).status, 200)
    await pause(PACE_MS)
    t.equal((await bot('deleteWebhook')).status, 200)
    unconfirmed += await poll()
  }
  await Promise.all(writing)
  const all = () => [...receiver.received.map(({ update }) => update), ...polled]
  const texts = () => new Set(all().map(({ message }) => message.text))
  // What was written last may still be on its way to the log when a poll finds nothing.
  await until(async () => (await poll()) === 0 && texts().size === WRITERS * EACH)

  const twice = all().length - texts().size
  const atMost = unconfirmed + 2 * AT_ONCE * SWITCHES
  t.ok(twice <= atMost, `${twice} came twice, ${atMost} may have been under way at a switch`)
  for (const updates of [receiver.received.map(({ update }) => update), polled]) {
    const last = new Map<string, number>()
    // What comes again is counted above: it comes after what it came before, and is out of no turn.
    for (const text of new Set<string>(updates.map(({ message }) => message.text))) {
      const [writer = '', place] = text.split(':')
      t.ok(Number(place) > (last.get(writer) ?? 0), `${text} in its turn`)
      last.set(writer, Number(place))
    }
  }
})
