/** What an operator does: starts the service, stops it, and starts it again on the same folder. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { ask, Client, until } from '../support/client.ts'
import { embeddedFolder } from '../support/embedded.ts'

const launcher = join(import.meta.dirname, '../../bin/chapar.mjs')

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

function launch(t: Pick<Test, 'teardown'>, more: NodeJS.ProcessEnv) {
  const { PATH, HOME, LANG } = process.env
  const env = { PATH, HOME, LANG, HOST: '127.0.0.1', ...more }
  const child = spawn(process.execPath, [launcher, 'start'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(child, 'exit')
  const codes = new Map<string, string>()
  createInterface(child.stdout).on('line', (line) => {
    const [, phone, code] = /for (\+\d+): (\d+)/.exec(line) ?? []
    if (phone && code) codes.set(phone, code)
  })
  const errors: string[] = []
  createInterface(child.stderr).on('line', (line) => errors.push(line))
  t.teardown(async () => {
    if (child.exitCode === null) child.kill('SIGINT')
    await exit
  })
  return { child, exit, codes, errors, url: `http://127.0.0.1:${more.PORT}` }
}

const ready = (url: string) =>
  until(async () => {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined)
    return answer?.status === 200
  }, 60_000)

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** As Linux tells it. */
function environmentOfChild(pid = 0): string {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return readFileSync(`/proc/${children}/environ`, 'utf8')
}

t.test('an account survives a stop and a start', { timeout: 150_000 }, async (t) => {
  const DATA_DIR = dirname(embeddedFolder(t))
  const env = { DATA_DIR, PORT: `${await freePort()}` }
  const first = launch(t, env)
  await ready(first.url)
  const client = await Client.signIn(first.url, '+14155550123', first.codes)
  const credentialId = await client.link(await client.person('Bot', 'gatebot'))
  const pidFile = join(DATA_DIR, 'postgres', 'cluster', 'postmaster.pid')
  const path = await until(() => existsSync(pidFile) && pidFile)
  const postgres = Number(readFileSync(path, 'utf8').split('\n')[0])
  t.ok(isRunning(postgres))
  t.match(environmentOfChild(first.child.pid), '--max-semi-space-size=')

  first.child.kill('SIGINT')
  t.same(await first.exit, [0, null])
  t.notOk(isRunning(postgres), 'the database is gone with the service')
  t.notOk(existsSync(pidFile))

  const second = launch(t, env)
  await ready(second.url)
  t.match(await client.state(credentialId, 'active'), { credential_id: credentialId })
  const platforms = await client.ask('GET', '/platforms')
  t.equal(platforms.status, 200, 'the old access token still works')
  t.match(JSON.stringify(platforms.body), '"sandbox"')
  second.child.kill('SIGINT')
  t.same(await second.exit, [0, null])

  const without = launch(t, { ...env, SANDBOX: 'false' })
  await ready(without.url)
  t.equal((await client.ask('GET', '/sandbox/people')).status, 404)
  t.notMatch(JSON.stringify((await client.ask('GET', '/platforms')).body), '"sandbox"')
  t.equal((await ask(without.url, 'GET', '/health/live')).status, 200)
})

t.test('a bad variable is told in one line, and nothing is started', async (t) => {
  const DATA_DIR = dirname(embeddedFolder(t))
  const { exit, errors, child } = launch(t, { DATA_DIR, TRUST_PROXY: 'canary-7f3a' })
  const closed = once(child.stderr, 'close')
  t.same(await exit, [78, null])
  await closed
  t.equal(errors.length, 1)
  t.match(errors[0], /^chapar: configuration: TRUST_PROXY /)
  t.notMatch(errors[0], 'canary')
  t.notOk(existsSync(join(DATA_DIR, 'postgres')))
})
