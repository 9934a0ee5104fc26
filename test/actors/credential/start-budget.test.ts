/** The start budget: never more at once than allowed, and nobody forgotten. */

import t from 'tap'
import { StartBudget } from '../../../actors/credential/world.ts'
import { TestClock } from '../../support/clock.ts'
import fc from '../../support/fast-check.ts'

const somebody = { platform: 'telegram', userId: 1 }

t.test('a network that keeps its turns keeps none of another one', async (t) => {
  const budget = new StartBudget(2, new TestClock())
  for (let id = 0; id < 10; id++) budget.request(somebody, () => undefined)
  let isGranted = false
  budget.request({ platform: 'xmpp', userId: 1 }, () => {
    isGranted = true
  })
  t.equal(isGranted, true)
  t.equal(budget.waiting, 8)
})

t.test('of one network, users take turns', async (t) => {
  const budget = new StartBudget(1, new TestClock())
  const granted: string[] = []
  const releases = [1, 1, 1, 1, 2, 2, 3].map((userId, place) =>
    budget.request({ platform: 'xmpp', userId }, () => granted.push(`${userId}.${place}`)),
  )
  // Somebody who leaves meanwhile has nobody of theirs wait for longer.
  releases[1]?.()
  for (const place of [0, 2, 4, 6, 3, 5]) {
    t.equal(granted.at(-1)?.split('.')[1], `${place}`)
    releases[place]?.()
  }
  t.equal(budget.waiting, 0)
})

t.test('turns are granted in order, as others give theirs back', async (t) => {
  const budget = new StartBudget(2, new TestClock())
  const granted: number[] = []
  const release = [1, 2, 3, 4].map((id) => budget.request(somebody, () => granted.push(id)))
  t.same(granted, [1, 2])
  t.equal(budget.waiting, 2)
  release[1]?.()
  t.same(granted, [1, 2, 3])
  release[0]?.()
  t.same(granted, [1, 2, 3, 4])
})

t.test('giving a turn back twice frees one place', async (t) => {
  const budget = new StartBudget(1, new TestClock())
  const granted: number[] = []
  const first = budget.request(somebody, () => granted.push(1))
  for (const id of [2, 3]) budget.request(somebody, () => granted.push(id))
  first()
  first()
  t.same(granted, [1, 2])
})

t.test('who leaves the queue is never granted a turn', async (t) => {
  const budget = new StartBudget(1, new TestClock())
  const granted: number[] = []
  const first = budget.request(somebody, () => granted.push(1))
  budget.request(somebody, () => granted.push(2))()
  budget.request(somebody, () => granted.push(3))
  first()
  t.same(granted, [1, 3])
})

t.test('as turns are given back everybody is served', async (t) => {
  const budget = new StartBudget(1, new TestClock())
  const releases: (() => void)[] = []
  let granted = 0
  for (let id = 0; id < 5; id++) releases.push(budget.request(somebody, () => granted++))
  for (const release of releases) release()
  t.equal(granted, 5)
  t.equal(budget.waiting, 0)
})

t.test('a start that has failed keeps its turn for half a second', async (t) => {
  const clock = new TestClock()
  const budget = new StartBudget(1, clock)
  const granted: number[] = []
  const releases = [1, 2, 3].map((id) => budget.request(somebody, () => granted.push(id)))
  releases[0]?.(true)
  releases[0]?.()
  await clock.advance(499)
  t.same(granted, [1], 'a network that refuses is not asked as fast as it can')
  await clock.advance(1)
  t.same(granted, [1, 2])
  releases[1]?.()
  t.same(granted, [1, 2, 3])
})

t.test('in any order of coming and going the budget is kept and used', async () => {
  const moves = fc.array(fc.tuple(fc.boolean(), fc.nat(100)), { maxLength: 80 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), moves, (size, steps) => {
      const budget = new StartBudget(size, new TestClock())
      const running = new Set<number>()
      const here = new Map<number, () => void>()
      for (const [id, [comes, draw]] of steps.entries()) {
        if (comes) {
          here.set(
            id,
            budget.request(somebody, () => running.add(id)),
          )
        } else {
          const leaving = [...here.keys()][draw % Math.max(1, here.size)]
          if (leaving === undefined) continue
          const release = here.get(leaving)
          here.delete(leaving)
          running.delete(leaving)
          release?.()
        }
        if (running.size > size) throw new Error(`${running.size} of ${size}`)
        if (running.size !== Math.min(size, here.size)) throw new Error('a turn is lost')
      }
    }),
  )
})
