/** Tags that two tabs change at once: neither change undoes the other. */
import t from 'tap'
import { changeTags } from '../../src/bulk/tags.ts'
import type { Database } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'

const { database: db } = await testDatabase(t)
await db.query('alter table credential disable trigger all')

/** What waits for a lock, as the second of two changes does. */
const waiting = async () => {
  const [row] = await db.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return row?.count ?? 0
}

interface Change {
  readonly add?: readonly string[]
  readonly remove?: readonly string[]
}

/** The tags after both changes, of which the second begins before the first is committed; and how many it changed. */
async function afterBoth(id: number, before: readonly string[], first: Change, second: Change) {
  await db.query(
    `insert into credential (id, user_id, platform, native_id, tags) values ($1, 1, 'sandbox', $2, $3)`,
    [id, `${id}`, before],
  )
  let late: Promise<number> | undefined
  const none = { add: [], remove: [] }
  await db.transaction(async (tx) => {
    const within: Database = { ...db, transaction: (work) => work(tx) }
    await changeTags(within, 1, [id], { ...none, ...first })
    late = changeTags(db, 1, [id], { ...none, ...second })
    await until(async () => (await waiting()) === 1)
  })
  const changed = await late
  const [row] = await db.query<{ tags: string[] }>('select tags from credential where id = $1', [
    id,
  ])
  return { tags: row?.tags, changed }
}

t.test('what both put on is there', async (t) => {
  const found = await afterBoth(1, ['old'], { add: ['one'] }, { add: ['two'] })
  t.same(found, { tags: ['old', 'one', 'two'], changed: 1 })
})

t.test('what the first took off stays off, and what the second puts on again is on', async (t) => {
  t.same(await afterBoth(2, ['old'], { remove: ['old'] }, { add: ['new'] }), {
    tags: ['new'],
    changed: 1,
  })
  t.same(await afterBoth(3, ['old'], { remove: ['old'] }, { add: ['old'] }), {
    tags: ['old'],
    changed: 1,
  })
})

t.test('no account gets more than twenty by two changes', async (t) => {
  const tens = (letter: string) => Array.from({ length: 10 }, (_, n) => `${letter}${n}`)
  const { tags = [], changed } = await afterBoth(4, tens('a'), { add: tens('b') }, { add: ['c'] })
  t.equal(tags.length, 20)
  t.equal(changed, 0)
})

t.test('a long change holds no account while it waits for one that comes much later', async (t) => {
  await db.query(
    `insert into credential (id, user_id, platform, native_id)
     select n, 1, 'sandbox', n::text from generate_series(1001, 2001) n`,
  )
  await db.query('analyze credential')
  const ids = Array.from({ length: 1_001 }, (_, n) => 1_001 + n)
  let change: Promise<number> | undefined
  await db.transaction(async (tx) => {
    await tx.query('select id from credential where id = 2001 for update')
    change = changeTags(db, 1, ids, { add: ['many'], remove: [] })
    await until(async () => (await waiting()) === 1)
    const [first] = await tx.query<{ tags: string[] }>(
      'select tags from credential where id = 1001 for update nowait',
    )
    t.same(first?.tags, ['many'])
  })
  t.equal(await change, 1_001)
})
