/** Tests of the service once more, on two nodes behind a balancer that knows nothing: what only one node would notice fails here. */
import t from 'tap'

process.env.TEST_NODES = '2'
// What one of two nodes counts by itself, or what a test changes in one process, is left out.
const files = [
  'chat-management',
  'credential-ends',
  'erasure',
  'get-updates',
  'link-page',
  'received-updates',
  'webhook-delivery',
]
// Their tests wait for this one: tap ends a file as soon as it has none left, also while the next services start.
t.test('the services of all files start', { timeout: 120_000 }, async () => {
  for (const file of files) await import(`../service/${file}.test.ts`)
})
