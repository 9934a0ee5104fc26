/** Starting and stopping: what a start finds, keeps and refuses. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { DatabaseInUse } from '../../../src/database/embedded/adopt.ts'
import { isAlive } from '../../../src/database/embedded/processes.ts'
import { startEmbeddedPostgres } from '../../../src/database/embedded/supervisor.ts'
import { ask, embeddedFolder } from '../../support/embedded.ts'
import { quietLogger as logger } from '../../support/logger.ts'

const dir = embeddedFolder(t)
const owner = join(import.meta.dirname, '../../support/embedded-owner.ts')

t.test('a commit is durable and pages are checksummed', async (t) => {
  const server = await startEmbeddedPostgres({ dir, logger })
  t.teardown(server.stop)
  const wanted = ['fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums']
  for (const name of wanted) {
    const [row] = await ask<{ value: string }>(
      server.url(),
      `select current_setting('${name}') value`,
    )
    t.equal(row?.value, 'on', name)
  }
  t.match(server.url(), /^postgres:\/\/chapar:.{20,}@127\.0\.0\.1:\d+\/chapar$/)
})

t.test('a second start finds data and port as they were', async (t) => {
  const first = await startEmbeddedPostgres({ dir, logger })
  await ask(first.url(), 'create table kept (n int)')
  await first.stop()
  t.notOk(await isAlive(first.pid), 'stop waits for the process to end')

  const second = await startEmbeddedPostgres({ dir, logger })
  t.teardown(second.stop)
  t.equal(second.url(), first.url())
  t.same(await ask(second.url(), 'select count(*)::int n from kept'), [{ n: 0 }])
})

t.test('a setting that the server refuses is reported with what it wrote', async (t) => {
  const settings = { shared_buffers: 'plenty' }
  await t.rejects(
    startEmbeddedPostgres({ dir, logger, settings }),
    /did not start:[\s\S]*shared_buffers/,
  )
})

t.test('a lock file whose process number now belongs to another is no obstacle', async (t) => {
  writeFileSync(join(dir, 'cluster/postmaster.pid'), `${process.pid}\n${dir}/cluster\n0\n1\n\n\n`)
  const server = await startEmbeddedPostgres({ dir, logger })
  t.teardown(server.stop)
  t.same(await ask(server.url(), 'select 1 as one'), [{ one: 1 }])
})

t.test('the superuser password is readable by its account only', async (t) => {
  const server = await startEmbeddedPostgres({ dir, logger })
  t.teardown(server.stop)
  const password = readFileSync(join(dir, 'cluster/chapar.password'), 'utf8').trim()
  t.ok(server.url().includes(password))
  const wrong = server.url().replace(password, 'guess')
  await t.rejects(ask(wrong, 'select 1'), { code: '28P01' })
})

t.test(
  'while a process owns the server, another is refused; after its kill, it takes over',
  async (t) => {
    const child = spawn(process.execPath, [owner, dir], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(child.stdout, 'data')
    await t.rejects(startEmbeddedPostgres({ dir, logger }), DatabaseInUse)

    child.kill('SIGKILL')
    await once(child, 'exit')
    const server = await startEmbeddedPostgres({ dir, logger })
    t.teardown(server.stop)
    t.equal(server.pid, Number(line), 'the server itself was never stopped')
  },
)

t.test('an orphan that was started with other settings is replaced', async (t) => {
  const first = await startEmbeddedPostgres({ dir, logger })
  await first.letGo()
  const second = await startEmbeddedPostgres({ dir, logger, settings: { work_mem: '5MB' } })
  t.teardown(second.stop)
  t.not(second.pid, first.pid)
  t.same(await ask(second.url(), 'show work_mem'), [{ work_mem: '5MB' }])
})

t.test('the owner keeps the server when every connection to it is cut', async (t) => {
  const server = await startEmbeddedPostgres({ dir, logger })
  t.teardown(server.stop)
  const cut =
    'select pg_terminate_backend(pid, 1000) from pg_stat_activity where pid <> pg_backend_pid()'
  await ask(server.url('postgres'), `${cut} and backend_type = 'client backend'`)
  await t.rejects(startEmbeddedPostgres({ dir, logger }), DatabaseInUse)
  t.ok(await isAlive(server.pid))
})

t.test('a stop ends the server also where its owner connects anew at that moment', async (t) => {
  for (const afterMs of [0, 2, 4]) {
    const server = await startEmbeddedPostgres({ dir, logger })
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'chapar owner'`
    await ask(server.url('postgres'), cut)
    await pause(afterMs)
    await server.stop()
    t.notOk(await isAlive(server.pid), `${afterMs} ms`)
  }
})
