/** Tasks whose thread ends before them: the caller learns why, nothing waits for ever and the process goes on. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createPool } from '../../src/media/pool.ts'
import type { WantedPicture } from '../../src/media/tasks/picture.ts'
import { failureOf } from '../support/accounts.ts'
import { forever } from './rig.ts'
import { drawn } from './service-rig.ts'

const path = import.meta.filename

t.test('a task that takes too long', async (t) => {
  const pool = createPool({ threads: 1, taskTakes: 1 })
  t.teardown(() => pool.close())
  t.match(await failureOf(pool.of(1).run('look', { path })), {
    code: 'timeout',
    description: 'the file took longer than 0.001 seconds',
  })
})

t.test('tasks in the queue behind one that is killed', async (t) => {
  const pool = createPool({ threads: 1, taskTakes: 5_000 })
  t.teardown(() => pool.close())
  const folder = t.testdir({})
  const source = join(folder, 'source.png')
  await drawn(100, 100).png().toFile(source)
  const wanted = { target: join(folder, 'made.webp'), box: 2_000, format: 'webp', enlarge: true }
  const endless = Array.from({ length: 10_000 }, () => wanted as WantedPicture)
  const killed = failureOf(pool.run('picture', { source, wanted: endless }))
  // The second task has so much time left when the first is killed: on a busy machine a new thread takes seconds to begin.
  await delay(4_000)
  const behind = pool.run('look', { path: source })
  t.match(await killed, { code: 'timeout' })
  t.match(await behind, { mime: 'image/png' })
})

t.test('threads without memory, with tasks in the queue', async (t) => {
  const errors: unknown[] = []
  const logger = { error: (fields: object) => errors.push(fields) }
  const pool = createPool({ threads: 1, heapMegabytes: 6, logger })
  t.teardown(() => pool.close())
  const ended = { code: 'unavailable', description: 'the thread that worked on the file has ended' }
  const tasks = Array.from({ length: 3 }, () => pool.run('look', { path }))
  for (const failure of await Promise.all(tasks.map(failureOf))) t.match(failure, ended)
  const chunk = { source: Buffer.alloc(32), key: Buffer.alloc(32), index: 0, last: 0 }
  t.match(await failureOf(pool.unseal(chunk)), ended)
})

t.test('nothing waits for a program that runs', async (t) => {
  const pool = createPool({ threads: 1 })
  t.teardown(() => pool.close())
  const ending = new AbortController()
  const node = { program: process.execPath, takes: 60_000 }
  const long = pool.drive({ ...node, args: ['-e', 'setTimeout(() => {}, 1e6)'] }, ending.signal)
  const isStopped = t.rejects(long)
  const short = await pool.drive({ ...node, args: ['-e', 'console.log(7)'] }, forever)
  t.equal(`${short.output}`.trim(), '7')
  const chunk = { source: Buffer.alloc(32), key: Buffer.alloc(32), index: 0, last: 0 }
  t.match(await failureOf(pool.unseal(chunk)), /unable to authenticate/)
  ending.abort()
  await isStopped
})

t.test('a pool that is closed meanwhile', async (t) => {
  const pool = createPool({ threads: 1 })
  // The thread is there.
  await pool.run('look', { path })
  const sleeping = { program: process.execPath, args: ['-e', 'setTimeout(() => {}, 1e6)'] }
  const tasks = [
    pool.run('look', { path }),
    pool.run('look', { path }),
    pool.drive({ ...sleeping, takes: 60_000 }, forever),
  ]
  const failures = tasks.map(failureOf)
  await pool.close()
  for (const failure of await Promise.all(failures))
    t.match(failure, { code: 'unavailable', description: 'the service is shutting down' })
})
