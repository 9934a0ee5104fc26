/** The registry of actors: one live actor for each id, made when it is needed. */
import t from 'tap'
import { ActorRegistry } from '../../../actors/host/actor.ts'
import { refused } from '../refused.ts'

class Actor {
  readonly #closed = Promise.withResolvers<unknown>()
  readonly #listeners: ((cause: unknown) => void)[] = []
  isUsed = false

  get closed(): Promise<unknown> {
    return this.#closed.promise
  }

  onEnd(listener: (cause: unknown) => void): void {
    this.#listeners.push(listener)
  }

  isIdle(): boolean {
    return !this.isUsed
  }

  stop(cause?: unknown): void {
    this.#closed.resolve(cause)
    for (const listener of this.#listeners) listener(cause)
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('concurrent callers of one id share one activation', async (t) => {
  const begun = Promise.withResolvers<Actor>()
  let activations = 0
  const registry = new ActorRegistry<number, Actor>(() => {
    activations++
    return begun.promise
  })
  const callers = [registry.find(1), registry.find(1), registry.find(1)]
  t.equal(registry.peek(1), undefined)
  begun.resolve(new Actor())
  const [one, ...others] = await Promise.all(callers)
  t.ok(others.every((other) => other === one))
  t.equal(await registry.find(1), one)
  t.equal(registry.peek(1), one)
  t.equal(activations, 1)
  t.equal(registry.size, 1)
})

t.test('each id has an actor of its own', async (t) => {
  const registry = new ActorRegistry<number, Actor>(async () => new Actor())
  t.not(await registry.find(1), await registry.find(2))
  t.same(
    [...registry.live()].map(([id]) => id),
    [1, 2],
  )
})

t.test('a failed activation is told to all its callers and tried again by the next', async (t) => {
  let attempts = 0
  const registry = new ActorRegistry<number, Actor>(async () => {
    if (++attempts === 1) throw new Error('no such key')
    return new Actor()
  })
  const callers = await Promise.allSettled([registry.find(1), registry.find(1)])
  t.match(
    callers.map((caller) => caller.status === 'rejected' && caller.reason.message),
    ['no such key', 'no such key'],
  )
  t.equal(attempts, 1)
  t.ok(await registry.find(1))
})

t.test('an actor that ended, for whatever cause, is replaced by the next call', async (t) => {
  const registry = new ActorRegistry<number, Actor>(async () => new Actor())
  for (const cause of [undefined, new Error('boom')]) {
    const actor = await registry.find(1)
    actor.stop(cause)
    await turn()
    t.equal(registry.peek(1), undefined)
    t.not(await registry.find(1), actor)
  }
})

t.test('only idle actors are passivated', async (t) => {
  const registry = new ActorRegistry<number, Actor>(async () => new Actor())
  const used = await registry.find(1)
  await registry.find(2)
  used.isUsed = true
  registry.passivate(1_000)
  await turn()
  t.same(
    [...registry.live()].map(([id]) => id),
    [1],
  )
})

t.test('stopping waits for what is being activated, and ends it too', async (t) => {
  const begun = Promise.withResolvers<Actor>()
  const registry = new ActorRegistry<number, Actor>((id) =>
    id === 1 ? begun.promise : Promise.resolve(new Actor()),
  )
  const late = registry.find(1)
  await registry.find(2)
  let isStopped = false
  const stopped = registry.stop().then(() => {
    isStopped = true
  })
  await turn()
  t.notOk(isStopped)
  begun.resolve(new Actor())
  await stopped
  await (await late).closed
  await turn()
  t.equal(registry.size, 0)
})

t.test('an end drops its own actor, and nothing that came after it', async (t) => {
  const registry = new ActorRegistry<number, Actor>(async () => new Actor())
  const first = await registry.find(1)
  new Actor().stop()
  t.equal(registry.peek(1), first)
  first.stop()
  t.equal(registry.peek(1), undefined)
  t.not(await registry.find(1), first)
  first.stop()
  t.equal(registry.size, 1)
})

t.test('one that has ended before it was found is not kept', async (t) => {
  const ended = Object.assign(new Actor(), { isActive: false })
  const registry = new ActorRegistry<number, Actor>(async () => ended)
  t.equal(await registry.find(1), ended)
  t.equal(registry.size, 0)
})

t.test('one that was stopped brings nobody to life any more', async (t) => {
  let activations = 0
  const registry = new ActorRegistry<number, Actor>(async () => {
    activations++
    return new Actor()
  })
  await registry.stop()
  await refused(t, registry.find(1), { code: 'unavailable', retryAfterSeconds: 1 })
  t.equal(activations, 0)
})
