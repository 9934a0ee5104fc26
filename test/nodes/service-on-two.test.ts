/** Tests of the service once more, on two nodes behind a balancer that knows nothing: what only one node would notice fails here. */
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
for (const file of files) await import(`../service/${file}.test.ts`)
