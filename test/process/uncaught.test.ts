/** Which uncaught errors are certain to concern one connection alone, and what becomes of the others. */
import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import t from 'tap'
import { concernsOneConnection, onUncaught } from '../../src/process/fatal-errors.ts'

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

t.test(
  'one of a connection is logged, any other ends the process, be there somebody to end it or not',
  async (t) => {
    const logged: object[] = []
    const logger = {
      error: (fields: object, message: string) => void logged.push({ ...fields, message }),
    }
    const exits: number[] = []
    const target = Object.assign(new EventEmitter(), {
      exit: (code: number) => void exits.push(code),
    })
    const reset = Object.assign(new Error('x'), {
      ...{ code: 'ECONNRESET', syscall: 'read' },
      stack: 'Error: x\n    at TCP.onStreamRead (node:internal/stream_base_commons:216:20)',
    })
    const defect = new TypeError('boom')
    const seen: unknown[] = []
    target.once('uncaughtException', (err) => seen.push(err))
    onUncaught(reset, logger, target)
    t.strictSame([seen, exits], [[], []])
    onUncaught(defect, logger, target)
    t.strictSame([seen, exits], [[defect], []], 'whoever ends the process does so')
    onUncaught(defect, logger, target)
    t.strictSame(
      [seen, exits],
      [[defect], [1]],
      'a listener that asked for one error gets no second',
    )
    t.strictSame(logged, [
      { err: reset, message: 'an error of a connection was not handled' },
      { err: defect, message: 'the service ends on an error' },
    ])
  },
)
