/** A bot's own key in its webhook's path: its bot reads it, nobody else does, and nothing stores it in the clear. */
import { Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../../src/observability/logger.ts'
import { canariesIn } from '../support/canaries.ts'
import { until } from '../support/client.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { scene } from './scene.ts'

t.test(
  'a key in the path is in no table, no answer of the management API and no log',
  async (t) => {
    const lines: string[] = []
    const destination = new Writable({
      write(chunk, _, done) {
        lines.push(`${chunk}`)
        done()
      },
    })
    const logger = createLogger({ level: 'trace', destination })
    const { service, client, key, keyId, ada } = await scene(t, { logger })
    const receiver = await Receiver.open(t, (_, response) => {
      response.statusCode = 500
      response.end()
    })
    const { origin } = new URL(receiver.url)
    const token = 'kW3vX9_qLm2RtYb7'
    const url = `${origin}/bots/${key}/${token}`
    const set = await client.bot(key, 'setWebhook', { url })
    t.equal(set.status, 200)
    await client.write(ada.id, '@gatebot', 'hello')
    await receiver.count(2)
    t.equal(receiver.received[0]?.path, `/bots/${key}/${token}`)

    const info = (await client.bot(key, 'getWebhookInfo')).body.result
    t.equal(info.url, url, 'the bot itself reads the address, as from the reference')
    const deliveries = await until(async () => {
      const { items } = await client.result('GET', '/user/logs/webhook-deliveries')
      return items.length > 0 && items
    })
    t.equal(deliveries[0].url, `${origin}/bots/[hidden]/[hidden]`)
    const started = await client.result('POST', `/api_keys/${keyId}/diagnosis`, { all: true })
    const shown = [
      await client.result('GET', '/api_keys'),
      await client.result('GET', `/api_keys/${keyId}`),
      await client.result('GET', `/api_keys/${keyId}/diagnosis/${started.diagnosis_id}`),
      await client.result('GET', '/user/logs/api-requests'),
      deliveries,
      started,
    ]
    const secrets = [key.split(':')[1] ?? '', token]
    for (const secret of secrets) {
      t.notMatch(JSON.stringify(shown), secret, 'management API')
      t.notMatch(lines.join(''), secret, 'log')
    }
    t.same(await canariesIn(service.databaseUrl, secrets), [])

    // Setting is paced: once a second.
    await pause(1_050)
    const again = await client.ask('PUT', `/api_keys/${keyId}/webhook`, {
      url: `${origin}/bots/[hidden]/[hidden]`,
    })
    t.equal(again.status, 200, 'the shown form may be sent again')
    t.equal((await client.bot(key, 'getWebhookInfo')).body.result.url, url)
    await pause(1_050)
    const foreign = await client.ask('PUT', `/api_keys/${keyId}/webhook`, {
      url: `${origin}/other/[hidden]`,
    })
    t.equal(foreign.status, 400)
    t.equal(
      foreign.body.description,
      'Bad Request: field "url" has a part that reads [hidden]; give the whole address',
    )
  },
)
