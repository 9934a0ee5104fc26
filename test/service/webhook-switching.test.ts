/** Between polling and a webhook and back while people write: nothing is lost, order is kept. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { linkedAccount } from './scene.ts'

/** Accounts that do so, ten at a time: `SWITCHING_ROUNDS=300` looks for what happens seldom. */
const ROUNDS = Number(process.env.SWITCHING_ROUNDS ?? 1)
const ROUNDS_AT_ONCE = 10

const SWITCHES = 4
const WRITERS = 3
const EACH = 60
const AT_ONCE = 2
const PACE_MS = 1_050

t.test('switching modes under load loses nothing', async (t) => {
  // Ten at once take long where there are few cores.
  const service = await startService(t, { env: { PLATFORM_TIMEOUT_MS: '60000' } })
  let begun = 0
  async function rounds() {
    while (begun < ROUNDS) await play(t, service, `gatebot${++begun}`)
  }
  await Promise.all(Array.from({ length: ROUNDS_AT_ONCE }, rounds))
})

async function play(t: Test, service: Service, name: string) {
  const { client, key } = await linkedAccount(service, name)
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
      await client.write(id, `@${name}`, `${index}:${place}`)
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
  t.ok(
    twice <= atMost,
    `${name}: ${twice} came twice, ${atMost} may have been under way at a switch`,
  )
  for (const updates of [receiver.received.map(({ update }) => update), polled]) {
    const last = new Map<string, number>()
    // What comes again is counted above: it comes after what it came before, and is out of no turn.
    for (const text of new Set<string>(updates.map(({ message }) => message.text))) {
      const [writer = '', place] = text.split(':')
      t.ok(Number(place) > (last.get(writer) ?? 0), `${name}: ${text} in its turn`)
      last.set(writer, Number(place))
    }
  }
}
