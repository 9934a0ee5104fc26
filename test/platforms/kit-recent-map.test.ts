/** A map of the newest entries, as a plain array of pairs would have them. */
import assert from 'node:assert/strict'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { RecentMap } from '../../src/platforms/kit/recent-map.ts'
import fc from '../support/fast-check.ts'

t.test('the oldest entry goes, and setting a key makes it the newest', async (t) => {
  const map = new RecentMap<string, number>(2).set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  t.same(
    [...map],
    [
      ['a', 3],
      ['c', 4],
    ],
  )
})

/** As an array of pairs: plain, and slow. */
class PlainMap {
  entries: [number, number][] = []
  #without = (key: number) => this.entries.filter(([other]) => other !== key)

  set(key: number, value: number, limit: number) {
    this.entries = [...this.#without(key), [key, value] as [number, number]].slice(-limit)
  }

  delete(key: number) {
    this.entries = this.#without(key)
  }
}

t.test('however it was used, it has the newest entries, in their order', async () => {
  const step = fc.record({ kind: fc.constantFrom('set', 'set', 'set', 'delete'), key: fc.nat(12) })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(step, { maxLength: 80 }),
      (limit, steps) => {
        const map = new RecentMap<number, number>(limit)
        const plain = new PlainMap()
        for (const [value, { kind, key }] of steps.entries()) {
          if (kind === 'set') {
            map.set(key, value)
            plain.set(key, value, limit)
          } else {
            map.delete(key)
            plain.delete(key)
          }
          assert.deepEqual([...map], plain.entries)
        }
      },
    ),
  )
})

t.test('setting known keys for ever leaves nothing behind', async (t) => {
  setFlagsFromString('--expose-gc')
  const tidyUp: () => void = runInNewContext('gc')
  const map = new RecentMap<number, number>(500)
  for (let key = 0; key <= 500; key++) map.set(key, key)
  tidyUp()
  const { heapUsed } = process.memoryUsage()
  for (let time = 0; time < 200_000; time++) map.set(1 + (time % 500), time)
  tidyUp()
  const more = process.memoryUsage().heapUsed - heapUsed
  t.ok(more < 2_000_000, `${more} bytes more`)
  t.equal(map.size, 500)
})
