/** Time limits hold, and jitter spreads. */
import { getEventListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { jittered, limited, notBefore, within } from '../../../actors/host/time.ts'
import { refused } from '../refused.ts'

/** The timers of a limit do not keep the process alive by themselves. */
const alive = setInterval(() => undefined, 1_000)
t.teardown(() => clearInterval(alive))

const never = () => new Promise<never>(() => undefined)
const late = { code: 'timeout', description: 'no answer in time', certain: false } as const

t.test('work in time gives its result, or its own failure', async (t) => {
  t.equal(await within(1_000, undefined, async () => 5), 5)
  const own = new Error('own')
  const failing = within(1_000, undefined, () => Promise.reject(own))
  t.equal(await failing.catch((cause: unknown) => cause), own)
})

t.test('work that takes too long is given up, even if it ignores its signal', async (t) => {
  let given: AbortSignal | undefined
  const work = (signal: AbortSignal) => {
    given = signal
    return never()
  }
  await refused(t, within(5, undefined, work), late)
  t.ok(given?.aborted)
})

t.test(
  'work that goes on may take longer, up to its limit, and is given up when it stops',
  async (t) => {
    const going = (times: number) => async (signal: AbortSignal, goesOn: () => void) => {
      for (let i = 0; i < times && !signal.aborted; i++) {
        await pause(10)
        goesOn()
      }
      return times
    }
    t.equal(await within(500, undefined, going(100), 60_000), 100)
    await refused(t, within(200, undefined, going(Number.POSITIVE_INFINITY), 400), late)
    const stopping = async (signal: AbortSignal, goesOn: () => void) => {
      await going(3)(signal, goesOn)
      return never()
    }
    await refused(t, within(50, undefined, stopping, 60_000), late)
  },
)

t.test('the signal from outside ends the work as well', async (t) => {
  const leaving = new AbortController()
  const work = within(60_000, leaving.signal, never)
  leaving.abort()
  await refused(t, work, late)
})

t.test('work is not begun after an abort', async (t) => {
  let isBegun = false
  const work = within(60_000, AbortSignal.abort(), async () => {
    isBegun = true
  })
  await t.rejects(work)
  t.notOk(isBegun)
})

t.test('work that fails after its time disturbs nobody', async (t) => {
  const work = Promise.withResolvers<never>()
  await refused(
    t,
    within(5, undefined, () => work.promise),
    late,
  )
  work.reject(new Error('far too late'))
  await new Promise((resolve) => setImmediate(resolve))
})

t.test('jitter stays within a fifth, on both sides', async (t) => {
  const delays = Array.from({ length: 1_000 }, () => jittered(1_000))
  t.ok(delays.every((delay) => delay >= 800 && delay <= 1_200))
  t.ok(delays.some((delay) => delay < 900))
  t.ok(delays.some((delay) => delay > 1_100))
})

t.test(
  'limited work ends with any of its signals, or with its time, and leaves nothing behind',
  async (t) => {
    const caller = new AbortController()
    const session = new AbortController()
    const until = (limit: AbortSignal) =>
      new Promise<never>((_, reject) => {
        limit.addEventListener('abort', () => reject(limit.reason))
      })
    t.equal(await limited([caller.signal, session.signal], 1_000, async () => 'done'), 'done')
    t.strictSame(
      [caller, session].map(({ signal }) => getEventListeners(signal, 'abort').length),
      [0, 0],
    )
    await t.rejects(limited([caller.signal], 5, until), { name: 'TimeoutError' })
    const ended = limited([caller.signal, session.signal], Number.POSITIVE_INFINITY, until)
    session.abort(new Error('it is over'))
    await t.rejects(ended, /it is over/)
    t.equal(getEventListeners(caller.signal, 'abort').length, 0)
    const seen = limited([caller.signal, session.signal], 1_000, async (limit) => limit.reason)
    t.match(await seen, /it is over/, 'of a signal that has aborted before')
  },
)

t.test('what must not come early is spread behind its time, and not far behind it', async (t) => {
  for (const [time, latest] of [
    [0, 0],
    [20_000, 24_000],
    [3_600_000, 3_610_000],
  ] as const) {
    const delays = Array.from({ length: 1_000 }, () => notBefore(time))
    t.ok(delays.every((delay) => delay >= time && delay <= latest))
    if (time > 0) t.ok(Math.max(...delays) > (time + latest) / 2, `up to ${latest}`)
  }
})
