/** The service as a process: what goes wrong somewhere in it does not end it, and nothing of it stays. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { isAlive } from '../../src/database/embedded/processes.ts'
import { ask, until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { embeddedFolder } from '../support/embedded.ts'

/** As a library of a network might: nobody looks at what became of it. */
const careless = `process.on('SIGWINCH', () => void Promise.reject(new Error('nobody looked')))`

/** Without what this process was given for its own database. */
const { DATABASE_URL: _, ...rest } = process.env

/** Without what the test runner would load into it, which ends the process on errors by itself. */
const direct = 'unset NODE_OPTIONS; exec "$@"'

function start(t: Test, env: NodeJS.ProcessEnv, args: readonly string[] = []) {
  const service = spawn('/bin/sh', ['-c', direct, 'sh', process.execPath, ...args, 'src/main.ts'], {
    env: { ...rest, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info', DRAIN_SECONDS: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => service.kill('SIGKILL'))
  const lines = createInterface(service.stdout)[Symbol.asyncIterator]()
  return {
    service,
    exit: once(service, 'exit'),
    async lineWith(text: string): Promise<string> {
      for (;;) {
        const { done, value } = await lines.next()
        if (done) throw new Error(`the service ended without ${text}`)
        if (value.includes(text)) return value
      }
    },
  }
}

t.test('a rejection that nobody handled is logged, and the service goes on', async (t) => {
  const { url } = await testDatabase(t)
  const preload = `data:text/javascript,${encodeURIComponent(careless)}`
  const env = { DATABASE_URL: url, DATA_DIR: t.testdir() }
  const { service, exit, lineWith } = start(t, env, ['--import', preload])
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

/** A socket whose errors nobody listens to; then a statement that is cut short. */
const reckless = `
  import { connect, createServer } from 'node:net'
  process.on('SIGWINCH', () => {
    // Closed with something unread, the system breaks it.
    const breaking = (socket) => setTimeout(() => socket.destroy(), 100)
    const server = createServer({ pauseOnConnect: true }, breaking).listen(0, '127.0.0.1', () => {
      const socket = connect(server.address().port, '127.0.0.1').once('close', () => server.close())
      socket.write('x')
    })
  })
  process.on('SIGIO', () => { throw Object.assign(new Error('cut short'), { code: 'ECONNRESET', syscall: 'read' }) })`

t.test(
  'a connection that breaks unheard is its own affair, a defect is the end',
  { timeout: 100_000 },
  async (t) => {
    const { url } = await testDatabase(t)
    const preload = `data:text/javascript,${encodeURIComponent(reckless)}`
    const env = { DATABASE_URL: url, DATA_DIR: t.testdir() }
    const { service, exit, lineWith } = start(t, env, ['--import', preload])
    const address = JSON.parse(await lineWith('Server listening at')).msg.replace(/^.* /, '')
    await lineWith('Chapar is running')
    service.kill('SIGWINCH')
    t.match(await lineWith('an error of a connection was not handled'), 'ECONNRESET')
    t.match(await ask(address, 'GET', '/health/live'), { status: 200 })
    service.kill('SIGIO')
    t.match(await lineWith('the service ends on an error'), 'cut short')
    await lineWith('Stopped.')
    t.same(await exit, [1, null])
  },
)

t.test('stopped in the middle of its start, it leaves no database behind', async (t) => {
  const { service, exit, lineWith } = start(t, { DATA_DIR: dirname(embeddedFolder(t)) })
  const { pid } = JSON.parse(await lineWith('PostgreSQL is up'))
  service.kill('SIGTERM')
  await lineWith('Stopped.')
  t.same(await exit, [0, null])
  t.notOk(await isAlive(pid))
})

t.test('SIGTERM leaves time to be noticed; Ctrl-C, or a second signal, leaves none', async (t) => {
  const { url } = await testDatabase(t)
  const env = { DATABASE_URL: url, DATA_DIR: t.testdir(), DRAIN_SECONDS: '600' }
  const begun = async () => {
    const process = start(t, env)
    const { msg } = JSON.parse(await process.lineWith('Server listening at'))
    await process.lineWith('Chapar is running')
    return { ...process, ready: () => ask(msg.replace(/^.* /, ''), 'GET', '/health/ready') }
  }
  const interrupted = await begun()
  interrupted.service.kill('SIGINT')
  await interrupted.lineWith('Stopped.')
  t.same(await interrupted.exit, [0, null])

  const drained = await begun()
  drained.service.kill('SIGTERM')
  await until(async () => (await drained.ready()).status === 503)
  drained.service.kill('SIGTERM')
  t.same(await drained.exit, [1, null])
})

const SYSTEM_BACKLOG = '/proc/sys/net/core/somaxconn'
const CROWD = 2_000

function narrowSystem(): string | false {
  try {
    return Number(readFileSync(SYSTEM_BACKLOG, 'utf8')) < CROWD && `${SYSTEM_BACKLOG} is too low`
  } catch {
    return `${SYSTEM_BACKLOG} is not there`
  }
}

t.test('all who come while it stands still are kept', { skip: narrowSystem() }, async (t) => {
  const { url } = await testDatabase(t)
  const { service, lineWith } = start(t, { DATABASE_URL: url, DATA_DIR: t.testdir() })
  const { msg } = JSON.parse(await lineWith('Server listening at'))
  await lineWith('Chapar is running')
  const address = msg.replace(/^.* /, '')
  service.kill('SIGSTOP')
  const sockets = Array.from({ length: CROWD }, () =>
    connect(Number(new URL(address).port), '127.0.0.1'),
  )
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  service.kill('SIGCONT')
  await until(async () => (await ask(address, 'GET', '/health/live')).status === 200)
})
