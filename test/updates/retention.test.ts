/** Retention: by age and by number, and every key is told what it will never get. */
import t from 'tap'
import { DEFAULT_KINDS, type Filter } from '../../machines/model/update-kinds.ts'
import { retainUpdates } from '../../src/updates/retention.ts'
import { FIRST, many, onlyEdits, stage, written } from './stage.ts'

t.test('keys are told of what was removed before they read it, and only of that', async (t) => {
  const { credential, key, node, db } = await stage(t)
  const id = await credential()
  const keys = {
    all: await key(id),
    half: await key(id, FIRST + 4),
    done: await key(id, FIRST + 19),
    edits: await key(id, FIRST - 1, onlyEdits),
    later: await key(id, FIRST - 1, [{ from: FIRST + 8, kinds: 2 }]),
  }
  const other = await credential()
  const apart = await key(other)
  const { append, read, updates } = await node([id, other])
  await append(id, many(8, 'm'), { apiKeyId: keys.all })
  await append(id, [...many(2, 'n'), written('e', { kind: 'edited' }), ...many(9, 'o')])
  await append(other, many(3, 'x'))
  const removed = (credentialId: number, updateId: number) =>
    updates.removed(credentialId, updateId)
  // The block of updates that is cut, of each of the two.
  await db.query(
    `insert into update_block (credential_id, block, kind, api_key_id, updates)
     values ($1, 5000, 0, 0, 1), ($2, 5000, 0, 0, 1)`,
    [id, other],
  )
  t.equal(await retainUpdates(db, { days: 7, updates: 8 }, removed), 12)
  const counted = await db.query<{ credential_id: number }>(
    'select credential_id from update_block',
  )
  t.same(counted, [{ credential_id: other }], 'the counts of others stay')

  const told = async () =>
    Object.fromEntries(
      (
        await db.query<{ id: number; dropped_updates: number; told: boolean }>(
          'select id, dropped_updates, dropped_at is not null as told from api_key',
        )
      ).map((row) => [row.id, [row.dropped_updates, row.told]]),
    )
  t.same(await told(), {
    [keys.all]: [4, true],
    [keys.half]: [7, true],
    [keys.done]: [0, false],
    [keys.edits]: [1, true],
    [keys.later]: [9, true],
    [apart]: [0, false],
  })
  t.same((await read(id, FIRST - 1)).ids[0], FIRST + 12, 'memory forgets them too')
  t.equal(
    await retainUpdates(db, { days: 7, updates: 8 }, removed),
    0,
    'a second time does nothing',
  )
  t.equal((await told())[keys.all]?.[0], 4)
})

t.test('a webhook of which a chat fails has missed only what that chat did not get', async (t) => {
  const { credential, key, node, db } = await stage(t)
  const id = await credential()
  const keys = {
    failing: await key(id),
    edits: await key(id, FIRST - 1, onlyEdits),
    ahead: await key(id, FIRST + 14),
    behind: await key(id),
  }
  const { append, updates } = await node([id])
  await append(id, many(6, 'm'), { apiKeyId: keys.failing })
  await append(id, [...many(5, 'n'), written('e', { kind: 'edited' }), ...many(8, 'o')])
  const progress = async (apiKeyId: number, head: number, ...open: number[]) =>
    db.query('update api_key set webhook_progress = $2 where id = $1', [
      apiKeyId,
      JSON.stringify({
        cursor: 0,
        head: FIRST + head,
        waiting: 1,
        open: open.map((n) => FIRST + n),
      }),
    ])
  await progress(keys.failing, 19, 4, 7, 10, 12, 17, 18)
  await progress(keys.edits, 9, 3, 3)
  await progress(keys.ahead, 19, 15, 16)
  await progress(keys.behind, 8, 2, 2)
  await retainUpdates(db, { days: 7, updates: 6 }, (...removed) => updates.removed(...removed))
  const dropped = await db.query<{ id: number; dropped_updates: number }>(
    'select id, dropped_updates from api_key order by id',
  )
  t.same(
    dropped.map(({ id, dropped_updates }) => [id, dropped_updates]),
    [
      // Of 4 to 7 and 10 to 12, less two that it caused itself.
      [keys.failing, 5],
      // The one after the head.
      [keys.edits, 1],
      [keys.ahead, 0],
      // One, and all from the head to the fourteenth.
      [keys.behind, 6],
    ],
  )
})

t.test('what is too old goes, in steps, and the log goes on where it was', async (t) => {
  const { credential, key, node, db } = await stage(t)
  const id = await credential()
  const behind = await key(id)
  await db.query(
    `insert into update_log (credential_id, update_id, source_key, kind, payload, at)
     select $1, $2 + n, n, 0, '"message":{}',
            now() - case when n < 11000 then interval '8 days' else interval '6 days' end
       from generate_series(0, 11999) n`,
    [id, FIRST],
  )
  await db.query('update credential_log set next_update_id = $1', [FIRST + 12_000])
  const steps: number[] = []
  const removed = (_: number, updateId: number) => steps.push(updateId)
  t.equal(await retainUpdates(db, { days: 7, updates: 1_000_000 }, removed), 11_000)
  t.same(steps, [FIRST + 4_999, FIRST + 9_999, FIRST + 10_999])
  const [row] = await db.query<object>('select dropped_updates from api_key where id = $1', [
    behind,
  ])
  t.same(row, { dropped_updates: 11_000 })
  const { append, read } = await node([id])
  t.equal((await read(id, FIRST - 1)).ids[0], FIRST + 11_000)
  await append(id, many(1, 'new'))
  t.same((await read(id, FIRST + 11_999)).ids, [FIRST + 12_000])
})

const SAME = 'user_id, credential_id, name, scopes, secret_hash, key_hint'

t.test('thousands of keys with filters of their own do not keep updates from going', async (t) => {
  const { credential, key, db } = await stage(t)
  const [id, quiet] = [await credential(), await credential()]
  await key(quiet)
  const writer = await key(id, FIRST - 1, onlyEdits)
  await db.query(
    `insert into update_log (credential_id, update_id, source_key, kind, payload, at, api_key_id)
     select $1, $2 + n, n, n % 2, '"message":{}', now() - interval '8 days',
            case when n % 5 = 0 then $3::bigint end
       from generate_series(0, 9999) n`,
    [id, FIRST, writer],
  )
  await db.query('update credential_log set next_update_id = $1 where credential_id = $2', [
    FIRST + 10_000,
    id,
  ])
  // Copies of a key, at cursors of their own; all but every hundredth have changed their filter, each at a time of its own.
  await db.query(
    `insert into api_key (${SAME}, cursor, filter)
     select ${SAME}, $1 + n % 9000, case when n % 100 = 0 then '[]' else jsonb_build_array(
              jsonb_build_object('from', $1 + n, 'kinds', 1 + n % 2),
              jsonb_build_object('from', $1 + 2 * n, 'kinds', 1 + n % 3)) end
       from api_key, generate_series(1, 5000) n where credential_id = $2`,
    [FIRST - 1, id],
  )
  t.equal(await retainUpdates(db, { days: 7, updates: 1_000_000 }, () => undefined), 10_000)
  const keys = await db.query<{
    id: number
    cursor: number
    filter: Filter
    dropped_updates: number
  }>('select id, cursor, filter, dropped_updates from api_key where credential_id = $1', [id])
  t.equal(keys.length, 5_001)
  const wrong = keys.filter(({ id: keyId, cursor, filter, dropped_updates }) => {
    let unread = 0
    for (let updateId = cursor + 1; updateId < FIRST + 10_000; updateId++) {
      const n = updateId - FIRST
      const kinds = filter.findLast(({ from }) => from <= updateId)?.kinds ?? DEFAULT_KINDS
      const isOwn = keyId === writer && n % 5 === 0
      if (((1 << (n % 2)) & kinds) !== 0 && !isOwn) unread++
    }
    return unread !== dropped_updates
  })
  t.same(wrong, [])
})
