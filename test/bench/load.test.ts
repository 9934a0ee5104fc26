/** What the benchmarks measure with. */
import t from 'tap'
import { evenly, Received } from '../../bench/support/load.ts'

t.test('messages count that come before they are expected', async () => {
  const received = new Received()
  received.note(2)
  const all = received.expect(3)
  received.note()
  await all
  received.note(4)
  await received.expect(4)
})

t.test('messages begin in their turn, and the end waits for all', async (t) => {
  const begun: number[] = []
  let done = 0
  await evenly({ perSecond: 1_000, messages: 5 }, async (index) => {
    begun.push(index)
    await new Promise(setImmediate)
    done++
  })
  t.same(begun, [0, 1, 2, 3, 4])
  t.equal(done, 5)
})
