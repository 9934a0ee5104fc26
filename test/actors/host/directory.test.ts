/** The directory: one live actor for each id, made when it is needed. */
import t from 'tap'
import { Directory } from '../../../actors/host/directory.ts'
import { refused } from '../refused.ts'

class Actor {
  readonly #closed = Promise.withResolvers<unknown>()
  isUsed = false

  get closed(): Promise<unknown> {
    return this.#closed.promise
  }

  isIdle(): boolean {
    return !this.isUsed
  }

  stop(cause?: unknown): void {
    this.#closed.resolve(cause)
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('concurrent callers of one id share one activation', async (t) => {
  const begun = Promise.withResolvers<Actor>()
  let activations = 0
  const directory = new Directory<number, Actor>(() => {
    activations++
    return begun.promise
  })
  const callers = [directory.find(1), directory.find(1), directory.find(1)]
  t.equal(directory.peek(1), undefined)
  begun.resolve(new Actor())
  const [one, ...others] = await Promise.all(callers)
  t.ok(others.every((other) => other === one))
  t.equal(await directory.find(1), one)
  t.equal(directory.peek(1), one)
  t.equal(activations, 1)
  t.equal(directory.size, 1)
})

t.test('each id has an actor of its own', async (t) => {
  const directory = new Directory<number, Actor>(async () => new Actor())
  t.not(await directory.find(1), await directory.find(2))
  t.same(
    [...directory.live()].map(([id]) => id),
    [1, 2],
  )
})

t.test('a failed activation is told to all its callers and tried again by the next', async (t) => {
  let attempts = 0
  const directory = new Directory<number, Actor>(async () => {
    if (++attempts === 1) throw new Error('no such key')
    return new Actor()
  })
  const callers = await Promise.allSettled([directory.find(1), directory.find(1)])
  t.match(
    callers.map((caller) => caller.status === 'rejected' && caller.reason.message),
    ['no such key', 'no such key'],
  )
  t.equal(attempts, 1)
  t.ok(await directory.find(1))
})

t.test('an actor that ended, for whatever cause, is replaced by the next call', async (t) => {
  const directory = new Directory<number, Actor>(async () => new Actor())
  for (const cause of [undefined, new Error('boom')]) {
    const actor = await directory.find(1)
    actor.stop(cause)
    await turn()
    t.equal(directory.peek(1), undefined)
    t.not(await directory.find(1), actor)
  }
})

t.test('only idle actors are passivated', async (t) => {
  const directory = new Directory<number, Actor>(async () => new Actor())
  const used = await directory.find(1)
  await directory.find(2)
  used.isUsed = true
  directory.passivate(1_000)
  await turn()
  t.same(
    [...directory.live()].map(([id]) => id),
    [1],
  )
})

t.test('stopping waits for what is being activated, and ends it too', async (t) => {
  const begun = Promise.withResolvers<Actor>()
  const directory = new Directory<number, Actor>((id) =>
    id === 1 ? begun.promise : Promise.resolve(new Actor()),
  )
  const late = directory.find(1)
  await directory.find(2)
  let isStopped = false
  const stopped = directory.stop().then(() => {
    isStopped = true
  })
  await turn()
  t.notOk(isStopped)
  begun.resolve(new Actor())
  await stopped
  await (await late).closed
  await turn()
  t.equal(directory.size, 0)
})

t.test('one that is told drops what it is told of, and nothing that came after it', async (t) => {
  const directory = new Directory<number, Actor>(async () => new Actor(), { isTold: true })
  const first = await directory.find(1)
  directory.drop(1, new Actor())
  t.equal(directory.peek(1), first)
  directory.drop(1, first)
  t.equal(directory.peek(1), undefined)
  t.not(await directory.find(1), first)
  directory.drop(1, first)
  t.equal(directory.size, 1)
})

t.test('one that has ended before it was found is not kept', async (t) => {
  const ended = Object.assign(new Actor(), { isActive: false })
  const directory = new Directory<number, Actor>(async () => ended, { isTold: true })
  t.equal(await directory.find(1), ended)
  t.equal(directory.size, 0)
})

t.test('one that was stopped brings nobody to life any more', async (t) => {
  let activations = 0
  const directory = new Directory<number, Actor>(async () => {
    activations++
    return new Actor()
  })
  await directory.stop()
  await refused(t, directory.find(1), { code: 'unavailable', retryAfterSeconds: 1 })
  t.equal(activations, 0)
})
