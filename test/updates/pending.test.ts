/** Counting what waits for a key: always what a count over the table says. */
import t from 'tap'
import {
  DEFAULT_KINDS,
  type Filter,
  OTHER_KIND,
  type Wanted,
  wants,
} from '../../machines/model/update-kinds.ts'
import type { Database } from '../../src/database/database.ts'
import { countEachPending, countPending } from '../../src/updates/pending.ts'
import { retainUpdates } from '../../src/updates/retention.ts'
import { segments } from '../../src/updates/wanted.ts'
import fc from '../support/fast-check.ts'
import { FIRST, stage } from './stage.ts'

const UPDATES = 12_345
const NEXT = FIRST + UPDATES

t.test('counts are exact for any cursor, filter and key, in any order of asking', async (t) => {
  const { credential, key, db } = await stage(t)
  const id = await credential()
  const keys = [await key(id), await key(id)]
  await db.query(
    `insert into update_log (credential_id, update_id, source_key, kind, api_key_id, payload)
     select $1, $2 + n, n, (array[0, 1, 31, 45, ${OTHER_KIND}])[1 + (n * 7919) % 5],
            case when n % 5 = 0 then $3::bigint when n % 11 = 0 then $4 end,
            case when n % 2 = 0 then '"odd":{}' else '"new":{}' end
       from generate_series(0, $5::int - 1) n`,
    [id, FIRST, keys[0], keys[1], UPDATES],
  )
  await db.query('update credential_log set next_update_id = $2 where credential_id = $1', [
    id,
    NEXT,
  ])
  interface Row {
    readonly update_id: number
    readonly kind: number
    readonly api_key_id: number | null
    readonly payload: string
  }
  let rows = await db.query<Row>('select update_id, kind, api_key_id, payload from update_log')
  const counted = (apiKeyId: number, cursor: number, filter: Filter) =>
    rows.filter(
      (row) =>
        row.update_id > cursor &&
        row.api_key_id !== apiKeyId &&
        wants(filter, { updateId: row.update_id, kind: row.kind, payload: row.payload }),
    ).length
  const ids = fc.sample(fc.integer({ min: FIRST - 10, max: FIRST + UPDATES + 9 }), 100)
  const someSets = fc.sample(fc.subarray([0, 1, 31, 45, OTHER_KIND], { minLength: 1 }), 100)
  const someNames = fc.sample(fc.subarray(['odd', 'new', 'none']), 100)
  const randomId = () => ids.pop() ?? FIRST
  const check = async (cursor = randomId()) => {
    const [from = 0, until = 0] = [randomId(), randomId()].sort((a, b) => a - b)
    const wanted = (): Wanted => {
      const set = someSets.pop() ?? [0]
      const others = someNames.pop() ?? []
      const kinds = set.reduce((sum, kind) => sum + 2 ** kind, 0)
      return set.includes(OTHER_KIND) && others.length > 0 ? { kinds, others } : { kinds }
    }
    const filters: Filter[] = [
      [],
      [{ from: 0, ...wanted() }],
      [{ from, ...wanted() }],
      [
        { from, ...wanted() },
        { from: until + 1, kinds: DEFAULT_KINDS },
      ],
    ]
    for (const apiKeyId of keys) {
      for (const filter of filters) {
        const question = { credentialId: id, apiKeyId, cursor, filter, next: NEXT }
        const facts = JSON.stringify(question)
        t.equal(await countPending(db, question), counted(apiKeyId, cursor, filter), facts)
      }
    }
  }
  // The newest first: a key that is further behind asks after one that is not.
  await check(NEXT - 3_500)
  await check(FIRST - 1)
  for (let round = 0; round < 10; round++) await check()
  await retainUpdates(db, { days: 7, updates: 7_777 }, () => undefined)
  rows = rows.filter(({ update_id }) => update_id >= NEXT - 7_777)
  await check(FIRST - 1)
  for (let round = 0; round < 5; round++) await check()
})

t.test('where everything was read, nothing is asked', async (t) => {
  const nowhere = { query: () => t.fail('a statement') } as unknown as Database
  const question = { credentialId: 1, apiKeyId: 1, cursor: NEXT - 1, filter: [], next: NEXT }
  t.equal(await countPending(nowhere, question), 0)
  const filter = [{ from: FIRST, kinds: 2 }]
  t.strictSame(segments(filter, FIRST, FIRST), [])
  t.strictSame(segments(filter, FIRST, FIRST + 2), [{ from: FIRST, until: FIRST + 2, kinds: 2 }])
})

t.test('a long range of rows is counted in a statement of its own', async (t) => {
  const { credential, key, db } = await stage(t)
  const id = await credential()
  const keys = await Promise.all([key(id), key(id), key(id), key(id)])
  await db.query(
    `insert into update_log (credential_id, update_id, source_key, kind, payload)
     select $1, $2 + n, n, ${OTHER_KIND}, case when n % 3 = 0 then '"odd":{}' else '"new":{}' end
       from generate_series(0, 4499) n`,
    [id, FIRST],
  )
  const counting: unknown[][] = []
  const watched: Database = {
    ...db,
    query(statement, values) {
      const text = typeof statement === 'string' ? statement : statement.text
      if (/from update_log u/.test(text)) counting.push(values?.[0] as unknown[])
      return db.query(statement, values)
    },
  }
  const filter: Filter = [{ from: 0, kinds: 2 ** OTHER_KIND, others: ['odd'] }]
  const next = FIRST + 4_500
  const questions = keys.map((apiKeyId, place) => ({
    credentialId: id,
    apiKeyId,
    cursor: place < 2 ? FIRST - 1 : next - 1_501,
    filter,
    next,
  }))
  t.strictSame(await countEachPending(watched, questions), [1_500, 1_500, 500, 500])
  const short = [0, 0, 1, 1, 2, 2, 3, 3]
  t.strictSame(counting, [short, [0], [1]], 'the places of the questions')
})
