/** Steps: how updates come, over a restart of the service and a change of the webhook. */
import { until } from '../../support/client.ts'
import { expect } from '../includes.ts'
import type { Stage } from '../stage.ts'
import type { Step } from './step.ts'

const numbers = (stage: Stage): string[] =>
  stage.bot.updates
    .map(({ message }) => message?.text)
    .filter((text) => typeof text === 'string' && /^number \d$/.test(text))

export const receivingSteps: readonly Step[] = [
  [
    'restart of the service',
    async (stage) => {
      for (const count of [1, 2, 3]) await stage.write(`number ${count}`)
      await stage.restart()
      // A library may write once into a connection that the old service closed.
      await stage.call('getMe').catch(() => undefined)
      for (const count of [4, 5, 6]) await stage.write(`number ${count}`)
      await until(() => numbers(stage).includes('number 6'), 45_000)
      await stage.write('the last one')
      await stage.bot.hears({ message: { text: 'the last one' } })
      const wanted = [1, 2, 3, 4, 5, 6].map((count) => `number ${count}`)
      expect(JSON.stringify(numbers(stage).sort()), JSON.stringify(wanted), 'what the bot heard')
      expect(stage.passages.doubled.length, 0, 'how many updates were handed over twice')
    },
  ],
  [
    'webhook told and taken away',
    async (stage) => {
      const { webhook } = stage.start
      const url = webhook?.url ?? ''
      expect(await stage.call('getWebhookInfo'), { url, pending_update_count: 0 })
      if (!webhook) return
      expect(await stage.call('deleteWebhook', { drop_pending_updates: false }), true)
      expect((await stage.call('getWebhookInfo')).url || '', '')
      await stage.write('kept for later')
      const { allowed_updates } = stage.start
      const again = { url, secret_token: webhook.secret, max_connections: 5, allowed_updates }
      expect(await stage.call('setWebhook', again), true)
      await stage.bot.hears({ message: { text: 'kept for later' } })
    },
  ],
]
