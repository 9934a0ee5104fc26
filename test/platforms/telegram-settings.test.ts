/** What the user of a Telegram account wants to receive counts from when they say so, and not from the next session on. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('missed posts of channels are told once they are wanted', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  const channel = network.channel(friend, [person])
  const { key, credentialId } = await linkOver(client, person)
  const path = `/platforms/credentials/${credentialId}/settings`
  const wants = (settings: object) => client.result('PATCH', path, settings)
  const post = (message: string) => network.delivery.send(friend, channel, { message })
  let offset = 0
  const next = async () => {
    const { body } = await client.bot(key, 'getUpdates', { offset, limit: 1, timeout: 50 })
    const [update] = body.result
    offset = update.update_id + 1
    return update.channel_post.text
  }
  const cut = async (missed: string, after: string) => {
    const before = network.connectionsOf(person)
    const isNew = (one: (typeof before)[0]) => !before.includes(one)
    network.cut(person, 200)
    post(missed)
    await until(() => network.connectionsOf(person).some((one) => isNew(one) && one.wantsUpdates))
    post(after)
  }

  await wants({ include_channel_updates: true })
  post('heard')
  t.equal(await next(), 'heard')
  await wants({ include_channel_update_recovery: true })
  await cut('missed', 'after')
  t.strictSame([await next(), await next()], ['missed', 'after'])
})
