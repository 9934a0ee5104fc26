/** Attempts are counted once, and what was not delivered is no delivery. */
import t from 'tap'
import type { UsageCounts } from '../../src/observability/usage.ts'
import { AttemptTally, countAttempts } from '../../src/webhooks/states.ts'

t.test('each attempt is counted once for its key', async (t) => {
  const counted: [number, UsageCounts][] = []
  const count = countAttempts({
    count: ({ apiKeyId = 0 }, usage) => counted.push([apiKeyId, usage]),
  })
  const tally = new AttemptTally(count)
  const key = { apiKeyId: 5, userId: 1, credentialId: 2, epoch: 1 }
  tally.add(key, true)
  tally.add(key, false)
  tally.add(key, true)
  tally.add({ ...key, apiKeyId: 6 }, false)
  await tally.flush()
  t.same(counted.splice(0), [
    [5, { webhookAttempts: 3, webhookFailures: 1, updatesDelivered: 2 }],
    [6, { webhookAttempts: 1, webhookFailures: 1, updatesDelivered: 0 }],
  ])
  tally.add(key, true)
  await tally.flush()
  t.same(counted, [[5, { webhookAttempts: 1, webhookFailures: 0, updatesDelivered: 1 }]])
})
