/** Sharing once more, on two nodes: a share that ends at one ends streams and keys at the other. */
import t from 'tap'

process.env.TEST_NODES = '2'
// Its tests wait for this one: tap ends a file as soon as it has none left, also while the service starts.
t.test('the service starts', { timeout: 120_000 }, () => import('../service/sharing.test.ts'))
