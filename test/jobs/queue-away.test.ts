/** A queue that does not answer, or was emptied: codes are sent all the same, and what recurs goes on. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createJobs, rearm } from '../../src/jobs/jobs.ts'
import { refused } from '../actors/refused.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { hasRedis, startRedis } from '../support/redis.ts'
import { Relay } from '../support/relay.ts'

const recurs = { kind: 'updates', id: 'retention' }

const skip = !(await hasRedis()) && 'redis-server is not installed'

async function stage(t: Test) {
  const { port } = new URL(await startRedis(t))
  const relay = await Relay.start(() => Number(port))
  t.teardown(() => relay.stop())
  const redisUrl = `redis://127.0.0.1:${relay.port}`
  const jobs = await createJobs({ databaseUrl: 'postgres://unused', redisUrl, logger: quietLogger })
  t.teardown(() => jobs.close())
  const sent: string[] = []
  jobs.onSendCode(async (id) => {
    if (id === 'impossible') throw new Error('the provider is away as well')
    sent.push(id)
  })
  return { jobs, relay, sent, port: Number(port) }
}

t.test('a frozen queue keeps no code and no stop waiting', { skip }, async (t) => {
  const { jobs, relay, sent } = await stage(t)
  relay.silence()
  t.teardown(() => relay.unsilence())
  await Promise.all([
    jobs.sendCode('a').then(() => t.same(sent, ['a'])),
    refused(t, jobs.sendCode('impossible'), { code: 'unavailable', retryAfterSeconds: 60 }),
    jobs.remind({ kind: 'webhook', id: '1', at: new Date(Date.now() + 60_000) }),
  ])
  await jobs.close()
})

t.test('what recurs does so again after the queue was emptied', { skip }, async (t) => {
  const { jobs, port } = await stage(t)
  let runs = 0
  jobs.onReminder('updates', async () => {
    runs++
  })
  jobs.start()
  await jobs.remind({ ...recurs, at: new Date(Date.now() + 3_600_000) })
  const redis = connect(port, '127.0.0.1').end('FLUSHALL\r\n')
  await once(redis.resume(), 'close')
  t.equal(runs, 0)
  t.teardown(rearm(jobs, [recurs], quietLogger, { everyMs: 50, soonMs: 0 }))
  await until(() => runs > 0)
})

t.test('reminders are asked for anew once the clock was set back', async (t) => {
  const asked: string[] = []
  const jobs = {
    remind: async ({ id }: { readonly id: string }) => void asked.push(id),
    onBack: () => undefined,
  }
  let setBy = 0
  const ofDay = () => Date.now() + setBy
  t.teardown(rearm(jobs, [recurs], quietLogger, { lookMs: 10, ofDay }))
  await pause(50)
  setBy = 3_600_000
  await pause(50)
  t.same(asked, [], 'ahead they come early')
  setBy = 0
  await until(() => asked.length > 0)
  await pause(50)
  t.same(asked, [recurs.id], 'once')
})
