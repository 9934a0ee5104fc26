/** A costly figure is read once in a while. */
import t from 'tap'
import { atMostEvery } from '../../src/observability/bounded.ts'

t.test('reads once for all who ask within the time', async (t) => {
  let [reads, now] = [0, 0]
  const figure = atMostEvery(
    100,
    async () => ++reads,
    () => now,
  )
  t.same(await Promise.all([figure(), figure()]), [1, 1])
  now = 99
  t.equal(await figure(), 1)
  now = 100
  t.equal(await figure(), 2)
})

t.test('a failure is told and not kept', async (t) => {
  let reads = 0
  const figure = atMostEvery(
    100,
    async () => {
      if (++reads === 1) throw new Error('away')
      return reads
    },
    () => 0,
  )
  await t.rejects(figure(), { message: 'away' })
  t.equal(await figure(), 2)
})
