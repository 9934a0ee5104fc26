/** Which uncaught errors are certain to concern one connection alone. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import t from 'tap'
import { concernsOneConnection } from '../../src/process/uncaught.ts'

t.test('a reset that the system told of', async (t) => {
  // Closed with something unread, the system breaks it.
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    setTimeout(() => socket.destroy(), 50)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
  })
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('x')
  const [error] = await once(socket, 'error')
  t.match(error, { code: 'ECONNRESET', syscall: 'read' })
  t.ok(concernsOneConnection(error))
})

t.test('nothing that was thrown by code, whatever it says, and nothing else', async (t) => {
  const reset = { code: 'ECONNRESET', syscall: 'read' }
  const inner = 'Error: x\n    at TCP.onStreamRead (node:internal/stream_base_commons:216:20)'
  const made = (facts: object) => Object.assign(new Error('x'), facts)
  t.ok(concernsOneConnection(made({ ...reset, stack: inner })))
  t.notOk(concernsOneConnection(made(reset)), 'it has frames of ours')
  t.notOk(
    concernsOneConnection(made({ ...reset, stack: `${inner}\n    at go (/app/src/a.ts:1:1)` })),
  )
  t.notOk(concernsOneConnection(made({ ...reset, syscall: 'connect', stack: inner })))
  t.notOk(concernsOneConnection(made({ code: 'ERR_INVALID_STATE', stack: inner })))
  t.notOk(concernsOneConnection(new TypeError('x')))
  t.notOk(concernsOneConnection('x'))
})
