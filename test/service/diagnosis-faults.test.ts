/** Every fault of a network is recognised by the step of the diagnosis that it concerns. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { joinService } from '../support/shared-service.ts'
import { troubledAccount } from './scene.ts'

const service = await joinService(t)

async function account(name: string) {
  const account = await troubledAccount(service, name)
  const { client, keyId } = account
  const diagnose = (body: object = {}) =>
    client.result('POST', `/api_keys/${keyId}/diagnosis`, { all: true, ...body })
  return { ...account, diagnose }
}

const step = (diagnosis: { steps: { step: string }[] }, name: string) =>
  diagnosis.steps.find((one) => one.step === name)

t.test('an account in good order passes every step, and gets its message', async (t) => {
  const { diagnose, client, ada } = await account('healthy_bot')
  const found = await diagnose({ send_to: '@healthy_bot_friend' })
  t.match(found, { step: null, cause: null, next_action: /Nothing is wrong/ })
  t.same(
    found.steps.map(({ verdict }: { verdict: string }) => verdict),
    ['passed', 'passed', 'passed', 'passed', 'passed'],
  )
  const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
  t.match(messages, [{ text: 'Test message of Chapar' }])
  t.match(step(await diagnose(), 'send'), { verdict: 'skipped', remedy: /send_to/ })
})

t.test('what takes the account off the network', async (t) => {
  const cases = [
    ['drop', { seconds: 60 }, 'connecting', 'network', /Wait/],
    ['silence', {}, 'degraded', 'no_traffic', /Wait/],
    ['flood_wait', { seconds: 60 }, 'degraded', 'flood_wait', /send less/],
    ['revoke', {}, 'logged_out', 'session_revoked', /Link the account again/],
    ['ban', {}, 'invalid', 'account_banned', /Contact the platform/],
    ['replace', {}, 'failed', 'replaced_elsewhere', /other client/],
  ] as const
  for (const [fault, details, state, code, remedy] of cases) {
    const troubled = await account(`fault_${fault}`)
    await troubled.fault(fault, details)
    await troubled.state(state)
    const found = await troubled.diagnose({ send_to: `@fault_${fault}_friend` })
    t.match(found.cause, { step: 'credential', code }, fault)
    t.match(found.next_action, remedy, fault)
    t.match(step(found, 'credential'), { verdict: 'failed', code, remedy }, fault)
    t.match(step(found, 'get_me'), { verdict: 'passed' }, `${fault}: the key is not to blame`)
    t.match(step(found, 'send'), { verdict: 'skipped' }, `${fault}: there is nothing to send with`)
  }
})

t.test('silence is seen even before the next probe finds it', async (t) => {
  const { diagnose, fault } = await account('just_silent')
  await fault('silence')
  t.match((await diagnose()).cause, { step: 'credential', code: 'no_traffic' })
})

t.test('a slow network is told from one that does not answer', async (t) => {
  const { diagnose, fault } = await account('slow_bot')
  await fault('delay', { milliseconds: 700 })
  const found = await diagnose()
  t.match(step(found, 'credential'), { verdict: 'passed', code: 'slow' })
  t.match(found, { cause: { code: 'slow' }, next_action: /slowly/ })
})

t.test('a send whose answer is lost', async (t) => {
  const { diagnose, fault } = await account('lossy_bot')
  await fault('lose_answers')
  const found = await diagnose({ send_to: '@lossy_bot_friend' })
  t.match(found.cause, { step: 'send', code: 'outcome_unknown' })
  t.match(found.next_action, /it may have/)
})

t.test('a target that cannot be written to', async (t) => {
  const { diagnose } = await account('lonely_bot')
  for (const send_to of ['@nobody_at_all', 'nonsense', '@\ufffd']) {
    const found = await diagnose({ send_to })
    t.match(found.cause, { step: 'send', code: 'chat_not_found' }, send_to)
  }
})

t.test('events told twice, and out of order', async (t) => {
  const twice = await account('twice_bot')
  await twice.fault('duplicate')
  await twice.write('hello')
  await until(async () => (await twice.updates({})).body.result.length > 0)
  const found = await twice.diagnose()
  t.match(step(found, 'credential'), { verdict: 'passed', code: 'events_repeated' })
  t.match(found.cause, { step: 'credential', text: /twice/ })

  const muddled = await account('muddled_bot')
  const eve = await muddled.client.person('Eve')
  await muddled.fault('reorder')
  await muddled.fault('silence')
  await muddled.write('first')
  await pause(1_100)
  await muddled.client.write(eve.id, '@muddled_bot', 'second')
  await muddled.client.ask('DELETE', `/sandbox/people/${muddled.bot.id}/faults/silence`)
  const pending = async () =>
    (await muddled.client.result('GET', `/api_keys/${muddled.keyId}`)).pending_update_count
  await until(async () => (await pending()) === 2)
  await muddled.state('active')
  const disordered = await muddled.diagnose()
  t.match(step(disordered, 'credential'), { verdict: 'passed', code: 'events_disordered' })
})
