/** What the benchmarks measure with. */
import t from 'tap'
import { Received } from '../../bench/support/load.ts'

t.test('messages count that come before they are expected', async () => {
  const received = new Received()
  received.note(2)
  const all = received.expect(3)
  received.note()
  await all
  received.note(4)
  await received.expect(4)
})
