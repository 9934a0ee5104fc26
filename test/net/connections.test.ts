/** Connections that have one request at a time: who gets one, and what becomes of them in the end. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { type Connection, Connections } from '../../src/net/guard.ts'
import { until } from '../support/client.ts'

/** A server that answers when the test says so, and at most two connections to it. */
async function scene(t: Test) {
  const waiting = new Map<string, ServerResponse>()
  const server = createServer((request, response) => waiting.set(request.url ?? '', response))
  let open = 0
  let opened = 0
  server.on('connection', (socket) => {
    open++
    opened++
    socket.once('close', () => open--)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connections = new Connections(origin, { connections: 2 })
  t.teardown(() => {
    connections.close()
    server.close()
    server.closeAllConnections()
  })
  const ask = async (path: string) => {
    const connection = await new Promise<Connection>((use) => connections.take({ use }))
    const { body } = await connection.request({ path, method: 'GET' })
    const text = await body.text()
    connections.giveBack(connection, true)
    return text
  }
  const answer = async (path: string) => {
    await until(() => waiting.has(path))
    waiting.get(path)?.end(path)
  }
  return { connections, waiting, ask, answer, open: () => open, opened: () => opened }
}

t.test('each has one request at a time, and the next one that waits gets it', async (t) => {
  const { waiting, ask, answer, opened } = await scene(t)
  const asked = ['/one', '/two', '/three'].map(ask)
  await until(() => waiting.size === 2)
  await answer('/one')
  await answer('/three')
  await answer('/two')
  t.same(await Promise.all(asked), ['/one', '/two', '/three'])
  t.equal(opened(), 2)
})

t.test('one who leaves gets none', async (t) => {
  const { connections, waiting, ask, answer } = await scene(t)
  const asked = ['/one', '/two'].map(ask)
  await until(() => waiting.size === 2)
  const left = { use: () => t.fail('it has left') }
  connections.take(left)
  connections.leave(left)
  await Promise.all([answer('/one'), answer('/two'), ...asked])
})

t.test('retired ones close, but for those of requests that are there already', async (t) => {
  const { connections, waiting, ask, answer, open } = await scene(t)
  const idle = ask('/idle')
  const held = ask('/held')
  await answer('/idle')
  await idle
  await until(() => waiting.has('/held'))
  connections.retire()
  await until(() => open() === 1)
  await answer('/held')
  t.equal(await held, '/held')
  await until(() => open() === 0)
})

t.test('who waits when they retire gets a new one', async (t) => {
  const { connections, waiting, ask, answer, open } = await scene(t)
  const asked = ['/one', '/two', '/three'].map(ask)
  await until(() => waiting.size === 2)
  connections.retire()
  await answer('/three')
  await Promise.all([answer('/one'), answer('/two')])
  t.same(await Promise.all(asked), ['/one', '/two', '/three'])
  await until(() => open() === 0)
})
