/** What a credential shows when its network misbehaves, and what its key is told meanwhile. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { refused, troubledAccount } from './scene.ts'

const service = await startService(t)

const account = (name: string) => troubledAccount(service, name)

t.test('a dropped connection comes back by itself, with what was missed', async (t) => {
  const { state, fault, write, updates, record, send, timeline } = await account('dropped')
  await fault('drop', { seconds: 1 })
  t.match(await state('connecting'), { reason: 'network', action: 'wait', online_since: null })
  const { body } = await send()
  t.match(body, { error_code: 503, parameters: { retry_after: Number } })
  t.match(body.description, 'Service Unavailable: the credential is reconnecting')
  await write('while away')
  t.match((await updates({ timeout: 15 })).body.result, [{ message: { text: 'while away' } }])
  t.match(await record(), { state: 'active', reason: null, action: 'none' })
  t.match(await send(), { status: 200 })
  const steps = (await timeline()).map(({ to }) => to)
  t.ok(steps.includes('waiting') && steps.includes('queued'), steps.join(' '))
})

t.test('silence is found by the probe and ends by it', async (t) => {
  const { state, fault, clear, write, updates, send, record } = await account('silent')
  const { online_since } = await state('active')
  t.ok(Date.parse(online_since) <= Date.now())
  await fault('silence')
  t.match(await state('degraded'), {
    reason: 'no_traffic',
    action: 'wait',
    health: { healthy: false },
  })
  t.match(
    await send(),
    refused(503, 'Service Unavailable: the credential is connected but nothing flows'),
  )
  await write('into the void')
  await clear()
  t.match((await updates({ timeout: 15 })).body.result, [{ message: { text: 'into the void' } }])
  await state('active')
  await until(async () => (await record()).health.healthy)
  t.match(await send(), { status: 200 })
})

t.test('a flood wait is told with its seconds, and ends when they are over', async (t) => {
  const { state, fault, send, write, updates } = await account('flooded')
  await fault('flood_wait', { seconds: 2 })
  t.match(await state('degraded'), { reason: 'flood_wait', action: 'wait' })
  const limited = await send()
  const seconds = limited.body.parameters.retry_after
  t.ok(seconds >= 1 && seconds <= 2, `${seconds}`)
  t.match(limited, refused(429, `Too Many Requests: retry after ${seconds}`))
  t.equal(limited.headers.get('retry-after'), `${seconds}`)
  await write('received all the same')
  t.match((await updates({ timeout: 5 })).body.result, [
    { message: { text: 'received all the same' } },
  ])
  t.match(await state('active'), { reason: null, action: 'none' })
  t.match(await send(), { status: 200 })
})

t.test('what ends a session for good has a state, a reason and an action each', async (t) => {
  const cases = [
    [
      'revoke',
      'logged_out',
      'session_revoked',
      'link_again',
      'the credential is logged out; link it again',
    ],
    [
      'ban',
      'invalid',
      'account_banned',
      'contact_platform',
      'the account is banned or gone; contact the platform',
    ],
    [
      'replace',
      'failed',
      'replaced_elsewhere',
      'restart',
      'another client took the session; restart the credential',
    ],
  ] as const
  const accounts = []
  for (const [fault, state, reason, action, description] of cases) {
    const one = await account(`gone_${fault}`)
    await one.fault(fault)
    t.match(await one.state(state), { reason, action, online_since: null }, fault)
    t.match(await one.send(), refused(403, `Forbidden: ${description}`))
    t.match(await one.updates({}), refused(403, `Forbidden: ${description}`), 'so is a poll')
    t.match((await one.timeline())[0], { reason })
    const report = await one.client.result('POST', `${one.path}/test`)
    t.match(report, {
      healthy: false,
      state,
      checks: [{ check: 'session', ok: false, remedy: String }],
    })
    accounts.push({ one, state, reason })
  }
  await service.restart()
  for (const { one, state, reason } of accounts) {
    t.match(await one.record(), { state, reason }, 'the same after a restart of the service')
  }
})

t.test('events told twice or out of order are in the log once, each chat in order', async (t) => {
  const { client, bot, ada, fault, updates } = await account('muddled')
  const eve = await client.person('Eve', 'muddled_eve')
  await fault('duplicate')
  await fault('reorder')
  const write = async (who: { id: number }) => {
    for (const n of [1, 2, 3, 4, 5]) await client.write(who.id, bot.id, `${who.id} ${n}`)
  }
  await Promise.all([write(ada), write(eve)])
  const read: { update_id: number; message: { text: string; from: { id: number } } }[] = []
  while (read.length < 10) {
    const { body } = await updates({ timeout: 5, offset: (read.at(-1)?.update_id ?? 0) + 1 })
    t.ok(body.result.length > 0, 'something came')
    read.push(...body.result)
  }
  for (const { id } of [ada, eve]) {
    t.same(
      read.filter(({ message }) => message.from.id === id).map(({ message }) => message.text),
      [1, 2, 3, 4, 5].map((n) => `${id} ${n}`),
    )
  }
  t.same(
    read.map(({ update_id }) => update_id),
    read.map((_, n) => read[0]!.update_id + n),
  )
})

t.test('a slow network is waited for; one that never answers is a time-out', async (t) => {
  const { fault, clear, send, state, client, ada } = await account('slow')
  await fault('delay', { milliseconds: 150 })
  const began = performance.now()
  t.match(await send('slowly'), { status: 200 })
  t.ok(performance.now() - began > 140)
  await clear()
  await fault('lose_answers', { times: 1 })
  const unknown =
    'Gateway Timeout: the platform did not answer in time; the message may have been sent'
  t.match(await send('perhaps'), refused(504, unknown))
  const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
  t.equal(messages.filter(({ text }: { text: string }) => text === 'perhaps').length, 1)
  t.match(await send('again'), { status: 200 })
  await state('active')
})

t.test('all linked credentials are back after a restart of the service', async (t) => {
  const accounts = [await account('back_one'), await account('back_two')]
  await service.restart()
  for (const { state, send } of accounts) {
    await state('active')
    t.match(await send('back'), { status: 200 })
  }
})
