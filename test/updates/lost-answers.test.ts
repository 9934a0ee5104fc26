/** The answer to a commit is lost: what it has stored is read, told and delivered all the same, each update once and in order. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { LATE_WRITES_MS } from '../../src/database/write-watch.ts'
import fc from '../support/fast-check.ts'
import { quietLogger } from '../support/logger.ts'
import { Relay } from '../support/relay.ts'
import { FIRST, many, stage, written } from './stage.ts'

const APPEND = /log-append/

/** A node whose way to the database the test can cut. */
async function cuttable(t: Test) {
  const staged = await stage(t)
  const address = new URL(staged.url)
  const port = Number(address.port)
  const relay = await Relay.start(() => port)
  t.teardown(() => relay.stop())
  address.port = `${relay.port}`
  const db = openDatabase({ url: address.href, logger: quietLogger })
  t.teardown(() => db.close())
  const id = await staged.credential()
  return { ...staged, id, relay, ...(await staged.node([id], db)) }
}

t.test('events that are handed in again are told of, though they were stored before', async (t) => {
  const { id, relay, append, updates, received, stored, read } = await cuttable(t)
  t.equal(await append(id, many(1, 'a')), 1)
  let pokes = 0
  updates.listen(id, FIRST, () => pokes++)
  relay.cutAnswerTo(APPEND)
  const refusal = await append(id, many(2, 'b'), { checkpoint: 2 }).catch((cause) => cause)
  t.match(refusal, { failure: { certain: false } })
  t.equal(await append(id, many(2, 'b'), { checkpoint: 2 }), 0, 'they are stored already')
  t.same(await stored(id), ['a0', 'b0', 'b1'])
  t.same(
    received,
    [
      [id, 1],
      [id, 2],
    ],
    'who sleeps is woken by this alone',
  )
  t.equal(pokes, 1)
  t.same((await read(id, FIRST)).texts, ['b0', 'b1'])
})

t.test('events that nobody hands in again are looked for', async (t) => {
  const { id, relay, append, updates, received, stored, read } = await cuttable(t)
  t.equal(await append(id, many(1, 'a')), 1)
  await updates.lookAgain()
  t.same(received.splice(0), [[id, 1]], 'nothing was in doubt')
  let pokes = 0
  updates.listen(id, FIRST, () => pokes++)
  relay.cutAnswerTo(APPEND)
  await t.rejects(append(id, many(2, 'b'), { checkpoint: 2 }))
  t.same((await read(id, FIRST)).texts, [], 'nobody knows of them')
  await updates.lookAgain()
  t.same([received, pokes], [[[id, 2]], 1])
  t.equal(updates.next(id), FIRST + 3)
  t.same((await read(id, FIRST)).texts, ['b0', 'b1'])
  t.equal(await append(id, many(1, 'c')), 1)
  t.same((await read(id, FIRST)).texts, ['b0', 'b1', 'c0'])
  t.same(await stored(id), ['a0', 'b0', 'b1', 'c0'])
})

t.test('one that is stored only after the look is found by the next', async (t) => {
  const { id, db, node, received, updates, append } = await cuttable(t)
  await append(id, many(1, 'a'))
  received.splice(0)
  await db.query('alter table update_log rename to away')
  await t.rejects(append(id, many(1, 'late')))
  await db.query('alter table away rename to update_log')
  await updates.lookAgain()
  t.same(received, [])
  // The statement that was cut off goes on at the server.
  t.equal(await (await node([id])).append(id, many(1, 'late')), 1)
  await pause(LATE_WRITES_MS + 50)
  await updates.lookAgain()
  t.same(received, [[id, 1]])
  t.equal(await (await node([id])).append(id, many(1, 'no doubt any more')), 1)
  await updates.lookAgain()
  t.same(received, [[id, 1]], 'a log without a doubt costs no look')
})

t.test('what another node owns by now is not looked for', async (t) => {
  const { id, relay, append, updates, received, epoch, node } = await cuttable(t)
  relay.cutAnswerTo(APPEND)
  await t.rejects(append(id, many(2, 'b')))
  await epoch(id, 1)
  t.equal(await (await node([id])).append(id, many(1, 'c'), { epoch: 1 }), 1)
  await updates.lookAgain()
  t.same(received, [])
  t.equal(updates.next(id), FIRST)
})

type Fate = 'told' | 'lost answer' | 'lost request'

/** A database whose answers, or whose requests, to append are lost as the test says. */
function unreliable(db: Database, fates: Fate[]): Database {
  return {
    ...db,
    async query(statement, values) {
      const isAppend = typeof statement !== 'string' && statement.name.startsWith('log-append')
      const fate = isAppend ? (fates.shift() ?? 'told') : 'told'
      const away = failed('unavailable', 'away', { certain: false })
      if (fate === 'lost request') throw away
      const rows = await db.query<never>(statement, values)
      if (fate === 'lost answer') throw away
      return rows
    },
  }
}

t.test(
  'whatever is lost, readers get each stored update once, in order, and all of them',
  async (t) => {
    const { credential, node, db, stored } = await stage(t)
    const step = fc.record({
      fate: fc.constantFrom<Fate>('told', 'lost answer', 'lost request'),
      events: fc.array(fc.nat(25), { minLength: 1, maxLength: 4 }),
      isRepeated: fc.boolean(),
      looks: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const id = await credential()
        const fates: Fate[] = []
        const { append, read, updates, received } = await node([id], unreliable(db, fates))
        let cursor = FIRST - 1
        const got: string[] = []
        const readAll = async () => {
          const { ids, texts } = await read(id, cursor)
          for (const updateId of ids) if (updateId !== ++cursor) throw new Error(`gap at ${cursor}`)
          got.push(...texts)
        }
        for (const { fate, events, isRepeated, looks } of steps) {
          const happenings = events.map((event) => written(`${event}`))
          fates.push(fate)
          await append(id, happenings).catch(async () => {
            if (isRepeated) await append(id, happenings)
          })
          fates.splice(0)
          if (looks) await updates.lookAgain()
          await readAll()
        }
        await updates.lookAgain()
        await readAll()
        const all = await stored(id)
        if (`${got}` !== `${all}`) throw new Error(`read ${got}, stored ${all}`)
        const told = received.reduce((sum, [, count]) => sum + count, 0)
        if (told !== all.length) throw new Error(`told of ${told}, stored ${all.length}`)
      }),
      { numRuns: 60 },
    )
  },
)
