/** Credentials that crash: restarted with backoff, given up visibly, and nobody else feels it. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { troubledAccount } from './scene.ts'

const fatal: unknown[] = []
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (cause: unknown) => fatal.push(cause))
}

const service = await startService(t)
// Most of it is waiting for the next start.
t.jobs = 2

/** Tells the actor of a credential something that its machine cannot digest, as soon as it lives. */
async function crash(credentialId: number): Promise<void> {
  const actor = await until(() => {
    const live = service.gateway.core.supervisor.peek(credentialId)
    return live?.isActive && live
  })
  const boom = () => {
    throw new Error('boom')
  }
  actor.tell(Object.defineProperty({ type: 'request.settled' }, 'reply', { get: boom }) as never)
  await actor.closed
}

const restarted = t.test('a crashed credential is restarted, and misses nothing', async (t) => {
  const crashed = await troubledAccount(service, 'crashed')
  await crashed.client.result('PATCH', `${crashed.path}/settings`, { include_self_updates: true })
  await crash(crashed.credentialId)
  t.match(await crashed.record(), { state: 'degraded', reason: 'crashed', action: 'wait' })
  await crashed.write('while it was down')
  const { body } = await crashed.updates({ timeout: 20 })
  t.match(body.result, [{ message: { text: 'while it was down' } }])
  t.match(await crashed.state('active'), {
    reason: null,
    settings: { include_self_updates: true },
  })
  t.match(await crashed.send(), { status: 200 })
  const lines = (await crashed.timeline()).map(({ from, to, reason }) => ({ from, to, reason }))
  t.match(lines.slice(0, 4).reverse(), [
    { from: 'live.online', to: 'crashed', reason: 'crashed' },
    { from: 'crashed', to: 'queued', reason: null },
    { from: 'queued', to: 'live.starting', reason: null },
    { from: 'live.starting', to: 'live.online', reason: null },
  ])
})

const refusing = t.test('while it rests after a crash, calls are told to come back', async (t) => {
  const { send, credentialId } = await troubledAccount(service, 'resting')
  await crash(credentialId)
  await crash(credentialId)
  await crash(credentialId)
  t.match(await send(), {
    status: 503,
    body: {
      description: 'Service Unavailable: the credential is restarting',
      parameters: { retry_after: Number },
    },
  })
})

const failed = t.test(
  'five crashes in a minute end in failed, which a restart cures',
  async (t) => {
    const bystander = await troubledAccount(service, 'bystander')
    const unstable = await troubledAccount(service, 'unstable')
    for (const _ of '12345') await crash(unstable.credentialId)
    t.match(await unstable.state('failed'), { reason: 'crash_loop', action: 'restart' })
    t.match(await unstable.send(), {
      status: 403,
      body: { description: 'Forbidden: the credential has failed; restart it' },
    })
    t.match(await unstable.updates({}), {
      status: 403,
      body: { description: 'Forbidden: the credential has failed; restart it' },
    })
    t.match((await unstable.timeline())[0], { to: 'failed', reason: 'crash_loop' })

    t.match(await bystander.send(), { status: 200 })
    t.match(await bystander.record(), { state: 'active' })

    t.match(await unstable.client.ask('POST', `${unstable.path}/restart`), { status: 200 })
    t.match(await unstable.state('active'), { reason: null, action: 'none' })
    t.match(await unstable.send(), { status: 200 })
  },
)

await Promise.all([restarted, refusing, failed])
t.test('nothing of it reached the process', async (t) => t.same(fatal, []))
