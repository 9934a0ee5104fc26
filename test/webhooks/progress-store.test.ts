/** Progress of several webhooks in one statement: what fails of one is no matter of the others. */
import t from 'tap'
import type { Progress } from '../../machines/webhook/progress.ts'
import { ProgressStore } from '../../src/webhooks/progress-store.ts'
import { testDatabase } from '../support/database.ts'

t.test('progress that cannot be had fails alone, and what comes later is stored', async (t) => {
  const { database } = await testDatabase(t)
  const [first, second] = await database.query<{ id: number }>(
    `with owner as (
       insert into app_user (phone_index, phone_sealed, created_at) values ('', '', now()) returning id
     ), account as (
       insert into credential (user_id, platform, native_id, account)
       select id, 'sandbox', '1', '{}' from owner returning id, user_id
     )
     insert into api_key (user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
     select user_id, id, 'k', '{}', n::text::bytea, '', 100 from account, generate_series(1, 2) n
     returning id`,
  )
  const [row] = await database.query<{ id: number; epoch: number }>(
    'select id, epoch from credential',
  )
  const keyOf = (apiKeyId = 0) => ({ apiKeyId, credentialId: row?.id ?? 0, epoch: row?.epoch ?? 0 })
  const store = new ProgressStore(database)
  const upTo = (cursor: number) => (): Progress => ({ cursor, head: cursor, waiting: 0, open: [] })
  const broken = store.save(
    keyOf(first?.id),
    () => {
      throw new Error('boom')
    },
    false,
  )
  const good = store.save(keyOf(second?.id), upTo(105), false)
  await t.rejects(broken, { message: 'boom' })
  await good
  await store.save(keyOf(first?.id), upTo(107), false)
  const cursors = async () => {
    const rows = await database.query<{ cursor: number }>('select cursor from api_key order by id')
    return rows.map(({ cursor }) => cursor)
  }
  t.same(await cursors(), [107, 105])
  await Promise.all([
    store.save(keyOf(first?.id), upTo(111), false),
    store.save(keyOf(second?.id), upTo(109), false),
  ])
  t.same(await cursors(), [111, 109], 'of two in one statement, each gets its own')
})

t.test('a write that fails is told to all that it was for, and the next one is made', async (t) => {
  const { database } = await testDatabase(t)
  let isAway = true
  const store = new ProgressStore({
    ...database,
    query: (...asked) =>
      isAway ? Promise.reject(new Error('away')) : database.query<never>(...asked),
  })
  const progress = (): Progress => ({ cursor: 1, head: 1, waiting: 0, open: [] })
  const save = (apiKeyId: number) =>
    store.save({ apiKeyId, credentialId: 1, epoch: 0 }, progress, false)
  for (const saved of [save(1), save(2)]) await t.rejects(saved, { message: 'away' })
  isAway = false
  await Promise.all([save(1), save(2)])
})

t.test('a write may be lost in a crash only where each of its progresses may', async (t) => {
  const { database } = await testDatabase(t)
  const rushed: unknown[] = []
  const watched: typeof database = {
    ...database,
    query(...asked) {
      rushed.push(asked[1]?.[3])
      return database.query<never>(...asked)
    },
  }
  const store = new ProgressStore(watched)
  const progress = (): Progress => ({ cursor: 1, head: 1, waiting: 0, open: [] })
  const key = (apiKeyId: number) => ({ apiKeyId, credentialId: 1, epoch: 0 })
  const save = (apiKeyId: number, isRushed: boolean) =>
    store.save(key(apiKeyId), progress, isRushed)
  await Promise.all([save(1, true), save(2, false)])
  await Promise.all([save(1, true), save(2, true)])
  await save(1, true)
  await save(1, false)
  await Promise.all([save(1, false), save(1, true)])
  t.same(rushed, [false, true, true, false, false], 'also where one of them is told anew')
})
