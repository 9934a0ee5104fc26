/** A service that is stopped stays open for a while, says that it is not ready, and ends no poll without an answer. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { linkedAccount, raw, refused } from './scene.ts'

const DRAIN_MS = 1_500
const empty = { ok: true, result: [] }

t.test('until a balancer has noticed, everything is answered', async (t) => {
  const service = await startService(t, { env: { DRAIN_SECONDS: `${DRAIN_MS / 1000}` } })
  const { client, ada, key } = await linkedAccount(service)
  const poll = raw(service.url, `/bot${key}/getUpdates?timeout=50`)
  await pause(200)
  let hasPollEnded = false
  poll.finally(() => {
    hasPollEnded = true
  })
  const began = performance.now()
  const stopped = service.gateway.stop()
  await until(async () => (await raw(service.url, '/health/ready')).status === 503)
  t.match(
    await raw(service.url, '/health/ready'),
    refused(503, 'Service Unavailable: the service is shutting down'),
  )
  t.match(await raw(service.url, '/health/live'), { status: 200 })
  t.match(await raw(service.url, `/bot${key}/getMe`), {
    status: 200,
    headers: { connection: 'close' },
  })
  t.match(await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'bye' }), { status: 200 })
  t.notOk(hasPollEnded, 'nobody is sent away before there is somewhere else to go')
  t.match(await poll, { status: 200, headers: { connection: 'close' }, body: empty })
  await stopped
  const took = performance.now() - began
  t.ok(took >= DRAIN_MS, `it took ${took} ms`)
  await t.rejects(raw(service.url, '/health/live'), { code: 'ECONNREFUSED' })
})

t.test('who is in a hurry does not wait for balancers', async (t) => {
  const service = await startService(t, { env: { DRAIN_SECONDS: '600' } })
  const { key } = await linkedAccount(service)
  const poll = raw(service.url, `/bot${key}/getUpdates?timeout=50`)
  await pause(200)
  await service.gateway.stop({ atOnce: true })
  t.match(await poll, { status: 200, body: empty })
})

t.test('every one of many polls is answered, whatever its key was doing just then', async (t) => {
  const service = await startService(t, { env: { DRAIN_SECONDS: '1' } })
  const { client, credentialId } = await linkedAccount(service)
  const keys: string[] = []
  for (let one = 0; one < 60; one++) keys.push((await client.key(credentialId)).key)
  // Some are held, some are still being read for, of some the key is only just loaded.
  const polls = keys.map((key, place) =>
    pause(place * 5).then(() => raw(service.url, `/bot${key}/getUpdates?timeout=50`)),
  )
  const ended = Promise.all(polls)
  await pause(200)
  await service.gateway.stop()
  for (const answer of await ended) t.match(answer, { status: 200, body: empty })
})
