/** The way back to a server that thousands of sessions have lost at once. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Passage } from '../../src/platforms/kit/steadily.ts'

/** Everybody tries as soon as they may; `answer` says what came of the tries under way. */
function comeBack(count: number, signal: AbortSignal) {
  const passage = new Passage()
  const trying = new Set<(hasAnswered: boolean) => void>()
  const failed: unknown[] = []
  let back = 0
  const tryOnce = async (): Promise<void> => {
    const leave = await passage.enter(signal)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    trying.add(resolve)
    const hasAnswered = await promise
    trying.delete(resolve)
    leave(hasAnswered)
    if (!hasAnswered) return tryOnce()
    back += 1
  }
  for (let number = 0; number < count; number++) tryOnce().catch((cause) => failed.push(cause))
  return {
    failed,
    back: () => back,
    trying: () => trying.size,
    async answer(hasAnswered: boolean, waitMs = 0) {
      for (const resolve of [...trying]) resolve(hasAnswered)
      await pause(waitMs)
    },
  }
}

t.test('those who lost a server together come back a few at a time', async (t) => {
  const crowd = comeBack(1_000, new AbortController().signal)
  await pause(0)
  t.equal(crowd.trying(), 20, 'the first ones try')
  await crowd.answer(false)
  t.equal(crowd.trying(), 0, 'after a failure nobody tries for a moment')
  while (crowd.trying() === 0) await pause(10)
  t.equal(crowd.trying(), 1, 'and then one')
  await crowd.answer(false)
  while (crowd.trying() === 0) await pause(10)
  t.equal(crowd.trying(), 1)
  const widths = []
  while (crowd.back() < 1_000) {
    widths.push(crowd.trying())
    await crowd.answer(true)
  }
  t.same(widths.slice(0, 2), [1, 2], 'with each answer twice as many')
  t.ok(Math.max(...widths) === 20, `at most ${Math.max(...widths)} at once`)
})

t.test('whoever gives up takes no place, and nobody is forgotten', async (t) => {
  const [leaving, staying] = [new AbortController(), new AbortController()]
  const passage = new Passage()
  const leave = await Promise.all(Array.from({ length: 20 }, () => passage.enter(staying.signal)))
  const given = passage.enter(leaving.signal)
  const next = passage.enter(staying.signal)
  leaving.abort(new Error('no more time'))
  await t.rejects(given, { message: 'no more time' })
  leave[0]?.(true)
  t.type(await next, 'function')
  await t.rejects(passage.enter(leaving.signal), { message: 'no more time' })
})

t.test('a try that was cut short says nothing of the server', async (t) => {
  const { signal } = new AbortController()
  const passage = new Passage()
  const [first, ...others] = await Promise.all(
    Array.from({ length: 20 }, () => passage.enter(signal)),
  )
  first?.(false)
  t.notOk(passage.answers)
  for (const leave of others) leave(undefined)
  t.notOk(passage.answers, 'it does not answer because others gave up')
  const trying: ((hasAnswered?: boolean) => void)[] = []
  for (let number = 0; number < 5; number++) {
    passage.enter(signal).then((leave) => trying.push(leave as (hasAnswered?: boolean) => void))
  }
  await pause(0)
  t.equal(trying.length, 0, 'nor does anybody try sooner')
  while (trying.length === 0) await pause(10)
  await pause(20)
  t.equal(trying.length, 1, 'and it is one who tries')
  trying[0]?.(undefined)
  await pause(0)
  t.equal(trying.length, 2, 'the place goes to the next')
  trying[1]?.(true)
  await pause(0)
  t.equal(trying.length, 4, 'with an answer twice as many')
})

t.test(
  'a server that stays away is tried ever later, and soon again after an answer',
  async (t) => {
    const { signal } = new AbortController()
    const passage = new Passage()
    // Its own timers keep no process running.
    const running = setInterval(() => undefined, 1_000)
    t.teardown(() => clearInterval(running))
    t.ok(passage.answers)
    // The pause counts from the failure before it, however late the test goes on.
    let left = performance.now()
    const waited = async (hasAnswered: boolean) => {
      const leave = await passage.enter(signal)
      const took = performance.now() - left
      left = performance.now()
      leave(hasAnswered)
      return took
    }
    await waited(false)
    for (const least of [100, 200, 400]) {
      t.notOk(passage.answers)
      t.ok((await waited(false)) >= least - 5, `${least} ms`)
    }
    t.ok((await waited(true)) >= 795)
    t.ok(passage.answers)
    await waited(false)
    t.ok((await waited(false)) < 795, 'the next trouble begins anew')
  },
)
