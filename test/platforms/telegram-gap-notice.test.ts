/** After a gap that is too long for Telegram its user learns that not everything is told: from the timeline, and as a bot. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('what was left out of a gap is told', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const platforms = [stage.platform({ recovery: { ofChat: 2, inAll: 100 } })]
  const service = await startService(t, { platforms })
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  person.mostMissed = 3
  const { key, credentialId } = await linkOver(client, person)
  const write = (message: string) => network.delivery.send(friend, person, { message })
  const texts: string[] = []
  let offset = 0
  const tells = (text: string) =>
    until(async () => {
      const { body } = await client.bot(key, 'getUpdates', { offset, timeout: 10 })
      for (const { update_id, message } of body.result) {
        offset = update_id + 1
        texts.push(message.text)
      }
      return texts.includes(text)
    })
  write('before')
  await tells('before')
  t.notOk('last_error_message' in (await client.bot(key, 'getWebhookInfo')).body.result)

  person.isHushed = true
  for (let i = 0; i < 6; i++) write(`missed ${i}`)
  person.isHushed = false
  await client.result('POST', `/platforms/credentials/${credentialId}/restart`)
  await tells('missed 5')
  t.strictSame(texts, ['before', 'missed 4', 'missed 5'])

  const path = `/platforms/credentials/${credentialId}`
  const skipped = await until(async () => {
    const { items } = await client.result('GET', `${path}/transitions`)
    const found = items.filter(({ event }: { event: string }) => event.endsWith('.skipped'))
    return found.length >= 2 && found
  })
  t.match(skipped, [{ event: 'changes.skipped' }, { event: 'messages.skipped' }])
  for (const { from, to } of skipped) t.equal(from, to)
  t.match(await client.state(credentialId, 'active'), { reason: null, action: 'none' })
  t.match((await client.bot(key, 'getWebhookInfo')).body.result, {
    last_error_date: Number,
    last_error_message:
      /^older messages were left out: too many had come while the account was not connected, or they could not be stored$/,
  })
})
