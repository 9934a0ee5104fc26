/** The stream of a credential's changes: nothing is lost while it begins, none begins while the service goes down. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import t, { type Test } from 'tap'
import type { Transition } from '../../actors/ports/ports.ts'
import { AccountNames } from '../../src/credentials/identity.ts'
import { TimelineBuffer } from '../../src/credentials/timeline.ts'
import type { Database } from '../../src/database/database.ts'
import { credentialChangesRoute } from '../../src/http/management/credential-list.ts'
import { EventStreams } from '../../src/http/management/event-stream.ts'
import { timelineRoutes } from '../../src/http/management/timeline.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { bareServer } from './observability-rig.ts'

const transition: Transition = {
  epoch: 1,
  credentialId: 7,
  at: 1_700_000_000_000,
  from: 'live.online',
  to: 'signedOut',
  event: 'session.revoked',
  reason: 'session_revoked',
  durationMs: 5,
  publicState: 'logged_out',
  action: 'link_again',
  limitedUntil: undefined,
}

const row = {
  id: 7,
  account: { native: 'n', firstName: 'Ada' },
  tags: [],
  created_at: new Date(0),
}

async function streaming(t: Test, draining: AbortController, whileRead: () => void) {
  const db = { query: async () => [row] } as unknown as Database
  const timeline = new TimelineBuffer(db, 'node', quietLogger)
  const app = bareServer(t)
  const options: Parameters<typeof credentialChangesRoute>[1] & { node: string } = {
    source: {
      db,
      flush: async () => whileRead(),
      accountId: async () => 1,
      identity: async (row) => row.account ?? undefined,
      names: new AccountNames(db, async (row) => row.account ?? undefined),
    },
    timeline,
    node: 'node',
    ownerOf: (credentialId) => (credentialId === 7 ? 1 : 2),
    draining: draining.signal,
    streams: new EventStreams(5),
    authenticate: async (request) => {
      Object.assign(request, { user: { id: 1, stands: async () => true } })
    },
  }
  await app.register(timelineRoutes, options)
  await app.register(credentialChangesRoute, options)
  const ask = () => app.inject('/platforms/credentials/7/events')
  return { timeline, ask, app }
}

t.test('what happens while the record is read is told after it', async (t) => {
  const draining = new AbortController()
  const { timeline, ask } = await streaming(t, draining, () => {
    timeline.add(transition)
    setImmediate(() => draining.abort())
  })
  const { statusCode, body } = await ask()
  t.equal(statusCode, 200)
  t.match(body, /^event: state\ndata: {.*}\n\nevent: transition\ndata: {.*"to":"signedOut".*}\n\n$/)
})

t.test(
  'of all accounts only what changed is told, once, and nothing while nothing does',
  async (t) => {
    const draining = new AbortController()
    const { timeline, app } = await streaming(t, draining, () => undefined)
    const answer = app.inject('/platforms/credentials/events')
    await pause(700)
    timeline.add({ ...transition, credentialId: 8 })
    timeline.add({ ...transition, to: 'starting' })
    timeline.add(transition)
    await pause(700)
    draining.abort()
    const [state, changes, ...more] = (await answer).body.split('\n\n')
    t.match(state, /^event: state\ndata: {.*}$/)
    t.match(changes, /^event: changes\ndata: \[{"credential_id":7,[^{]*"to":"signedOut"[^{]*}\]$/)
    t.same(more, [''])
  },
)

t.test('of all accounts the state is told again when changes may have been missed', async (t) => {
  const draining = new AbortController()
  let reads = 0
  const { timeline, app } = await streaming(t, draining, () => reads++)
  const answer = app.inject('/platforms/credentials/events')
  await pause(300)
  timeline.missed()
  timeline.missed()
  await pause(1_300)
  draining.abort()
  const [first, second, ...more] = (await answer).body.split('\n\n')
  t.match(first, /^event: state\ndata: {.*}$/)
  t.equal(second, first)
  t.same(more, [''], 'once for a while')
})

t.test('none begins once the service goes down', async (t) => {
  const draining = new AbortController()
  const { ask } = await streaming(t, draining, () => draining.abort())
  const answer = await ask()
  t.equal(answer.statusCode, 503)
  t.match(answer.json(), { ok: false, error_code: 503, parameters: { retry_after: 1 } })
})

t.test(
  'a reader who takes nothing is let go of, and what is told to it waits nowhere',
  async (t) => {
    const { timeline, app } = await streaming(t, new AbortController(), () => undefined)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
    t.teardown(() => socket.destroy())
    socket.on('error', () => undefined).pause()
    socket.write('GET /platforms/credentials/7/events HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(socket, 'readable')
    const connections = () =>
      new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
    const long = { ...transition, event: 'e'.repeat(100_000) }
    await until(async () => {
      timeline.add(long)
      return (await connections()) === 0
    })
    t.pass('the connection is closed')
  },
)

t.test('a reader who leaves while the state is read has no stream', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const taken = once(server, 'request')
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1')
  reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [, raw] = await taken
  const streams = new EventStreams(1)
  const stream = streams.open(1)
  const left = once(raw, 'close')
  reader.destroy()
  await left
  const request = { id: 'one', user: { stands: async () => true } }
  const reply = { raw, request, hijack: () => undefined } as unknown as FastifyReply
  stream.begin(reply, {}, new AbortController().signal)
  await stream.ended
  t.doesNotThrow(() => streams.open(1), 'it is not counted')
})
