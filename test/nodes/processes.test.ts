/** NODES=3: three processes behind one port, of which some are killed while bots call. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { testDatabase } from '../support/database.ts'
import { startCallers, unlimited } from './callers.ts'
import { startRemote } from './remote-service.ts'

const children = (pid: number): number[] =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', `${pid}`], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number)

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Resolves once it has been answered. */
async function newConnection(url: string): Promise<void> {
  const asked = get(`${url}/health/live`, { agent: false, signal: AbortSignal.timeout(3_000) })
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.resume()
}

t.test('three nodes on one port outlive each other', { timeout: 120_000 }, async (t) => {
  const { url: databaseUrl, database } = await testDatabase(t)
  const env = { ...unlimited, NODES: '3' }
  const service = await startRemote(t, { databaseUrl, name: 'box', env })
  const up = async () => {
    const rows = await database.query<{ name: string }>(
      `select name from node where state = 'up' order by name`,
    )
    return rows.map(({ name }) => name).join()
  }
  const all = async () => {
    while ((await up()) !== 'box-1,box-2,box-3') await pause(100)
  }
  await all()
  const client = await service.client('+14155559101')
  const bots = await Promise.all(
    [1, 2, 3].map(async (n) => {
      const bot = await client.person('Bot', `samebox${n}`)
      const friend = await client.person('Ada', `samebox_friend${n}`)
      const { key } = await client.key(await client.link(bot))
      return { callers: startCallers(service.url, key, friend.id), friend, name: `@samebox${n}` }
    }),
  )
  await pause(1_000)
  const [victim = 0] = children(service.pid)
  process.kill(victim, 'SIGSTOP')
  await pause(100)
  const answers = await Promise.allSettled(
    Array.from({ length: 9 }, () => newConnection(service.url)),
  )
  process.kill(victim, 'SIGKILL')
  t.same(
    answers.filter(({ status }) => status === 'rejected'),
    [],
    'no connection is left with a process that accepts none',
  )
  await pause(3_000)
  await all()
  for (const { friend, name } of bots) await client.write(friend.id, name, 'still there?')
  await pause(1_500)
  for (const { callers } of bots) {
    await callers.end()
    t.comment(`${callers.sent.length} sent, the longest took ${callers.longest()} ms`)
    t.same(callers.failures, [])
    t.ok(callers.cut() <= 3, 'only the calls on connections to the process that was killed')
    t.same(callers.seen, ['still there?'])
  }
  const left = children(service.pid)
  t.equal(left.length, 3)
  await service.end('SIGTERM')
  t.same(left.filter(isRunning), [], 'no process is left behind')
})
