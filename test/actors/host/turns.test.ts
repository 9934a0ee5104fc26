/** Work that comes all at once is done once each, in order, and a few milliseconds at a time. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Turns } from '../../../actors/host/time.ts'
import { settled, TestClock, thrown } from '../../support/clock.ts'
import fc from '../../support/fast-check.ts'

const TURN_MS = 1

class Rig {
  readonly clock = new TestClock()
  /** Milliseconds that the works took so far. */
  spent = 0
  readonly done: string[] = []
  readonly turns = new Turns(this.clock, thrown, () => this.spent)

  /** A work whose time passes in a promise, where that of a real one does. */
  work(name: string, tookMs = 0, more: () => void = () => undefined) {
    return () => {
      this.done.push(name)
      more()
      void Promise.resolve()
        .then(() => undefined)
        .then(() => {
          this.spent += tookMs
        })
    }
  }
}

t.test('others are served after a few milliseconds, and what is left goes on then', async (t) => {
  const rig = new Rig()
  for (const name of ['a', 'b', 'c', 'd', 'e']) rig.turns.soon(rig.work(name, TURN_MS / 2))
  t.same(rig.done, [], 'nothing is done before the caller is through')
  const seen: string[] = []
  for (let turn = 0; turn < 4; turn++) {
    await setImmediate()
    seen.push(rig.done.join(''))
  }
  t.same(seen, ['ab', 'abcd', 'abcde', 'abcde'])
})

t.test('what comes right after the first is done together with it', async (t) => {
  const rig = new Rig()
  rig.turns.gather(rig.work('a'))
  await settled()
  const cancel = rig.turns.gather(rig.work('b'))
  rig.turns.gather(rig.work('c'))
  cancel()
  t.equal(rig.clock.timers, 1)
  t.same(rig.done, [])
  await rig.clock.advance(1)
  t.same(rig.done, ['a', 'c'])

  rig.turns.gather(rig.work('d'))()
  t.equal(rig.clock.timers, 0, 'no timer is left for what was cancelled')
  cancel()
  rig.turns.gather(rig.work('e'))
  cancel()
  await rig.clock.advance(1)
  t.same(rig.done, ['a', 'c', 'e'])
})

t.test('what a work throws does not keep the others from their turn', async (t) => {
  const failed: unknown[] = []
  const turns = new Turns(new TestClock(), (cause) => failed.push(cause))
  const boom = new Error('boom')
  let isDone = false
  turns.soon(() => {
    throw boom
  })
  turns.soon(() => {
    isDone = true
  })
  await settled()
  t.same(failed, [boom])
  t.ok(isDone)
})

interface Wish {
  readonly tookMs: number
  readonly isGathered: boolean
  /** Asks for one more while it is being done. */
  readonly asks: boolean
  /** Cancels the wish at this place, if there is one, while it is being done. */
  readonly cancels: number
  /** The event loop turns before the next wish. */
  readonly pauses: boolean
}

const wishes = fc.array(
  fc.record({
    tookMs: fc.integer({ min: 0, max: 6 }),
    isGathered: fc.boolean(),
    asks: fc.boolean(),
    cancels: fc.nat(40),
    pauses: fc.boolean(),
  }),
  { maxLength: 40 },
)

/** Makes the wishes; resolves with the rig, what was asked for in order, and what was cancelled in time. */
async function perform(made: readonly Wish[]) {
  const rig = new Rig()
  const cancels: (() => void)[] = []
  const lost = new Set<string>()
  const more: string[] = []
  const cancel = (place: number) => {
    if (!cancels[place]) return
    if (!rig.done.includes(`${place}`)) lost.add(`${place}`)
    cancels[place]()
  }
  for (const [place, wish] of made.entries()) {
    const work = rig.work(`${place}`, wish.tookMs, () => {
      cancel(wish.cancels)
      if (!wish.asks) return
      more.push(`more ${place}`)
      rig.turns.soon(rig.work(`more ${place}`, wish.tookMs))
    })
    cancels.push(wish.isGathered ? rig.turns.gather(work) : rig.turns.soon(work))
    if (wish.pauses) await setImmediate()
  }
  for (let turn = 0; turn < 2 * made.length + 4; turn++) await rig.clock.advance(1)
  return { rig, lost, more }
}

t.test('every work that is not cancelled is done once, in its order', async (t) => {
  await fc.assert(
    fc.asyncProperty(wishes, async (made) => {
      const { rig, lost, more } = await perform(made)
      const numbers = [...made.keys()].map(String)
      const due = numbers.filter((name) => !lost.has(name))
      t.same([...rig.done].sort(), [...due, ...more].sort())
      for (const isGathered of [true, false]) {
        const own = due.filter((name) => made[Number(name)]?.isGathered === isGathered)
        t.same(
          rig.done.filter((name) => own.includes(name)),
          own,
        )
      }
      t.equal(rig.clock.timers, 0)
    }),
  )
})
