/** getUpdates of an account that is out: what is left, then why nothing comes, and how to mend it. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { refused, troubledAccount } from './scene.ts'

const service = await startService(t)
const LOGGED_OUT = 'Forbidden: the credential is logged out; link it again'

t.test('the backlog comes first, then the reason, until it is linked again', async (t) => {
  const { fault, clear, state, write, updates, client, bot, credentialId, key, keyId, send } =
    await troubledAccount(service, 'outbot')
  await write('before')
  await until(async () => (await updates({ limit: 1 })).body.result.length === 1)
  await fault('revoke')
  await state('logged_out')

  const { body } = await updates({})
  t.match(body.result, [{ message: { text: 'before' } }])
  const offset = body.result[0].update_id + 1
  for (const timeout of [0, 50])
    t.match(await updates({ offset, timeout }), refused(403, LOGGED_OUT))
  t.match(await send(), refused(403, LOGGED_OUT))
  const { result } = (await client.bot(key, 'getWebhookInfo')).body
  t.match(result, { last_error_message: LOGGED_OUT, last_error_date: Number })
  t.ok(Math.abs(result.last_error_date - Date.now() / 1000) < 60)
  await pause(1_100)
  await service.restart()
  await state('logged_out')
  const again = (await client.bot(key, 'getWebhookInfo')).body.result
  t.equal(again.last_error_date, result.last_error_date, 'it is no later for a restart')
  const { findings, cause } = await client.result('POST', `/api_keys/${keyId}/diagnosis`, {
    all: true,
  })
  t.match(cause, { step: 'credential', code: 'session_revoked' }, JSON.stringify(findings))

  await clear()
  await client.link(bot)
  const held = updates({ offset, timeout: 20 })
  await pause(200)
  await write('after')
  t.match((await held).body.result, [{ message: { text: 'after' } }])
  t.equal((await client.bot(key, 'getWebhookInfo')).body.result.last_error_message, undefined)
  t.match(await client.state(credentialId, 'active'), { reason: null })
})

t.test('the webhook of a key says what getWebhookInfo says', async (t) => {
  const { fault, state, client, key, keyId } = await troubledAccount(service, 'hookedout')
  await client.bot(key, 'setWebhook', { url: 'http://127.0.0.1:9/' })
  await fault('revoke')
  await state('logged_out')
  const { last_error_date, last_error_message } = (await client.bot(key, 'getWebhookInfo')).body
    .result
  t.equal(last_error_message, LOGGED_OUT)
  const { webhook } = await client.result('GET', `/api_keys/${keyId}`)
  t.match(webhook, { last_error_date, last_error_message })
})

t.test('a poll that is held when the account goes out ends with the reason', async (t) => {
  for (const [place, name, shown, description] of [
    ['revoke', 'heldone', 'logged_out', LOGGED_OUT],
    ['ban', 'heldtwo', 'invalid', 'Forbidden: the account is banned or gone; contact the platform'],
  ] as const) {
    const { fault, state, updates } = await troubledAccount(service, name)
    const held = updates({ timeout: 50 })
    await pause(200)
    await fault(place)
    t.match(await held, refused(403, description))
    await state(shown)
  }
})

t.test('while an account only connects or is restricted, polls are held as ever', async (t) => {
  const { fault, clear, state, updates, write } = await troubledAccount(service, 'patient')
  await fault('flood_wait', { seconds: 600 })
  await state('degraded')
  const held = updates({ timeout: 20 })
  await pause(500)
  await clear()
  await write('still here')
  t.match((await held).body.result, [{ message: { text: 'still here' } }])
})
