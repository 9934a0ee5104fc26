/** What the registry makes of a crash: callers are refused while the actor rests, and nobody else is. */
import t from 'tap'
import { ActorRegistry } from '../../../actors/host/actor.ts'
import { Supervision } from '../../../actors/host/host.ts'
import { TestClock } from '../../support/clock.ts'
import { refused } from '../refused.ts'

class Actor {
  readonly #end = Promise.withResolvers<unknown>()
  readonly closed = this.#end.promise
  #listener: (cause: unknown) => void = () => undefined

  onEnd(listener: (cause: unknown) => void): void {
    this.#listener = listener
  }

  isIdle(): boolean {
    return true
  }

  stop(cause?: unknown): void {
    this.#end.resolve(cause)
    this.#listener(cause)
  }
}

function begin() {
  const clock = new TestClock()
  const crashes: string[] = []
  const onCrash = (kind: string) => crashes.push(kind)
  const supervision = new Supervision<number>({ kind: 'key', clock, onCrash })
  const registry = new ActorRegistry<number, Actor>(async () => new Actor(), supervision)
  const crash = async () => (await registry.find(1)).stop(new Error('boom'))
  return { clock, crashes, registry, crash }
}

const resting = { code: 'unavailable', retryAfterSeconds: 1 } as const

t.test('one that crashed begins again after a rest, others at once', async (t) => {
  const { clock, crashes, registry, crash } = begin()
  await crash()
  t.equal(registry.downOf(1), 'crashed')
  await refused(t, registry.find(1), resting)
  t.ok(await registry.find(2))
  await clock.advance(1_200)
  t.equal(registry.downOf(1), undefined)
  t.ok(await registry.find(1))
  t.same(crashes, ['key'])
})

t.test('one that was stopped begins again at once', async (t) => {
  const { registry } = begin()
  ;(await registry.find(1)).stop()
  t.equal(registry.downOf(1), undefined)
  t.ok(await registry.find(1))
})

t.test('one that crashes again and again is given up for some minutes', async (t) => {
  const { clock, registry, crash } = begin()
  for (const rest of [1_200, 2_400, 4_800, 9_600]) {
    await crash()
    await clock.advance(rest)
  }
  await crash()
  t.equal(registry.downOf(1), 'failed')
  await refused(t, registry.find(1), { code: 'unavailable', retryAfterSeconds: 60 })
  await clock.advance(360_000)
  t.ok(await registry.find(1))
})

t.test('after a minute nothing is left of a crash', async (t) => {
  const { clock, crash } = begin()
  await crash()
  await clock.advance(62_000)
  t.equal(clock.timers, 0)
})

t.test('stopping ends the rests, too', async (t) => {
  const { clock, registry, crash } = begin()
  await crash()
  await registry.stop()
  t.equal(clock.timers, 0)
})
