/** Whose turn it is: one at a time in each lane, and no lane waits for another. */
import t from 'tap'
import { type Item, Lanes } from '../../../actors/webhook/lanes.ts'

const lanesOf = (...items: readonly string[]) => {
  const lanes = new Lanes<Item>()
  for (const [updateId, lane] of items.entries()) lanes.add({ updateId, lane })
  return lanes
}
const soon = () => 1_000

t.test('each lane gives one update at a time, in order', async (t) => {
  const lanes = lanesOf('a', 'b', 'a', 'b')
  const [first, second] = [lanes.take(0), lanes.take(0)]
  t.same([first?.updateId, second?.updateId, lanes.take(0)], [0, 1, undefined])
  if (first) lanes.succeeded(first, 0)
  t.equal(lanes.take(0)?.updateId, 2)
})

t.test('a lane that fails is tried again in its time, before what comes after', async (t) => {
  const lanes = lanesOf('a', 'a')
  const first = lanes.take(0)
  if (first) t.same(lanes.failed(first, 10, soon), { failures: 1, since: 10, dueAt: 1_010 })
  t.equal(lanes.nextDue, 1_010)
  t.equal(lanes.take(1_009), undefined)
  t.equal(lanes.take(1_010)?.updateId, 0)
  if (first) lanes.succeeded(first, 1_010)
  const next = lanes.take(1_010)
  t.equal(next?.updateId, 1)
  t.equal(next && lanes.failuresOf(next), 0, 'nothing of it has failed')
})

t.test('a lane does not wait for a time that the clock is set back from', async (t) => {
  const lanes = lanesOf('a', 'b')
  const day = 86_400_000
  for (let turn = 0; turn < 2; turn++) {
    const update = lanes.take(day)
    if (update) lanes.failed(update, day, soon)
  }
  t.equal(lanes.take(day - 1_000), undefined, 'a second is waited for')
  t.equal(lanes.take(5_000)?.updateId, 0)
  t.same(lanes.failing[0], [1, 1, 5_000, 5_000])
})

t.test('failures of one update are counted from the first on', async (t) => {
  const lanes = lanesOf('a')
  const asked: [number, number][] = []
  for (const now of [0, 5_000, 9_000]) {
    const update = lanes.take(now)
    if (update) {
      lanes.failed(update, now, (failures, forMs) => {
        asked.push([failures, forMs])
        return 0
      })
    }
  }
  t.same(asked, [
    [1, 0],
    [2, 5_000],
    [3, 9_000],
  ])
})

t.test('one chat that fails is not the endpoint, as long as others get through', async (t) => {
  const lanes = lanesOf('a', 'b', 'b')
  const [bad, good] = [lanes.take(0), lanes.take(0)]
  if (bad) lanes.failed(bad, 0, soon)
  t.notOk(lanes.isDown, 'b is under way')
  if (good) lanes.succeeded(good, 0)
  t.notOk(lanes.isDown, 'b has more')
  const last = lanes.take(0)
  if (last) lanes.succeeded(last, 0)
  t.ok(lanes.isDown, 'nothing else is there')
  lanes.add({ updateId: 9, lane: 'c' })
  t.ok(lanes.isWorthTrying)
})

t.test('three chats that begin to fail are the endpoint', async (t) => {
  const lanes = lanesOf('a', 'b', 'c', 'd')
  const taken = [lanes.take(0), lanes.take(0), lanes.take(0)]
  for (const update of taken) if (update) lanes.failed(update, 0, soon)
  t.ok(lanes.isDown)
  t.notOk(lanes.isWorthTrying, 'd would be another victim')
})

t.test('a success between them clears the endpoint of suspicion', async (t) => {
  const lanes = lanesOf('a', 'b', 'c', 'd', 'd')
  const taken = [lanes.take(0), lanes.take(0), lanes.take(0), lanes.take(0)]
  for (const update of taken.slice(0, 2)) if (update) lanes.failed(update, 0, soon)
  if (taken[3]) lanes.succeeded(taken[3], 0)
  if (taken[2]) lanes.failed(taken[2], 0, soon)
  t.notOk(lanes.isDown)
})

t.test('a probe goes to a lane that never failed, else to the one tried longest ago', async (t) => {
  const lanes = lanesOf('a', 'b', 'c')
  const [first, second] = [lanes.take(0), lanes.take(0)]
  if (second) lanes.failed(second, 0, soon)
  if (first) lanes.failed(first, 0, soon)
  const fresh = lanes.probe()
  t.equal(fresh?.lane, 'c')
  if (fresh) lanes.failed(fresh, 0, soon)
  t.equal(lanes.probe()?.lane, 'b')
})

t.test('when the endpoint is back, everybody is due at once, and that is stored', async (t) => {
  const lanes = lanesOf('a', 'b', 'c', 'd')
  const taken = [lanes.take(0), lanes.take(0), lanes.take(0)]
  for (const update of taken) if (update) lanes.failed(update, 0, () => 9e9)
  t.ok(lanes.isDoubted)
  const probe = lanes.probe()
  if (probe) lanes.succeeded(probe, 7_000)
  t.same(
    lanes.failing.map(([, , , dueAt]) => dueAt),
    [7_000, 7_000, 7_000],
  )
  t.equal(lanes.take(7_000)?.updateId, 0)
})

t.test('an attempt that was cut counts for nothing', async (t) => {
  const lanes = lanesOf('a')
  const first = lanes.take(0)
  if (first) lanes.cut(first)
  const again = lanes.take(0)
  t.equal(again?.updateId, 0)
  t.equal(again && lanes.failuresOf(again), 0)
})

t.test('a chat that is given up as it fails is due no more', async (t) => {
  const lanes = lanesOf('hopeless', 'a')
  const [hopeless, other] = [lanes.take(0), lanes.take(0)]
  if (hopeless) lanes.failed(hopeless, 0, () => 5_000)
  if (hopeless) lanes.gaveUp(hopeless)
  t.equal(lanes.nextDue, Number.POSITIVE_INFINITY)
  if (other) lanes.failed(other, 0, () => 9_000)
  t.equal(lanes.nextDue, 9_000)
  t.equal(lanes.take(6_000), undefined)
  t.ok(lanes.isDown, 'nobody else is under way')
})

/** So many lanes that failed, each due at another time of the next hour. */
function failingLanes(count: number) {
  const lanes = lanesOf(...Array.from({ length: count }, (_, lane) => `${lane}`))
  const dueAt = new Map<string, number>()
  const fail = (update: Item, now: number) => {
    const wait = 1 + ((7_919 * (update.updateId + now)) % 3_600_000)
    dueAt.set(update.lane, lanes.failed(update, now, () => wait).dueAt)
  }
  for (let update = lanes.take(0); update; update = lanes.take(0)) fail(update, 0)
  return { lanes, dueAt, fail }
}

t.test('of many chats that fail, the one that is due first is tried first', async (t) => {
  const { lanes, dueAt, fail } = failingLanes(100)
  const soonest = () => Math.min(...dueAt.values())
  for (let turn = 0; turn < 400; turn++) {
    const now = soonest()
    t.equal(lanes.nextDue, now)
    t.equal(lanes.take(now - 1), undefined)
    const update = turn % 7 === 0 ? lanes.probe() : lanes.take(now)
    if (!update) return t.fail('one is due')
    if (turn % 7 > 0) t.equal(dueAt.get(update.lane), now)
    const before = dueAt.get(update.lane) ?? 0
    dueAt.delete(update.lane)
    t.equal(lanes.nextDue, soonest(), 'while it is under way')
    if (turn % 5 === 0) {
      lanes.cut(update)
      dueAt.set(update.lane, before)
    } else if (turn % 11 === 0) lanes.gaveUp(update)
    else fail(update, now)
  }
  t.equal(lanes.nextDue, soonest())
})

t.test('the next chat is found as fast among fifty thousand as among five hundred', async (t) => {
  const costOf = (count: number) => {
    const { lanes, fail } = failingLanes(count)
    const turns = Array.from({ length: 5 }, () => {
      const began = performance.now()
      for (let turn = 0; turn < 200; turn++) {
        const now = lanes.nextDue
        const update = lanes.take(now)
        if (update) fail(update, now)
      }
      return performance.now() - began
    })
    return Math.min(...turns)
  }
  costOf(500)
  const [few, many] = [costOf(500), costOf(50_000)]
  t.ok(many < 20 * few, `${few} ms, ${many} ms`)
})
