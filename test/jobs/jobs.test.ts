/** Jobs: retried, deduplicated and resumed, on PostgreSQL and on Redis alike. */
import type { EventEmitter } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { PostgresConnection } from 'bullmq'
import t, { type Test } from 'tap'
import { postgresBackend } from '../../src/jobs/backend.ts'
import { createJobs, type Jobs, PermanentFailure } from '../../src/jobs/jobs.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { hasRedis, startRedis } from '../support/redis.ts'

const soon = () => new Date(Date.now() + 50)
const inAnHour = () => new Date(Date.now() + 3_600_000)

/** Collects what a handler is called with, and waits for a number of calls. */
function calls() {
  const seen: string[] = []
  let changed = Promise.withResolvers<void>()
  return {
    seen,
    note(id: string) {
      seen.push(id)
      changed.resolve()
      changed = Promise.withResolvers<void>()
    },
    async reach(count: number) {
      while (seen.length < count) await changed.promise
    },
  }
}

type Open = (t: Pick<Test, 'teardown'>) => Promise<Jobs>

/** All at once: most of it is waiting for a second try. */
function behaviour(t: Test, open: Open) {
  t.jobs = 5
  t.test('a code is sent once, however often it is asked for', async (t) => {
    const jobs = await open(t)
    const sent = calls()
    jobs.onSendCode(async (id) => sent.note(id))
    await Promise.all(['a', 'a', 'b', 'a'].map((id) => jobs.sendCode(id)))
    jobs.start()
    await sent.reach(2)
    t.same(sent.seen.toSorted(), ['a', 'b'])
  })

  t.test('a failed job is tried again, a hopeless one is not', async (t) => {
    const jobs = await open(t)
    const tried = calls()
    jobs.onSendCode(async (id) => {
      tried.note(id)
      if (id === 'hopeless') throw new PermanentFailure('no such number')
      if (tried.seen.filter((each) => each === id).length < 2) throw new Error('not now')
    })
    jobs.start()
    await jobs.sendCode('hopeless')
    await jobs.sendCode('shaky')
    await tried.reach(3)
    t.same(tried.seen.toSorted(), ['hopeless', 'shaky', 'shaky'])
  })

  t.test('a reminder comes when it is due, to the handler of its kind', async (t) => {
    const jobs = await open(t)
    const links = calls()
    const webhooks = calls()
    jobs.onReminder('link', async (id) => links.note(id))
    jobs.onReminder('webhook', async (id) => webhooks.note(id))
    jobs.start()
    const at = soon()
    await jobs.remind({ kind: 'link', id: '1', at })
    await jobs.remind({ kind: 'webhook', id: '1', at })
    await Promise.all([links.reach(1), webhooks.reach(1)])
    t.ok(Date.now() >= at.getTime())
  })

  t.test('a new reminder replaces the one that waits', async (t) => {
    const jobs = await open(t)
    const woken = calls()
    jobs.onReminder('probe', async (id) => woken.note(id))
    jobs.start()
    await jobs.remind({ kind: 'probe', id: '1', at: inAnHour() })
    await jobs.remind({ kind: 'probe', id: '1', at: soon() })
    await jobs.remind({ kind: 'probe', id: '2', at: soon() })
    await jobs.remind({ kind: 'probe', id: '2', at: inAnHour() })
    await jobs.remind({ kind: 'probe', id: '3', at: soon() })
    await woken.reach(2)
    t.same(woken.seen.toSorted(), ['1', '3'])
  })

  t.test('a handler can ask for the next reminder of its own target', async (t) => {
    const jobs = await open(t)
    const woken = calls()
    jobs.onReminder('tick', async (id) => {
      woken.note(id)
      await jobs.remind({ kind: 'tick', id, at: soon() })
    })
    jobs.start()
    await jobs.remind({ kind: 'tick', id: '1', at: soon() })
    await woken.reach(3)
    t.same(woken.seen.slice(0, 3), ['1', '1', '1'])
  })
}

t.test('on PostgreSQL', async (t) => {
  const open: Open = async (t) => {
    const { url } = await testDatabase(t)
    const jobs = await createJobs({ databaseUrl: url, logger: quietLogger })
    t.teardown(() => jobs.close())
    return jobs
  }
  behaviour(t, open)

  t.test('a connection lost while it is borrowed does not end the process', async (t) => {
    const { url, database } = await testDatabase(t)
    const queue = (await postgresBackend(url)).queue('lost', {})
    t.teardown(() => queue.close())
    queue.on('error', () => undefined)
    const { backend } = queue as unknown as { backend: { connection: PostgresConnection } }
    const client = await backend.connection.pool.connect()
    const { rows } = await client.query('select pg_backend_pid() as pid')
    const [{ pid }] = rows as [{ pid: number }]
    await database.query(`select pg_terminate_backend(${pid})`)
    // No statement is under way when the end is heard.
    await setTimeout(200)
    await t.rejects(client.query('select 1'))
    client.release(true)
  })

  t.test('nor does one that the server ends while it is being closed', async (t) => {
    const { url } = await testDatabase(t)
    const queue = (await postgresBackend(url)).queue('closed', {})
    queue.on('error', () => undefined)
    const { backend } = queue as unknown as { backend: { connection: PostgresConnection } }
    const client: unknown = await backend.connection.getListenClient()
    const closed = backend.connection.close()
    // An error that nobody listens to is thrown.
    t.doesNotThrow(() => (client as EventEmitter).emit('error', new Error('ended by the server')))
    await closed
    await queue.close()
  })

  t.test('the schema is found beside what the address asks for', async (t) => {
    const { url } = await testDatabase(t)
    const queue = (await postgresBackend(`${url}?options=-c%20geqo%3Doff`)).queue('named', {})
    t.teardown(() => queue.close())
    await queue.add('send', { kind: 'send', id: '1' }, {})
    const { backend } = queue as unknown as { backend: { connection: PostgresConnection } }
    const { rows } = await backend.connection.pool.query('show geqo')
    t.same(rows, [{ geqo: 'off' }])
  })

  t.test('jobs outlive a restart and lost connections', async (t) => {
    const { url, database } = await testDatabase(t)
    const before = await createJobs({ databaseUrl: url, logger: quietLogger })
    await before.sendCode('kept')
    await before.close()

    const jobs = await createJobs({ databaseUrl: url, logger: quietLogger })
    t.teardown(() => jobs.close())
    const sent = calls()
    jobs.onSendCode(async (id) => sent.note(id))
    jobs.start()
    await sent.reach(1)
    await database.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name <> 'chapar'`)
    await jobs.sendCode('after').catch(() => jobs.sendCode('after'))
    await sent.reach(2)
    t.same(sent.seen, ['kept', 'after'])
  })

  t.test('a reminder that is replaced as it begins keeps no other one waiting', async (t) => {
    const { url, database } = await testDatabase(t)
    const told: unknown[] = []
    const logger = { ...quietLogger, warn: (_: object, line: string) => told.push(line) }
    const jobs = await createJobs({ databaseUrl: url, logger })
    t.teardown(() => jobs.close())
    const begun = calls()
    const done = Promise.withResolvers<void>()
    jobs.onReminder('slow', async (id) => {
      begun.note(id)
      await done.promise
    })
    const woken = calls()
    jobs.onReminder('other', async (id) => woken.note(id))
    await jobs.remind({ kind: 'slow', id: '1', at: soon() })
    await setTimeout(100)

    const waiting = (count: number) =>
      until(async () => {
        const rows = await database.query(
          `select from pg_stat_activity where datname = current_database()
            and application_name = 'chapar jobs' and wait_event_type = 'Lock'`,
        )
        return rows.length === count
      })
    await database.transaction(async (tx) => {
      await tx.query(`select from bullmq.job where name = 'slow' for update`)
      jobs.start()
      await waiting(1)
      void jobs.remind({ kind: 'slow', id: '1', at: inAnHour() })
      await waiting(2)
    })
    await begun.reach(1)
    await until(async () => (await database.query('select from bullmq.job')).length === 1)
    done.resolve()
    await setTimeout(100)
    const asked = performance.now()
    for (const id of ['2', '3']) {
      await jobs.remind({ kind: 'other', id, at: new Date() })
      await woken.reach(Number(id) - 1)
    }
    t.ok(performance.now() - asked < 700, 'a pause takes a second')
    t.same(told, [])
    const [kept] = await database.query('select name, state from bullmq.job')
    t.same(kept, { name: 'slow', state: 'delayed' }, 'the later one waits')
  })

  t.test('the statistics of the job table are frozen', async (t) => {
    const { url, database } = await testDatabase(t)
    await database.query('drop schema bullmq cascade')
    const jobs = await createJobs({ databaseUrl: url, logger: quietLogger })
    t.teardown(() => jobs.close())
    const [table] = await database.query<{ reloptions: string[] }>(
      "select reloptions from pg_class where oid = 'bullmq.job'::regclass",
    )
    t.match(table!.reloptions.join(), 'autovacuum_analyze_threshold=2000000000')
  })
})

t.test('on Redis', { skip: !(await hasRedis()) && 'redis-server is not installed' }, async (t) => {
  const url = await startRedis(t)
  let databases = 0
  const open: Open = async (t) => {
    const redisUrl = `${url}/${databases++}`
    const jobs = await createJobs({
      databaseUrl: 'postgres://unused',
      redisUrl,
      logger: quietLogger,
    })
    t.teardown(() => jobs.close())
    return jobs
  }
  behaviour(t, open)
})
