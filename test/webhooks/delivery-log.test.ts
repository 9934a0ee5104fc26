/** The log of webhook attempts when only a part of the successes is stored. */
import t from 'tap'
import type { AttemptRecord } from '../../actors/ports/webhooks.ts'
import { DeliveryLog, listDeliveries } from '../../src/webhooks/delivery-log.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

const place = {
  key: { userId: 1, credentialId: 10, apiKeyId: 100_001, epoch: 1 },
  url: 'https://bot.example/hook',
}

t.test('a failure and the success that ends it are always stored', async (t) => {
  const { database } = await testDatabase(t)
  const log = new DeliveryLog(database, quietLogger, 30, 100_000)
  const attempt = (updateId: number, more: Partial<AttemptRecord> = {}) =>
    log.add(place, {
      ...{ ok: true, at: Date.now(), updateId, attempt: 1, durationMs: 1, status: 200 },
      ...{ traceId: undefined, nextAttemptAt: undefined, error: undefined, address: undefined },
      ...more,
    } as AttemptRecord)
  for (let updateId = 1; updateId <= 20; updateId++) attempt(updateId)
  attempt(21, { ok: false, status: 500, error: 'Wrong response from the webhook' })
  attempt(21, { attempt: 2 })
  await log.flush()
  const { deliveries: stored } = await listDeliveries(database, { userId: 1, limit: 50 })
  t.strictSame(
    stored.map(({ update_id, attempt, status }) => [update_id, attempt, status]).slice(0, 2),
    [
      [21, 2, 200],
      [21, 1, 500],
    ],
  )
  t.ok(stored.length < 20, 'of the others next to none')
})
