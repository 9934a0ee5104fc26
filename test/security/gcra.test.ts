/** The rate limit: a burst after a pause, then an even pace, for each key by itself. */
import t from 'tap'
import { Gcra } from '../../src/security/rate-limits.ts'

function rig() {
  const time = { now: 0 }
  const limit = new Gcra<string>({ perSecond: 10, burst: 5 }, () => time.now)
  const takeAll = (key: string) => {
    let taken = 0
    while (limit.take(key) === 0) taken++
    return taken
  }
  return { time, limit, takeAll }
}

t.test('a burst goes through, then one for each interval', async (t) => {
  const { time, limit, takeAll } = rig()
  t.equal(takeAll('a'), 5)
  time.now = 99
  t.equal(limit.take('a'), 1)
  time.now = 100
  t.equal(takeAll('a'), 1)
})

t.test('a pause gives the burst back, and never more', async (t) => {
  const { time, takeAll } = rig()
  takeAll('a')
  time.now = 300
  t.equal(takeAll('a'), 3)
  time.now = 1_000_000
  t.equal(takeAll('a'), 5)
})

t.test('what is refused is not counted', async (t) => {
  const { time, limit, takeAll } = rig()
  takeAll('a')
  for (let again = 0; again < 100; again++) limit.take('a')
  time.now = 100
  t.equal(limit.take('a'), 0)
})

t.test('what is owed is waited for, and is never more than a burst', async (t) => {
  const { time, limit, takeAll } = rig()
  limit.owe('a', 3)
  t.equal(takeAll('a'), 2)
  limit.owe('a', 4)
  time.now = 400
  t.equal(limit.take('a'), 1)
  time.now = 500
  t.equal(takeAll('a'), 1)
  limit.owe('a', 1_000_000)
  time.now = 1_000
  t.equal(takeAll('a'), 0)
  time.now = 1_500
  t.equal(takeAll('a'), 5)
})

t.test('keys do not hold each other up, and the wait is told in whole seconds', async (t) => {
  const { takeAll } = rig()
  takeAll('a')
  t.equal(takeAll('b'), 5)
  const slow = new Gcra<string>({ perSecond: 0.1, burst: 1 }, () => 0)
  t.equal(slow.take('a'), 0)
  t.equal(slow.take('a'), 10)
})

t.test('a clock that was set back locks nobody out', async (t) => {
  const { time, takeAll } = rig()
  time.now = 3_600_000
  takeAll('a')
  time.now = 0
  t.equal(takeAll('a'), 5)
})
