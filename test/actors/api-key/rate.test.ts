/** The rate of a key and of each chat, against a model that remembers every call. */

import t from 'tap'
import { type Rate, RateLimiter } from '../../../actors/api-key/actor.ts'
import fc from '../../support/fast-check.ts'

const free: Rate = { perSecond: 1_000, burst: 1_000 }
const START = 1_700_000_000_000

t.test('a burst passes at once, then calls at the rate', async (t) => {
  const limiter = new RateLimiter({ key: free, chat: { perSecond: 1, burst: 3 } })
  const at = (ms: number) => limiter.take('a', START + ms)
  t.same([at(0), at(0), at(0), at(0)], [undefined, undefined, undefined, 1])
  t.equal(at(999), 1)
  t.equal(at(1_000), undefined)
  t.equal(at(1_001), 1)
})

t.test('chats do not slow each other, but share the rate of their key', async (t) => {
  const limiter = new RateLimiter({
    key: { perSecond: 1, burst: 2 },
    chat: { perSecond: 1, burst: 1 },
  })
  t.equal(limiter.take('a', START), undefined)
  t.equal(limiter.take('a', START), 1)
  t.equal(limiter.take('b', START), undefined)
  t.equal(limiter.take('c', START), 1)
})

t.test('calls to an unknown chat share the rate of their key, and no other', async (t) => {
  const limiter = new RateLimiter({
    key: { perSecond: 1, burst: 3 },
    chat: { perSecond: 1, burst: 1 },
  })
  const at = () => limiter.take('', START)
  t.same([at(), at(), at(), at()], [undefined, undefined, undefined, 1])
})

t.test('the wait that is named is enough, and rounded up to seconds', async (t) => {
  const limiter = new RateLimiter({ key: free, chat: { perSecond: 0.3, burst: 1 } })
  t.equal(limiter.take('a', START), undefined)
  const seconds = limiter.take('a', START) ?? 0
  t.equal(seconds, 4)
  t.equal(limiter.take('a', START + seconds * 1_000), undefined)
})

t.test('refused calls cost nothing', async (t) => {
  const limiter = new RateLimiter({ key: free, chat: { perSecond: 1, burst: 1 } })
  limiter.take('a', START)
  for (let call = 0; call < 100; call++) t.equal(limiter.take('a', START + 500), 1)
  t.equal(limiter.take('a', START + 1_000), undefined)
})

t.test('forgetting idle chats forgets no debt', async (t) => {
  const limiter = new RateLimiter({
    key: { perSecond: 1e9, burst: 1e9 },
    chat: { perSecond: 0.001, burst: 1 },
  })
  limiter.take('busy', START)
  for (let chat = 0; chat < 10_100; chat++) limiter.take(`${chat}`, START)
  t.ok(limiter.take('busy', START + 1_000))
})

t.test('a call costs no more where more chats than that are not idle', async (t) => {
  const limiter = new RateLimiter({
    key: { perSecond: 1e9, burst: 1e9 },
    chat: { perSecond: 0.001, burst: 1 },
  })
  const before = process.cpuUsage()
  for (let chat = 0; chat < 50_000; chat++) limiter.take(`${chat}`, START)
  const { user } = process.cpuUsage(before)
  t.ok(user < 1_000_000, `${Math.round(user / 1_000)} ms of processor time`)
  t.ok(limiter.take('0', START + 1_000), 'none of them is forgotten')
})

t.test('a clock that was set back locks nobody out', async (t) => {
  const limiter = new RateLimiter({ key: free, chat: { perSecond: 1, burst: 3 } })
  for (let call = 0; call < 4; call++) limiter.take('a', START)
  const back = START - 3_600_000
  t.equal(limiter.take('a', back), undefined)
  t.same([limiter.take('a', back), limiter.take('a', back), limiter.take('a', back)].at(-1), 1)
})

/** A bucket that holds `burst` calls and fills at the rate; times are whole steps of it. */
class Bucket {
  readonly #rate: Rate
  #room: number
  #at = START

  constructor(rate: Rate) {
    this.#rate = rate
    this.#room = rate.burst
  }

  has(now: number): boolean {
    const { perSecond, burst } = this.#rate
    this.#room = Math.min(burst, this.#room + ((now - this.#at) * perSecond) / 1_000)
    this.#at = now
    return this.#room >= 1
  }

  take(): void {
    this.#room--
  }
}

t.test('it lets through what two leaky buckets let through', async () => {
  // Powers of two and steps of 125 ms keep the arithmetic exact on both sides.
  const rate = fc.record({
    perSecond: fc.constantFrom(1, 2, 4, 8),
    burst: fc.integer({ min: 1, max: 6 }),
  })
  const calls = fc.array(fc.tuple(fc.nat(8), fc.constantFrom('a', 'b', 'c')), { maxLength: 60 })
  fc.assert(
    fc.property(rate, rate, calls, (key, chat, steps) => {
      const limiter = new RateLimiter({ key, chat })
      const whole = new Bucket(key)
      const chats = new Map(['a', 'b', 'c'].map((name) => [name, new Bucket(chat)]))
      let now = START
      for (const [pause, name] of steps) {
        now += pause * 125
        const one = chats.get(name)
        if (!one) throw new Error('no such chat')
        const allowed = [whole.has(now), one.has(now)].every(Boolean)
        if (allowed) for (const bucket of [whole, one]) bucket.take()
        const wait = limiter.take(name, now)
        if ((wait === undefined) !== allowed) throw new Error(`${name} at ${now - START}`)
      }
    }),
  )
})
