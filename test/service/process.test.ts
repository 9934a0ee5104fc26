/** The service as a process: what goes wrong somewhere in it does not end it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import t from 'tap'
import { ask } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'

/** As a library of a network might: nobody looks at what became of it. */
const careless = `process.on('SIGWINCH', () => void Promise.reject(new Error('nobody looked')))`

t.test('a rejection that nobody handled is logged, and the service goes on', async (t) => {
  const { url } = await testDatabase(t)
  const args = ['--import', `data:text/javascript,${encodeURIComponent(careless)}`, 'src/main.ts']
  const env = { ...process.env, DATABASE_URL: url, DATA_DIR: t.testdir(), HOST: '127.0.0.1' }
  const service = spawn(process.execPath, args, {
    env: { ...env, PORT: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => service.kill('SIGKILL'))
  const exit = once(service, 'exit')
  const lines = createInterface(service.stdout)[Symbol.asyncIterator]()
  const lineWith = async (text: string): Promise<string> => {
    for (;;) {
      const { done, value } = await lines.next()
      if (done) throw new Error(`the service ended without ${text}`)
      if (value.includes(text)) return value
    }
  }

  const { msg } = JSON.parse(await lineWith('Server listening at'))
  const address = msg.replace(/^.* /, '')
  await lineWith('Chapar is running')
  for (let time = 0; time < 2; time++) {
    service.kill('SIGWINCH')
    t.match(JSON.parse(await lineWith('nobody looked')), { msg: 'a rejection was not handled' })
    t.match(await ask(address, 'GET', '/health/live'), { status: 200 })
  }
  service.kill('SIGTERM')
  await lineWith('Stopped.')
  t.same(await exit, [0, null])
})
