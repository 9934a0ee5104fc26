/** The launcher brings back a service that ended unexpectedly, and knows when not to. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { exitCodes } from '../../src/process/fatal-errors.ts'
import { until } from '../support/client.ts'

const module = join(import.meta.dirname, '../../bin/keep-running.mjs')

const lives = `
  for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => process.exit(0))
  setInterval(() => {}, 1000)
  console.log('up', process.pid)
`

/** Runs the script of a service; what the launcher says is on standard error. */
function launch(t: Test, service: string, timing: object = { firstPauseMs: 50 }) {
  const work = `
    const { keepRunning } = await import(${JSON.stringify(module)})
    const child = [process.execPath, ['-e', ${JSON.stringify(service)}], {}]
    const say = (line) => process.stderr.write(line + '\\n')
    process.exitCode = await keepRunning(child, say, ${JSON.stringify(timing)})`
  const launcher = spawn(process.execPath, ['--input-type=module', '-e', work], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exit = once(launcher, 'exit')
  const closed = once(launcher.stderr, 'close')
  t.teardown(() => launcher.kill('SIGTERM'))
  const said: string[] = []
  const services: number[] = []
  createInterface(launcher.stderr).on('line', (line) => said.push(line))
  createInterface(launcher.stdout).on('line', (line) => services.push(Number(line.slice(3))))
  return {
    launcher,
    said,
    services,
    async code() {
      const [code] = await exit
      await closed
      return code
    },
  }
}

t.test('a service that was killed is back, and is told to stop like the first', async (t) => {
  const { launcher, said, services, code } = launch(t, lives)
  process.kill(await until(() => services[0]), 'SIGKILL')
  const second = await until(() => services[1])
  t.not(second, services[0])
  t.same(said, ['the service ended by SIGKILL; it is started again in 0.05 s'])
  launcher.kill('SIGTERM')
  t.equal(await code(), 0)
  t.equal(said.length, 1, 'nothing is said of an end that was ordered')
  t.equal(services.length, 2)
})

t.test('one that ends at once is given up after five, with its exit code', async (t) => {
  const { said, services, code } = launch(t, `console.log('up 1'); process.exit(3)`)
  t.equal(await code(), 3)
  t.equal(services.length, 5)
  t.same(said, [
    'the service ended with exit code 3; it is started again in 0.05 s',
    'the service ended with exit code 3; it is started again in 0.1 s',
    'the service ended with exit code 3; it is started again in 0.2 s',
    'the service ended with exit code 3; it is started again in 0.4 s',
    'the service ended with exit code 3, 5 times within 60 s: given up',
  ])
})

t.test('ends that are far apart are forgotten', async (t) => {
  const timing = { firstPauseMs: 10, withinMs: 100 }
  const service = `console.log('up 1'); setTimeout(() => process.exit(3), 150)`
  const { services, launcher, code } = launch(t, service, timing)
  await until(() => services.length > 6)
  launcher.kill('SIGTERM')
  await code()
})

for (const [name, code] of Object.entries(exitCodes)) {
  t.test(`a first start that says ${name} is the last`, async (t) => {
    const run = launch(t, `process.exit(${code})`)
    t.equal(await run.code(), code)
    t.same(run.said, [])
  })
}

t.test('a service that ran is started until what it misses is back', async (t) => {
  const count = join(t.testdir(), 'count')
  const service = `
    const { appendFileSync, readFileSync } = require('node:fs')
    appendFileSync(${JSON.stringify(count)}, 'x')
    const starts = readFileSync(${JSON.stringify(count)}).length
    if (starts === 1) process.kill(process.pid, 'SIGKILL')
    if (starts < 9) process.exit(${exitCodes.cannotStart})
    ${lives}`
  const { launcher, services, said, code } = launch(t, service, {
    firstPauseMs: 10,
    longestPauseMs: 20,
  })
  await until(() => services.length === 1)
  t.equal(said.length, 8)
  launcher.kill('SIGINT')
  t.equal(await code(), 0)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal} between two starts ends it at once`, async (t) => {
    const run = launch(t, 'process.exit(3)', { firstPauseMs: 60_000 })
    await until(() => run.said.length === 1)
    run.launcher.kill(signal)
    t.equal(await run.code(), 3)
    t.equal(run.said.length, 1)
  })
}

t.test('a service that somebody else told to stop stays stopped', async (t) => {
  const { said, services, code } = launch(t, lives)
  process.kill(await until(() => services[0]), 'SIGTERM')
  t.equal(await code(), 0)
  t.same(said, [])
})
