/** The operator's `unlock` with the database that the service brings along. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t from 'tap'
import { ask, until } from '../support/client.ts'
import { embeddedFolder } from '../support/embedded.ts'
import { freePort } from '../support/ports.ts'

const launcher = join(import.meta.dirname, '../../bin/chapar.mjs')
const phone = '+14155550184'

t.test('while the service is stopped; a running one is left alone', async (t) => {
  const DATA_DIR = dirname(embeddedFolder(t))
  const { PATH, HOME, LANG } = process.env
  const PORT = `${await freePort()}`
  const env = { PATH, HOME, LANG, HOST: '127.0.0.1', PORT, DATA_DIR, DRAIN_SECONDS: '0' }
  const url = `http://127.0.0.1:${PORT}`
  const service = spawn(process.execPath, [launcher, 'start'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(service, 'exit')
  t.teardown(async () => {
    if (service.exitCode === null) service.kill('SIGINT')
    await exit
  })
  const codes: string[] = []
  createInterface(service.stdout).on('line', (line) => {
    const code = /for \+\d+: (\d+)/.exec(line)?.[1]
    if (code) codes.push(code)
  })
  await until(async () => {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined)
    return answer?.status === 200
  }, 60_000)
  await ask(url, 'POST', '/auth/sendOtp', { phone })
  const code = await until(() => codes[0])
  const otp = `${(Number(code[0]) + 1) % 10}${code.slice(1)}`
  for (let n = 0; n < 3; n++) {
    t.equal((await ask(url, 'POST', '/auth/login', { phone, otp })).status, 401)
  }
  const unlock = () => promisify(execFile)(process.execPath, [launcher, 'unlock', phone], { env })

  await t.rejects(unlock(), {
    code: 69,
    stdout: '',
    stderr: /^(?=.*DATA_DIR)(?=.*Another process uses the database)[^\n]*\n$/,
  })
  t.equal((await fetch(`${url}/health/ready`)).status, 200, 'the service goes on')

  service.kill('SIGINT')
  await exit
  const { stdout } = await unlock()
  t.equal(stdout, `${phone} may sign in again; 3 wrong codes are forgotten.\n`)
  t.equal((await unlock()).stdout, `${phone} may sign in again; 0 wrong codes are forgotten.\n`)
  t.notOk(existsSync(join(DATA_DIR, 'postgres', 'cluster', 'postmaster.pid')), 'nothing runs on')
})
