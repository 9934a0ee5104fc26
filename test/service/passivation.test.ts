/** A key that nobody uses sleeps, and wakes with all that it knew. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { Relay } from '../support/relay.ts'
import { startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { linkedAccount, scene } from './scene.ts'

t.test('an idle key goes to sleep and wakes with its cursor and filter', async (t) => {
  const env = { PASSIVATE_AFTER_MS: '200' }
  const { service, client, bot, ada, credentialId, key, keyId } = await scene(t, { env })
  const { keys, updates } = service.gateway.core
  const asleep = () => until(() => keys.size === 0 && keys.peek(keyId) === undefined)
  const write = (text: string) => client.write(ada.id, '@gatebot', text)
  const asked = async (parameters: object) =>
    (await client.bot(key, 'getUpdates', parameters)).body.result

  await write('one')
  const allowed_updates = ['message']
  const [one] = await asked({ timeout: 10, allowed_updates })
  t.match(one, { message: { text: 'one' } })
  t.same(await asked({ offset: one.update_id + 1 }), [])
  await asleep()

  const { message_id } = await write('two')
  await client.result('PATCH', `/sandbox/people/${ada.id}/chats/${bot.id}/messages/${message_id}`, {
    text: 'two, changed',
  })
  await write('three')
  t.equal(keys.size, 0, 'what arrives does not wake it')
  await until(() => updates.next(credentialId) === one.update_id + 4)
  const found = await asked({})
  t.match(found, [{ message: {} }, { message: { text: 'three' } }], 'nothing confirmed comes again')
  t.equal(found.length, 2, 'the edit stays filtered out')
  t.ok(found[0].update_id > one.update_id)
  await asleep()

  const waiting = client.bot(key, 'getUpdates', { offset: found[1].update_id + 1, timeout: 20 })
  await until(() => keys.peek(keyId)?.snapshot.context.waiting !== undefined)
  await pause(600)
  t.ok(keys.peek(keyId), 'a waiting poll keeps its key awake')
  await write('four')
  t.match((await waiting).body.result, [{ message: { text: 'four' } }])
})

t.test('a key that sleeps gets what a commit without an answer has stored', async (t) => {
  const { url } = await testDatabase(t)
  const address = new URL(url)
  const port = Number(address.port)
  const relay = await Relay.start(() => port)
  address.port = `${relay.port}`
  const env = { PASSIVATE_AFTER_MS: '200' }
  const service = await startService(t, { env, databaseUrl: address.href })
  t.teardown(() => relay.stop())
  const { client, ada, key } = await linkedAccount(service)
  const { keys } = service.gateway.core
  const receiver = await Receiver.open(t)
  t.equal((await client.bot(key, 'setWebhook', { url: receiver.url })).status, 200)
  await client.write(ada.id, '@gatebot', 'before')
  await receiver.count(1)
  await until(() => keys.size === 0)
  relay.cutAnswerTo(/log-append/)
  await client.write(ada.id, '@gatebot', 'unanswered')
  t.same(
    (await receiver.count(2)).map(({ update }) => update.message.text),
    ['before', 'unanswered'],
  )
  t.ok(relay.hasCut)
})
