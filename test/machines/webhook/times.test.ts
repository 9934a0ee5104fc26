/** Times of failing updates that were stored: a clock that was wrong, time in which nobody tried, and the ids of long lanes. */
import t from 'tap'
import {
  failingAt,
  latestDue,
  type Progress,
  progressWith,
  timesAt,
  untriedMs,
} from '../../../machines/webhook/progress.ts'
import fc from '../../support/fast-check.ts'
import { NOW } from './rig.ts'

const HALF_A_DAY = 12 * 3_600_000
const HOUR = 3_600_000

t.test('times that no clock before this one can have told count from now', async (t) => {
  t.ok(latestDue(NOW) > NOW + HOUR, 'a receiver may ask for an hour')
  t.ok(latestDue(NOW) < NOW + 2 * HOUR)
  const since = NOW - 60_000
  const due = latestDue(NOW)
  t.same(timesAt({ since, dueAt: due }, NOW), { since, dueAt: due }, 'the longest rest')
  t.same(timesAt({ since, dueAt: due + 1 }, NOW), { since, dueAt: NOW }, 'due too late')
  t.same(timesAt({ since: NOW, dueAt: NOW + 1 }, NOW), { since: NOW, dueAt: NOW + 1 })
  t.same(timesAt({ since: NOW + 1, dueAt: NOW + 2 }, NOW), { since: NOW, dueAt: NOW })
})

t.test('time in which nobody tried is what is over half a day late', async (t) => {
  t.equal(untriedMs(NOW - HALF_A_DAY + 1, NOW), 0)
  t.equal(untriedMs(NOW - HALF_A_DAY, NOW), HALF_A_DAY)
  t.equal(untriedMs(NOW + 1, NOW), 0)
  t.equal(untriedMs(0, NOW), 0, 'a time that older versions did not tell')
  t.equal(untriedMs(1, NOW), NOW - 1)
})

t.test(
  'it is taken off once, and never more than the endpoint itself was left alone',
  async (t) => {
    const [since, dueAt] = [NOW - 3 * HALF_A_DAY, NOW - 2 * HALF_A_DAY]
    const shifted = failingAt([[7, 3, since, dueAt]], NOW)
    t.same(shifted, [[7, 3, NOW - HALF_A_DAY, NOW]])
    t.same(failingAt(shifted, NOW), shifted)
    t.same(failingAt([[7, 3, since, dueAt]], NOW, HOUR), [[7, 3, since + HOUR, dueAt + HOUR]])
    t.same(failingAt([[7, 3, since, dueAt]], NOW, 0), [[7, 3, since, dueAt]])
  },
)

t.test(
  'long lanes are among the open runs, and the cursor is before the first of all',
  async (t) => {
    const lane = ['chat', 12, 20, 5] as const
    t.same(
      progressWith(
        { head: 30, waiting: 7 },
        [
          [10, 11],
          [25, 26],
        ],
        [lane],
      ),
      {
        ...{ cursor: 9, head: 30, waiting: 7, open: [10, 20, 25, 26] },
        ...{ long: [lane], apart: [10, 11, 25, 26] },
      } satisfies Progress,
    )
    t.same(progressWith({ head: 30, waiting: 0 }, []), {
      ...{ cursor: 30, head: 30, waiting: 0, open: [] },
    })
  },
)

t.test('no failure begins in the future, and none is due later than a rest lasts', async () => {
  const time = fc.integer({ min: NOW - 10 * HALF_A_DAY, max: NOW + 10 * HALF_A_DAY })
  fc.assert(
    fc.property(time, time, (since, dueAt) => {
      const [[, , from, due] = [0, 0, 0, 0]] = failingAt(
        [[1, 1, Math.min(since, dueAt), dueAt]],
        NOW,
      )
      return from <= NOW && due <= latestDue(NOW) && NOW - due < HALF_A_DAY && from <= due
    }),
  )
})
