/** The launcher's child: it gets each signal once, and its end is the launcher's end. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import t from 'tap'

const module = join(import.meta.dirname, '../../bin/child.mjs')

const service = `
  let received = 0
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.on(name, () => {
      received++
      setTimeout(() => { console.log(name, received); process.exit(7) }, 200)
    })
  }
  setInterval(() => {}, 1000)
  console.log('ready', process.pid)
`
const launcher = `
  const { runChild } = await import(${JSON.stringify(module)})
  process.exitCode = await runChild(process.execPath, ['-e', ${JSON.stringify(service)}], {})
`

type Launcher = ChildProcessByStdio<null, Readable, null>

async function launch(): Promise<{ child: Launcher; lines: AsyncIterator<string> }> {
  const args = ['--input-type=module', '-e', launcher]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  return { child, lines }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal}, sent by the terminal and by npm, reaches the service once`, async (t) => {
    const { child, lines } = await launch()
    const exit = once(child, 'exit')
    child.kill(signal)
    setTimeout(() => child.kill(signal), 30)
    t.equal((await lines.next()).value, `${signal} 1`)
    t.same(await exit, [7, null], "the launcher's exit code is the service's")
  })
}

t.test(
  'a service killed by a signal ends the launcher by the convention of the shell',
  async (t) => {
    const args = ['--input-type=module', '-e', launcher]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const exit = once(child, 'exit')
    const [line] = await once(createInterface(child.stdout), 'line')
    process.kill(Number(String(line).split(' ')[1]), 'SIGKILL')
    t.same(await exit, [137, null])
  },
)

t.test('a child of low priority leaves the processor to the others', async (t) => {
  const script = `process.stdin.once('data', () => {
    console.log(require('node:os').getPriority())
    process.exit()
  })`
  const source = `
    const { runChild } = await import(${JSON.stringify(module)})
    await runChild(process.execPath, ['-e', ${JSON.stringify(script)}], { priority: 12 })
  `
  const args = ['--input-type=module', '-e', source]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end('now')
  const [line] = await once(createInterface(child.stdout), 'line')
  t.equal(Number(line), Math.max(getPriority(), 12))
})
