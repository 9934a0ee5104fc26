/** A semaphore whose places go to users in turn. */
import t from 'tap'
import { FairSemaphore } from '../src/fair-semaphore.ts'
import fc from './support/fast-check.ts'

const forever = new AbortController().signal
const turn = () => new Promise(setImmediate)

t.test('a user has no more places than one user may hold', async (t) => {
  const semaphore = new FairSemaphore({ places: 2, placesPerUser: 1 })
  t.equal(semaphore.take(1, forever), undefined)
  const second = semaphore.take(1, forever)
  t.not(second, undefined)
  t.equal(semaphore.take(2, forever), undefined, 'the other place is for others')
  semaphore.release(1)
  t.equal(await second, true)
})

t.test('whose turn it is depends on who has waited, not on how much waits', async (t) => {
  const semaphore = new FairSemaphore({ places: 1 })
  const begun: number[] = []
  semaphore.take(1, forever)
  for (const userId of [1, 1, 1, 2, 3, 3]) {
    void semaphore.take(userId, forever)?.then(() => begun.push(userId))
  }
  for (const userId of [1, 1, 2, 3, 1, 3]) {
    semaphore.release(userId)
    await turn()
  }
  t.same(begun, [1, 2, 3, 1, 3, 1])
})

t.test('no more wait than may, of one user and of all together', async (t) => {
  const semaphore = new FairSemaphore({ places: 1, waiting: 3, waitingPerUser: 2 })
  semaphore.take(1, forever)
  for (const userId of [1, 1]) void semaphore.take(userId, forever)
  t.equal(semaphore.isFull(1), true)
  t.equal(semaphore.isFull(2), false)
  void semaphore.take(2, forever)
  t.equal(semaphore.isFull(3), true)
})

t.test('one that gives up leaves its turn to the next', async (t) => {
  const semaphore = new FairSemaphore({ places: 1, waiting: 2 })
  semaphore.take(1, forever)
  const leaving = new AbortController()
  const left = semaphore.take(2, leaving.signal)
  const next = semaphore.take(3, forever)
  leaving.abort()
  t.equal(await left, false)
  t.equal(semaphore.isFull(4), false, 'its place among the waiting is free again')
  semaphore.release(1)
  t.equal(await next, true)
  const gone = semaphore.take(4, AbortSignal.abort())
  t.equal(await gone, false)
})

t.test('places are neither lost nor given twice, whatever order things come in', async () => {
  const step = fc.record({
    userId: fc.integer({ min: 1, max: 4 }),
    what: fc.nat(2),
    pick: fc.nat(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, places, placesPerUser) => {
        const semaphore = new FairSemaphore({ places, placesPerUser })
        const held: number[] = []
        const waiting: AbortController[] = []
        const most = (userId: number) => held.filter((one) => one === userId).length
        for (const { userId, what, pick } of steps) {
          if (what === 0) {
            const leaving = new AbortController()
            const taken = semaphore.take(userId, leaving.signal)
            if (!taken) held.push(userId)
            else {
              waiting.push(leaving)
              void taken.then((isTaken) => isTaken && held.push(userId))
            }
          } else if (what === 1 && held.length > 0) {
            semaphore.release(held.splice(pick % held.length, 1)[0] ?? 0)
          } else waiting[pick % (waiting.length || 1)]?.abort()
          await turn()
          if (held.length > places || most(userId) > placesPerUser) return false
        }
        // Whatever still waits is served once the others have gone.
        while (held.length > 0) {
          semaphore.release(held.shift() ?? 0)
          await turn()
        }
        return Array.from({ length: places }, (_, user) => semaphore.take(user, forever)).every(
          (taken) => taken === undefined,
        )
      },
    ),
  )
})
