/** How many attempts are under way at once over all endpoints, with endpoints that hang. */
import t, { type Test } from 'tap'
import { Connections, Endpoint, usualConnections } from '../../src/webhooks/endpoint.ts'
import { SigningSecrets } from '../../src/webhooks/secrets.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { exemptFromReference } from '../support/reference-check.ts'
import { testVault } from '../support/vault.ts'
import { endpointParts } from './parts.ts'
import { Receiver } from './receiver.ts'

// The updates are made up: only their delivery is looked at.
exemptFromReference()

const KEYS = 4
const EACH = 5
const forever = new AbortController().signal

/** Several endpoints at one receiver, whose answers are let go by hand. */
async function several(t: Test, connections: Connections) {
  const { database } = await testDatabase(t)
  const secrets = new SigningSecrets(database, await testVault(t, database))
  const held: (() => void)[] = []
  const receiver = await Receiver.open(t, (_, response) => held.push(() => response.end()))
  const endpoints = Array.from({ length: KEYS }, (_, index) => {
    const endpoint = new Endpoint(
      { apiKeyId: index + 1, userId: 1, credentialId: 1, epoch: 1 },
      {
        url: receiver.url,
        ipAddress: undefined,
        maxConnections: EACH,
        secretToken: undefined,
        certificate: undefined,
      },
      endpointParts(t, { timeoutMs: 60_000, secrets, connections }),
    )
    t.teardown(() => endpoint.close())
    return endpoint
  })
  const deliver = (isProbe: boolean, signal = forever) =>
    endpoints.flatMap((endpoint) =>
      Array.from({ length: EACH }, (_, updateId) =>
        endpoint.deliver({ updateId, body: '{}', isProbe }, signal),
      ),
    )
  return { receiver, held, deliver }
}

t.test('the limits are the published ones', async (t) => {
  t.same(usualConnections, { deliveries: 500, probes: 200 })
})

t.test('no more attempts than there are places, and all get theirs in the end', async (t) => {
  const { receiver, held, deliver } = await several(
    t,
    new Connections({ deliveries: 6, probes: 1 }),
  )
  const delivering = deliver(false)
  await until(() => receiver.open === 6)
  while (receiver.received.length < KEYS * EACH || held.length > 0) {
    await until(() => held.length > 0)
    held.shift()?.()
  }
  const attempts = await Promise.all(delivering)
  t.ok(attempts.every(({ ok }) => ok))
  t.equal(receiver.mostOpen, 6)
})

t.test('users take turns, however much one of them has waiting', async (t) => {
  const places = new Connections({ deliveries: 2, probes: 1 }).for(false)
  const begun: number[] = []
  const take = async (userId: number) => {
    await places.take(userId, forever)
    begun.push(userId)
  }
  const all = Promise.all([...Array.from({ length: 10 }, () => take(1)), take(2), take(3)])
  for (let ended = 0; ended < 3; ended++) places.release(1)
  await new Promise(setImmediate)
  t.same(begun, [1, 1, 1, 2, 3])
  for (const userId of [2, 3, 1, 1, 1, 1, 1]) places.release(userId)
  await all
  t.same(begun.slice(5), Array(7).fill(1))
  t.same([places.release(1), places.release(1), places.take(1, forever)].at(-1), undefined)
})

t.test('probes of dead endpoints keep nobody else waiting', async (t) => {
  const { receiver, held, deliver } = await several(
    t,
    new Connections({ deliveries: 40, probes: 2 }),
  )
  const probing = deliver(true)
  await until(() => receiver.open === 2)
  const delivering = deliver(false)
  // Each endpoint has so many connections, and the two probes are among those of the first.
  await until(() => receiver.open === KEYS * EACH)
  t.equal(receiver.received.length, KEYS * EACH, 'the other probes wait')
  let done = false
  const all = Promise.all([...probing, ...delivering]).then(() => {
    done = true
  })
  await until(() => {
    held.shift()?.()
    return done
  })
  await all
})

t.test('who waits for a place and is cut gives it up', async (t) => {
  const { receiver, held, deliver } = await several(
    t,
    new Connections({ deliveries: 1, probes: 1 }),
  )
  const cut = new AbortController()
  const delivering = deliver(false, cut.signal)
  await until(() => receiver.open === 1)
  cut.abort()
  const attempts = await Promise.all(delivering)
  t.ok(attempts.every(({ ok, error }) => !ok && error === 'Read timeout expired'))
  t.equal(receiver.received.length, 1, 'the others were never sent')
  const unsent = attempts.filter(({ durationMs }) => durationMs === 0)
  t.equal(unsent.length, KEYS * EACH - 1, 'and took no time')
  held.shift()?.()
  const [next] = deliver(false)
  await until(() => {
    held.shift()?.()
    return receiver.received.length === 1 + KEYS * EACH
  })
  held.shift()?.()
  t.match(await next, { ok: true }, 'the place is free again')
})
