/** Who waits for whom: callers of one statement, and callers who want what is buffered to be written. */
import { setImmediate as endOfTurn, setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { Flusher, SharedStatements } from '../../src/database/write-behind.ts'

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

t.test('a caller that comes alone again and again does not wait', async (t) => {
  const run = async (items: readonly string[]) => items
  const reads = new SharedStatements<string, string>({ most: 500, restMs: 3_600_000, run })
  t.equal(await reads.run('1'), '1')
  t.equal(await reads.run('2'), '2')
})
