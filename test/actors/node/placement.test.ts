/** Where credentials are placed: evenly, by weight, and with as few moves as possible. */
import t from 'tap'
import { placeOf } from '../../../actors/node/placement.ts'

const COUNT = 12_000
const ids = Array.from({ length: COUNT }, (_, id) => id + 1)
const named = (...names: string[]) => names.map((name) => ({ name, weight: 1 }))
const countOf = (places: ReturnType<typeof named>, name: string, of: readonly number[] = ids) =>
  of.filter((id) => placeOf(id, places) === name).length

t.test('one node has everything, none has nothing', async (t) => {
  t.equal(countOf(named('a'), 'a'), COUNT)
  t.equal(placeOf(1, []), undefined)
})

t.test('nodes share evenly, whatever they are called', async (t) => {
  for (const names of [
    ['a', 'b', 'c'],
    ['chapar-0', 'chapar-1', 'chapar-2'],
  ]) {
    for (const name of names) {
      const share = countOf(named(...names), name) / (COUNT / 3)
      t.ok(Math.abs(share - 1) < 0.05, `${name}: ${share}`)
    }
  }
})

t.test('a node of twice the weight has twice as many', async (t) => {
  const places = [...named('a', 'b'), { name: 'large', weight: 2 }]
  const share = countOf(places, 'large') / (COUNT / 2)
  t.ok(Math.abs(share - 1) < 0.05, `${share}`)
})

t.test('the order of the nodes does not matter', async (t) => {
  const [one, other] = [named('a', 'b', 'c'), named('c', 'a', 'b')]
  t.ok(ids.every((id) => placeOf(id, one) === placeOf(id, other)))
})

t.test('only what a lost node had moves, and to all others', async (t) => {
  const [before, after] = [named('a', 'b', 'c'), named('a', 'b')]
  const moved = ids.filter((id) => placeOf(id, before) !== placeOf(id, after))
  t.ok(moved.every((id) => placeOf(id, before) === 'c'))
  const share = countOf(after, 'a', moved) / (moved.length / 2)
  t.ok(Math.abs(share - 1) < 0.1, `${share}`)
})

t.test('ids beyond 32 bits are spread, too', async (t) => {
  const cell = 10 ** 12
  const large = ids.map((id) => cell + id)
  const share = countOf(named('a', 'b'), 'a', large) / (COUNT / 2)
  t.ok(Math.abs(share - 1) < 0.05, `${share}`)
})
