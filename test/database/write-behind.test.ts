/** Who waits for whom: callers of one statement, and callers who want what is buffered to be written. */
import { mock } from 'node:test'
import { setImmediate as endOfTurn, setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { Flusher, Latest, SharedStatements, WriteBuffer } from '../../src/database/write-behind.ts'
import { quietLogger } from '../support/logger.ts'

const blocked = () => Object.assign(new pg.DatabaseError('locked', 6, 'error'), { code: '55P03' })

t.test('nobody waits twice for the row of another, while that stays locked', async (t) => {
  let isLocked = true
  const statements: string[] = []
  const during = Promise.withResolvers<void>()
  const writes = new SharedStatements<string, string>({
    most: 500,
    isGathered: true,
    ownerOf: (item) => Number(item[0]),
    async run(items) {
      statements.push(items.join(' '))
      during.resolve()
      await wait(20)
      if (isLocked && items.some((item) => item.startsWith('1'))) throw blocked()
      return items
    },
  })
  const first = [t.rejects(writes.run('1a')), writes.run('2a')]
  await during.promise
  // They come while the shared statement waits for the lock.
  const second = [t.rejects(writes.run('1b')), writes.run('2b'), writes.run('3b')]
  await Promise.all([...first, ...second])
  await Promise.all([t.rejects(writes.run('1c')), writes.run('2c')])
  const shared = () => statements.filter((one) => one.includes('1') && /[23]/.test(one))
  t.strictSame(shared(), ['1a 2a'], 'the first one only')
  t.ok(statements.indexOf('1a') < statements.indexOf('1b') || statements.includes('1a 1b'))
  isLocked = false
  await writes.run('1d')
  await endOfTurn()
  await Promise.all([writes.run('1e'), writes.run('2e')])
  t.strictSame(statements.at(-1), '1e 2e', 'they share again once the row is free')
})

t.test('one write at a time, and the next begins with what has come meanwhile', async (t) => {
  const writes: PromiseWithResolvers<void>[] = []
  const flusher = new Flusher(60_000, () => {
    const write = Promise.withResolvers<void>()
    writes.push(write)
    return write.promise
  })
  const first = flusher.flush()
  await endOfTurn()
  const others = [flusher.flush(), flusher.flush()]
  await endOfTurn()
  t.equal(writes.length, 1)
  writes[0]?.resolve()
  await first
  await endOfTurn()
  t.equal(writes.length, 2, 'for all that waited')
  const last = flusher.flush()
  await endOfTurn()
  t.equal(writes.length, 2)
  writes[1]?.resolve()
  await Promise.all(others)
  await endOfTurn()
  writes[2]?.resolve()
  await last
  t.equal(writes.length, 3)
})

t.test('many who want the same to be written wait for no more than two tries', async (t) => {
  let tries = 0
  const hanging = new Flusher(60_000, async () => {
    tries++
    await wait(5)
    throw new Error('away')
  })
  await Promise.all(Array.from({ length: 50 }, () => hanging.flush()))
  t.ok(tries <= 2, `${tries} tries`)
  const before = tries
  await hanging.flush()
  t.equal(tries, before + 1, 'whoever comes later has it tried once more')
})

t.test(
  'what is buffered is written a moment after the first of it, and again after a failure',
  async (t) => {
    // The process has other tests: nothing but microtasks may be awaited meanwhile.
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    let tries = 0
    let isAway = true
    const flusher = new Flusher(200, async () => {
      tries++
      if (isAway) throw new Error('away')
    })
    const after = async (milliseconds: number) => {
      mock.timers.tick(milliseconds)
      for (let turn = 0; turn < 10; turn++) await undefined
      return tries
    }
    flusher.schedule()
    t.equal(await after(150), 0)
    flusher.schedule()
    t.equal(await after(49), 0)
    t.equal(await after(1), 1, 'the second one has not put it off')
    t.equal(await after(999), 1)
    flusher.schedule()
    t.equal(await after(1), 2, 'again after a second, and no sooner')
    isAway = false
    await flusher.flush()
    t.equal(await after(10_000), 3, 'a flush leaves no timer')
  },
)

t.test(
  'a row and a newest value are written without being asked for, and nothing is not',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const written: unknown[] = []
    const write = async (rows: readonly unknown[]) => void written.push(...rows)
    const options = { everyMs: 200, capacity: 9, rows: 'rows', logger: quietLogger, write }
    const [buffer, latest] = [new WriteBuffer<number>(options), new Latest<string, number>(options)]
    buffer.add(1)
    latest.set('a', 2)
    mock.timers.tick(200)
    for (let turn = 0; turn < 10; turn++) await undefined
    t.same(written, [1, ['a', 2]])
    let calls = 0
    const counted = new WriteBuffer<number>({ ...options, write: async () => void calls++ })
    await counted.flush()
    t.equal(calls, 0)
  },
)

t.test('those that come after a shared statement share the next one', async (t) => {
  const statements: string[] = []
  const reads = new SharedStatements<string, string>({
    most: 500,
    restMs: 20,
    async run(items) {
      statements.push(items.join(' '))
      return items
    },
  })
  await Promise.all([reads.run('1'), reads.run('2'), reads.run('3')])
  await Promise.all([reads.run('4'), endOfTurn().then(() => reads.run('5'))])
  t.strictSame(statements, ['1', '2 3', '4 5'], 'the first one does not wait')
})

t.test(
  'an item that is refused fails alone, and nobody tries again while the database is away',
  async (t) => {
    const statements: string[] = []
    let isAway = false
    const writes = new SharedStatements<string, string>({
      most: 3,
      async run(items) {
        statements.push(items.join(' '))
        await endOfTurn()
        if (isAway) throw failed('unavailable')
        if (items.includes('wrong')) throw new Error(`refused ${items.length}`)
        return items.map((item) => `${item}!`)
      },
    })
    const outcomesOf = async (...items: string[]) =>
      (await Promise.allSettled(items.map((item) => writes.run(item)))).map((end) =>
        end.status === 'fulfilled' ? end.value : end.reason.message,
      )
    const some = await outcomesOf('1', '2', 'wrong', '3', '4')
    t.same(some, ['1!', '2!', 'refused 1', '3!', '4!'])
    t.same(statements.splice(0), ['1', '2 wrong 3', '2', 'wrong', '3', '4'])
    isAway = true
    t.equal((await outcomesOf('1', '2', '3')).length, 3)
    t.same(statements, ['1', '2 3'])
  },
)

t.test('a caller that comes alone again and again does not wait', async (t) => {
  const run = async (items: readonly string[]) => items
  const reads = new SharedStatements<string, string>({ most: 500, restMs: 3_600_000, run })
  t.equal(await reads.run('1'), '1')
  t.equal(await reads.run('2'), '2')
})
