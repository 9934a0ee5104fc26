/** The published schedule of retries, within its jitter. */
import t from 'tap'
import { waitAfter } from '../../../machines/webhook/machine.ts'

const HOUR = 3_600_000

t.test('the first retries follow the table', async (t) => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 20].map((failures) =>
    waitAfter({ failures, forMs: 60_000 }, 0.5),
  )
  t.same(waits, [0, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 60_000, 60_000])
})

t.test('after a day they are a quarter of an hour apart', async (t) => {
  t.equal(waitAfter({ failures: 1_400, forMs: 24 * HOUR - 1 }, 0.5), 60_000)
  t.equal(waitAfter({ failures: 1_400, forMs: 24 * HOUR }, 0.5), 900_000)
})

t.test('each is up to a fifth shorter or longer', async (t) => {
  t.equal(waitAfter({ failures: 5, forMs: 0 }, 0), 6_400)
  t.equal(waitAfter({ failures: 5, forMs: 0 }, 1), 9_600)
})
