/** Kinds of any number, and kinds without one: each statement reads what the filter of a key says. */
import t from 'tap'
import {
  DEFAULT_KINDS,
  type Filter,
  kindNumber,
  type Wanted,
  wantedFrom,
  wants,
} from '../../machines/model/update-kinds.ts'
import { migrate } from '../../src/database/migrate.ts'
import { waitingByHour } from '../../src/keys/waiting.ts'
import { countPending } from '../../src/updates/pending.ts'
import { retainUpdates } from '../../src/updates/retention.ts'
import fc from '../support/fast-check.ts'
import { FIRST, stage } from './stage.ts'

const NAMES = ['message', 'chat_member', 'subscription', 'shared_widget_query', 'one', 'two']
const UPDATES = 300
const NEXT = FIRST + UPDATES

const filters: Filter[] = [
  [],
  ...fc
    .sample(fc.array(fc.subarray([...NAMES, 'none']), { minLength: 1, maxLength: 3 }), 40)
    .map((changes) => changes.map((names, n) => entry(FIRST - 50 + 100 * n, names))),
]
function entry(from: number, names: readonly string[]): { readonly from: number } & Wanted {
  return { from, ...wantedFrom(names, { others: true }) }
}

t.test('keys read, count and miss the same updates, whatever their kinds', async (t) => {
  const { credential, key, node, db } = await stage(t)
  const id = await credential()
  await db.query(
    `insert into update_log (credential_id, update_id, source_key, kind, payload, at)
     select $1, $2 + n, n, kind, payload, now() - interval '8 days'
       from unnest($3::int[], $4::smallint[], $5::text[]) as r (n, kind, payload)`,
    [id, FIRST, ...updates()],
  )
  await db.query('update credential_log set next_update_id = $2 where credential_id = $1', [
    id,
    NEXT,
  ])
  const keys = await Promise.all(filters.map((filter) => key(id, FIRST + 9, filter)))
  const { read } = await node([id])
  const expected = filters.map((filter) =>
    Array.from({ length: UPDATES - 10 }, (_, n) => update(n + 10)).filter((row) =>
      wants(filter, row),
    ),
  )
  for (const [n, filter] of filters.entries()) {
    const facts = JSON.stringify(filter)
    const wanted = expected[n] ?? []
    const ids = wanted.map(({ updateId }) => updateId)
    const question = { credentialId: id, apiKeyId: 0, cursor: FIRST + 9, filter, next: NEXT }
    t.same((await read(id, FIRST + 9, { filter, limit: UPDATES })).ids, ids, facts)
    const newest = await read(id, FIRST + 9, { filter, keepNewest: 7 })
    t.same(newest.ids, ids.slice(-7), `the newest for ${facts}`)
    t.equal(await countPending(db, question), ids.length, `pending for ${facts}`)
    const { hours } = await waitingByHour(db, keys[n] ?? 0)
    const waiting = hours.reduce((sum, hour) => sum + hour.updates, 0)
    t.equal(waiting, ids.length, `by hour for ${facts}`)
  }

  t.equal(await retainUpdates(db, { days: 7, updates: 1_000 }, () => undefined), UPDATES)
  const rows = await db.query<{ id: number; dropped_updates: number }>(
    'select id, dropped_updates from api_key order by id',
  )
  const lost = new Map(rows.map((row) => [row.id, row.dropped_updates]))
  for (const [n, filter] of filters.entries()) {
    const losses = lost.get(keys[n] ?? 0)
    t.equal(losses, expected[n]?.length, `dropped for ${JSON.stringify(filter)}`)
  }
})

function update(n: number) {
  const name = NAMES[(n * 7) % NAMES.length] ?? ''
  return { updateId: FIRST + n, kind: kindNumber(name), payload: `"${name}":{"n":${n}}` }
}

function updates(): unknown[] {
  const all = Array.from({ length: UPDATES }, (_, n) => update(n))
  return [all.map((_, n) => n), all.map(({ kind }) => kind), all.map(({ payload }) => payload)]
}

t.test('a filter with the former default gets the kinds that came later', async (t) => {
  const { credential, key, db, url } = await stage(t)
  const id = await credential()
  const former = 66_058_751
  const changed = await key(id, FIRST, [
    { from: 3, kinds: 1 },
    { from: 5, kinds: former },
    { from: 7, kinds: former - 1 },
    { from: 9, kinds: former },
  ])
  const plain = await key(id, FIRST, [{ from: 3, kinds: 1 }])
  await db.query(`delete from migration where name = '0036-default-kinds'`)
  t.same(await migrate(url), ['0036-default-kinds'])
  const rows = await db.query<{ id: number; filter: Filter }>('select id, filter from api_key')
  const filterOf = (key: number) => rows.find((row) => row.id === key)?.filter ?? []
  t.strictSame(filterOf(changed), [
    { from: 3, kinds: 1 },
    { from: 5 },
    { from: 7, kinds: former - 1 },
    { from: 9 },
  ])
  t.strictSame(filterOf(plain), [{ from: 3, kinds: 1 }])
  const subscription = { updateId: 9, kind: kindNumber('subscription'), payload: '' }
  t.ok(wants(filterOf(changed), subscription))
  t.not(DEFAULT_KINDS, former)
})
