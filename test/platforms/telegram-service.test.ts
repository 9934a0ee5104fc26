/** The main job on an account of Telegram: linked over HTTP, it sends and hears, through a restart of the service. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { Stage } from './telegram/stage.ts'

t.test('a bot speaks through an account of Telegram', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const person = network.person({ password: 'correct horse' })
  const friend = network.person()

  const { session_id } = await client.result('POST', '/platforms/telegram/link/start', {
    phone: `+${person.phone}`,
  })
  await service.restart()
  const verify = (answer: object) =>
    client.result('POST', '/platforms/telegram/link/verify', { session_id, ...answer })
  t.match(await verify({ otp: person.code }), { state: 'password_needed' })
  const linked = await verify({ password: 'correct horse' })
  t.match(linked, { state: 'linked', credential: { platform: 'telegram' } })
  const { credential_id } = linked.credential
  await client.state(credential_id, 'active')
  const settings = { include_channel_updates: true, include_deleted_updates: true }
  await client.result('PATCH', `/platforms/credentials/${credential_id}/settings`, settings)
  const { key } = await client.key(credential_id)
  const call = async (method: string, body: object) => {
    const answer = await client.bot(key, method, body)
    if (!answer.body.ok) throw new Error(`${method}: ${JSON.stringify(answer.body)}`)
    return answer.body.result
  }

  const text = '<b>bold</b> and <a href="https://example.org/">linked</a>'
  const sent = await call('sendMessage', { chat_id: friend.id, text, parse_mode: 'HTML' })
  t.match(sent, { chat: { id: friend.id, type: 'private' }, text: 'bold and linked' })
  t.match([...friend.messages.values()].at(-1), {
    message: 'bold and linked',
    entities: [{ _: 'messageEntityBold', length: 4 }, { _: 'messageEntityTextUrl' }],
  })

  const written = network.delivery.send(friend, person, {
    message: 'hello bot',
    entities: [{ _: 'messageEntityItalic', offset: 0, length: 5 }],
  })
  await service.restart()
  const heard = await call('getUpdates', { timeout: 10 })
  t.match(heard, [
    { message: { text: 'hello bot', from: { id: friend.id }, entities: [{ type: 'italic' }] } },
  ])
  network.delivery.delete(friend, [written])
  const offset = heard[0].update_id + 1
  t.match(await call('getUpdates', { offset, timeout: 10 }), [
    { deleted_messages: { chat: { id: friend.id }, message_ids: [heard[0].message.message_id] } },
  ])

  const buttons = { inline_keyboard: [[{ text: 'Yes', callback_data: 'yes' }]] }
  const refused = await client.bot(key, 'sendMessage', {
    chat_id: friend.id,
    text: 'press',
    reply_markup: buttons,
  })
  t.match(refused.body, {
    error_code: 400,
    description: /^Bad Request: inline keyboards are not supported on Telegram$/,
  })

  network.revoke(person)
  t.match(await client.state(credential_id, 'connecting'), { reason: 'session_revoked' })
  // It is asked once more.
  const record = await client.state(credential_id, 'logged_out', 90_000)
  t.match(record, { reason: 'session_revoked', action: 'link_again' })
  t.ok(await until(() => network.connectionsOf(person).length === 0))
})
