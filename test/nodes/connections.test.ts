/** How many connections a node opens to PostgreSQL, since all nodes share what the server allows. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { connect } from '../../src/database/database.ts'
import { linkedAccount } from '../service/scene.ts'
import { hasRedis, RedisServer } from '../support/redis.ts'
import { startService } from '../support/service.ts'

const skip = !(await hasRedis()) && 'redis-server is not installed'

/** As the documentation says. */
const MOST = 12
const COUNTER = 'test counter'

t.test('a node among others opens twelve connections at most', { skip }, async (t) => {
  const redis = await RedisServer.create(t)
  await redis.start()
  const service = await startService(t, {
    env: { CLUSTER_ADDRESS: 'https://127.0.0.1:0', REDIS_URL: redis.url, NODE_NAME: 'one' },
  })
  const { client } = await linkedAccount(service, 'loadbot')
  const counting = await connect(service.databaseUrl, COUNTER)
  t.teardown(() => counting.close())
  const count = async () => {
    const rows = await counting.query<{ name: string; open: number }>(
      `select application_name as name, count(*)::int as open from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and application_name <> $1
        group by 1 order by 1`,
      [COUNTER],
    )
    return { rows, open: rows.reduce((sum, { open }) => sum + open, 0) }
  }
  const idle = await count()
  t.comment('idle', JSON.stringify(idle.rows))
  t.ok(idle.open <= MOST, `${idle.open} after the start`)

  // Every statement that reads accounts waits for this one, so that each call takes a connection if there is one left.
  const locking = await connect(service.databaseUrl, COUNTER)
  t.teardown(() => locking.close())
  await locking.query('begin')
  await locking.query('lock table credential in access exclusive mode')
  const calls = Array.from({ length: 60 }, () =>
    fetch(`${service.url}/platforms/credentials`, {
      headers: { authorization: `Bearer ${client.token}` },
    }),
  )
  let most = 0
  for (const until = Date.now() + 1_500; Date.now() < until; await pause(50)) {
    most = Math.max(most, (await count()).open)
  }
  await locking.query('rollback')
  await Promise.all(calls)
  t.comment('under load', JSON.stringify((await count()).rows))
  t.ok(most > idle.open, `${most} under load`)
  t.ok(most <= MOST, `${most} under load`)
})
