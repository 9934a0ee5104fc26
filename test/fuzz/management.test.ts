/** Malformed requests for every route but the bot API's: none is a defect, all are answered in the envelope, no secret shows. */
import t from 'tap'
import { seed } from '../support/fast-check.ts'
import { fuzz } from './fuzz.ts'
import { openWorld } from './world.ts'

t.test('ten thousand malformed requests', async (t) => {
  const world = await openWorld(t)
  const among = ({ path }: { path: string }) => !path.startsWith('/bot')
  t.ok(world.operations.filter(among).length > 50)
  const { defects, statuses, ...facts } = await fuzz(world, { cases: 10_000, seed, among })
  t.comment({ seed, statuses, ...facts })
  t.same(defects, [])
  const [good = 0, bad = 0] = [statuses['200'], statuses['400']]
  t.ok(bad > 500 && good > 500, 'requests get as far as the routes')
})
