/** An account that was given up is no healthier for a restart of the service: it is well once it is online. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { troubledAccount } from './scene.ts'

const service = await startService(t)

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

t.test('record, timeline and diagnosis agree before and after', async (t) => {
  const account = await troubledAccount(service, 'givenup')
  const { client, credentialId, keyId, fault, clear, state, record, timeline } = account
  const diagnose = async () => {
    const { steps } = await client.result('POST', `/api_keys/${keyId}/diagnosis`, { all: true })
    return steps.find(({ step }: { step: string }) => step === 'credential')
  }
  for (const _ of '12345') await crash(credentialId)
  await state('failed')
  t.match(await diagnose(), { verdict: 'failed', code: 'crash_loop' })

  await fault('silence')
  await service.restart()
  await state('degraded')
  t.match(await record(), { health: { healthy: false }, online_since: null })
  t.match(await diagnose(), { verdict: 'failed' })
  const line = (await timeline()).find(({ from, to }) => from === 'failed' && to === 'queued')
  t.match(line, { event: 'actor.started' }, 'the new chance is a line of its own')

  await clear()
  await state('active')
  t.match(await record(), { reason: null, action: 'none', health: { healthy: true } })
  t.match(await diagnose(), { verdict: 'passed' })
  t.match((await timeline())[0], { to: 'live.online' })
})
