/** The disk of the log is full for a while: the process goes on, and its lines are there once there is room again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mounted } from '../support/mounted.ts'

const LINES = 400
const program = `
  import { createLogger } from './src/observability/logger.ts'
  const logger = createLogger()
  for (let line = 0; line < ${LINES}; line++) logger.info({ line }, 'in vain')
  process.stdin.once('data', () => {
    logger.info('there is room again')
    process.stdin.destroy()
  })
  process.stderr.write('full')`

t.test('a full disk ends nothing and swallows no line', async (t) => {
  const disk = await mounted(t, '64k')
  if (!disk) return t.pass('a disk of its own cannot be mounted here')
  const [log, filler] = [join(disk.path, 'log'), join(disk.path, 'filler')]
  writeFileSync(filler, Buffer.alloc(60 * 1024))
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', openSync(log, 'a'), 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const exit = once(child, 'exit')
  const [said] = await Promise.race([once(child.stderr!, 'data'), exit])
  t.equal(String(said), 'full', 'it goes on')
  t.ok(readFileSync(log, 'utf8').split('\n').length < LINES, 'the disk was full')
  rmSync(filler)
  child.stdin!.write('go on')
  t.same(await exit, [0, null])
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
  t.equal(lines.length, LINES + 1)
  t.match(JSON.parse(lines.at(-1) ?? ''), { msg: 'there is room again' })
})

const skip = existsSync('/dev/full') ? false : 'there is no device that is always full'
t.test('a process whose last words cannot be written ends', { skip }, async (t) => {
  const lastWords = `
    import { createLogger } from './src/observability/logger.ts'
    createLogger().fatal('the end')
    process.exit(3)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', lastWords], {
    stdio: ['ignore', openSync('/dev/full', 'a'), 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  t.same(await once(child, 'exit'), [3, null])
})

t.test('what is printed beside the log ends nothing either', { skip }, async (t) => {
  const printing = `
    import { createLogger } from './src/observability/logger.ts'
    createLogger()
    process.stdout.write('a code')
    setImmediate(() => process.exit(3))`
  const end = async (stdout: number | 'pipe') => {
    const child = spawn(process.execPath, ['--input-type=module'], {
      stdio: ['pipe', stdout, 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    child.stdout?.destroy()
    child.stdin!.end(printing)
    return once(child, 'exit')
  }
  t.same(await end(openSync('/dev/full', 'a')), [3, null], 'the disk is full')
  t.same(await end('pipe'), [3, null], 'the reader is gone')
})
