/** Reading: the same answer from memory and from the table, filtered, bounded, without skipping. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Database } from '../../src/database/database.ts'
import { updateSince } from '../../src/updates/read.ts'
import { FIRST, many, onlyEdits, stage, written } from './stage.ts'

t.test('memory and the table give the same bytes', async (t) => {
  const { credential, key, node } = await stage(t)
  const id = await credential()
  const [mine, other] = [await key(id), await key(id)]
  const one = await node([id])
  await one.append(id, many(40, 'سلام', { text: 'سلام 👋 "quoted" \\ \u2028' }))
  await one.append(id, many(10, 'own'), { apiKeyId: mine })
  await one.append(id, many(40, 'e', { kind: 'edited' }))
  const two = await node([id])
  for (const apiKeyId of [mine, other]) {
    for (const filter of [[], onlyEdits, [{ from: FIRST + 20, kinds: 2 }]]) {
      for (const after of [FIRST - 1, FIRST + 10, FIRST + 45, FIRST + 89]) {
        const [held, stored] = await Promise.all(
          [one, two].map(({ read }) => read(id, after, { apiKeyId, filter, limit: 30 })),
        )
        t.equal(held?.json, stored?.json)
        t.equal(held?.count, stored?.count)
      }
    }
  }
})

t.test('what a key sent itself is not told to it, only to others', async (t) => {
  const { credential, key, node } = await stage(t)
  const id = await credential()
  const [mine, other] = [await key(id), await key(id)]
  const { append, read } = await node([id])
  await append(id, many(1, 'theirs'))
  await append(id, many(2, 'own'), { apiKeyId: mine })
  t.same((await read(id, FIRST - 1, { apiKeyId: mine })).texts, ['theirs0'])
  t.same((await read(id, FIRST - 1, { apiKeyId: other })).texts, ['theirs0', 'own0', 'own1'])
})

t.test('an answer ends before four MiB, counted in bytes', async (t) => {
  const { credential, node } = await stage(t)
  const id = await credential()
  const one = await node([id])
  // A Persian letter takes two bytes.
  await one.append(id, many(12, 'big', { text: 'ب'.repeat(300_000) }))
  const two = await node([id])
  for (const { read } of [one, two]) {
    const { json, ids } = await read(id, FIRST - 1)
    t.same(
      ids,
      [0, 1, 2, 3, 4, 5].map((n) => FIRST + n),
    )
    t.ok(Buffer.byteLength(json) < 4_194_304)
    t.same((await read(id, FIRST + 5)).count, 6, 'and the next one goes on')
  }
  await one.append(id, [written('huge', { text: 'x'.repeat(5_000_000) })])
  t.equal((await one.read(id, FIRST + 11)).count, 1, 'one that is larger comes alone')
})

t.test('a negative offset keeps the newest that the key wants', async (t) => {
  const { credential, key, node } = await stage(t)
  const id = await credential()
  const mine = await key(id)
  const { append, read } = await node([id])
  await append(id, many(4, 'm'))
  await append(id, many(4, 'e', { kind: 'edited' }))
  await append(id, many(2, 'own'), { apiKeyId: mine })
  await append(id, many(2, 'n'))
  const newest = async (keepNewest: number, filter = onlyEdits) =>
    (await read(id, FIRST - 1, { apiKeyId: mine, filter, keepNewest })).texts
  t.same(await newest(2), ['e2', 'e3'])
  t.same(await newest(2 ** 31), ['e0', 'e1', 'e2', 'e3'])
  t.same(await newest(3, []), ['e3', 'n0', 'n1'])
  const edits = { from: FIRST + 4, kinds: 2 }
  const widened = [
    { from: 0, kinds: 2 },
    { from: FIRST + 10, kinds: 3 },
  ]
  t.same(await newest(3, widened), ['e3', 'n0', 'n1'], 'the filter of each id counts')
  t.same(await newest(5, [edits]), ['m3', 'e0', 'e1', 'e2', 'e3'])
})

t.test('a negative offset brings no more than it keeps', async (t) => {
  const { credential, node, db } = await stage(t)
  const id = await credential()
  const before = await node([id])
  await before.append(id, many(4, 'a'))
  let meanwhile = async () => {}
  const slow: Database = {
    ...db,
    async query<Row extends object>(...[statement, values]: Parameters<Database['query']>) {
      const rows = await db.query<Row>(statement, values)
      if (typeof statement !== 'string' && statement.name === 'log-oldest-kept') await meanwhile()
      return rows
    },
  }
  const { append, read, updates } = await node([id], slow)
  meanwhile = async () => void (await append(id, many(1, 'late')))
  t.same((await read(id, FIRST - 1, { keepNewest: 2 })).texts, ['a2', 'a3'])
  const poll = {
    requestId: 'r',
    askedAt: 0,
    after: FIRST - 1,
    limit: 100,
    timeoutMs: 0,
    filter: [],
  }
  const newest = updates.read(id, 0, { ...poll, keepNewest: 1 })
  t.match(newest, { count: 1, cursor: FIRST + 3 }, 'from memory at once: nothing comes in between')
})

t.test('a commit whose answer was lost is neither lost nor skipped', async (t) => {
  const { credential, node, db, stored } = await stage(t)
  const id = await credential()
  let losing = false
  const flaky: Database = {
    ...db,
    async query<Row extends object>(...[statement, values]: Parameters<Database['query']>) {
      const rows = await db.query<Row>(statement, values)
      const name = typeof statement === 'string' ? '' : statement.name
      if (losing && name.startsWith('log-append')) throw new Error('Connection terminated')
      return rows
    },
  }
  const { append, read, updates } = await node([id], flaky)
  await append(id, many(3, 'a'))
  const heard = new Promise<void>((resolve) => updates.listen(id, FIRST + 2, resolve))
  losing = true
  await t.rejects(append(id, many(20, 'b')))
  losing = false
  t.equal((await read(id, FIRST + 2)).count, 0, 'not told before it is known')
  t.equal(await append(id, many(20, 'b')), 0, 'they are there already')
  await heard
  t.equal((await read(id, FIRST + 2)).count, 20)
  await append(id, many(2, 'c'))
  const { ids, texts } = await read(id, FIRST + 2)
  t.same(
    ids,
    Array.from({ length: 22 }, (_, n) => FIRST + 3 + n),
  )
  t.same(texts.slice(-3), ['b19', 'c0', 'c1'])
  t.equal((await stored(id)).length, 25)
})

t.test('a reader who listens is called back at once and asks the table nothing', async (t) => {
  const { credential, node, db } = await stage(t)
  const id = await credential()
  let queries = 0
  const counting: Database = {
    ...db,
    query<Row extends object>(...asked: Parameters<Database['query']>) {
      queries++
      return db.query<Row>(...asked)
    },
  }
  const { append, read, updates } = await node([id], counting)
  await append(id, many(1, 'a'))
  queries = 0
  const woken: string[] = []
  const stop = updates.listen(id, FIRST, () => woken.push('caught up'))
  updates.listen(id, FIRST - 1, () => woken.push('behind'))
  await new Promise(setImmediate)
  t.same(woken, ['behind'], 'only who is behind, and on its own turn')
  t.equal((await read(id, FIRST)).count, 0)
  t.equal(queries, 0)
  await append(id, many(1, 'b'))
  t.same(woken, ['behind', 'caught up', 'behind'])
  const written = queries
  t.equal((await read(id, FIRST)).count, 1)
  t.equal(queries, written)
  stop()
  await append(id, many(1, 'c'))
  t.equal(woken.filter((who) => who === 'caught up').length, 1)
})

t.test('a log that is opened again wakes who waits for what another node wrote', async (t) => {
  const { credential, node, epoch } = await stage(t)
  const id = await credential()
  const [one, two] = [await node([id]), await node([id])]
  const heard = new Promise<void>((resolve) => one.updates.listen(id, FIRST - 1, resolve))
  await two.append(id, many(2, 'a'))
  await epoch(id, 1)
  await one.updates.open(id, 1)
  await heard
  t.equal((await one.read(id, FIRST - 1)).count, 2)
})

t.test('readers never pass over a commit, whatever the order in which commits end', async (t) => {
  const { credential, node, db } = await stage(t)
  const ids = await Promise.all(Array.from({ length: 3 }, () => credential()))
  // Nodes hand over to each other by turns, so that one's commits are open while the other reads.
  const nodes = await Promise.all([node(ids), node(ids)])
  const reader = await node(ids)
  let writing = true
  const write = async (id: number) => {
    for (let n = 0; n < 20; n++) {
      const { append, updates } = nodes[n % 2] ?? (await node(ids))
      await db.query('update credential_log set epoch = epoch + 1 where credential_id = $1', [id])
      const [row] = await db.query<{ epoch: number }>(
        'select epoch from credential_log where credential_id = $1',
        [id],
      )
      await updates.open(id, row?.epoch ?? 0)
      await append(id, many(1 + (n % 5), `${n}-`), { epoch: row?.epoch ?? 0 })
    }
  }
  const tail = async (id: number) => {
    const seen: number[] = []
    for (let last = FIRST - 1, isLast = false; ; ) {
      isLast = !writing
      const [facts] = await db.query<{ next_update_id: number }>(
        'select next_update_id from credential_log where credential_id = $1',
        [id],
      )
      // Nothing in memory: what is read is what the table shows at this moment.
      reader.updates.opened(id, 0, facts?.next_update_id ?? 0)
      const found = await reader.read(id, last, { limit: 7 })
      seen.push(...found.ids)
      last = seen.at(-1) ?? last
      if (isLast && last === reader.updates.next(id) - 1) return seen
      await pause(5)
    }
  }
  const tails = Promise.all(ids.map(tail))
  await Promise.all(ids.map(write))
  writing = false
  const expected = Array.from({ length: 60 }, (_, n) => FIRST + n)
  for (const seen of await tails) t.same(seen, expected)
})

/** The blocks of tables and indexes that a statement reads. */
interface Plan {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Readonly<Record<string, number>> }]
}

t.test('the first update since a time is found without reading the log before it', async (t) => {
  const { credential, db } = await stage(t)
  const [id, other, empty] = [await credential(), await credential(), await credential()]
  const start = Date.parse('2026-01-01T00:00:00Z')
  // Three updates of each second; the oldest ones were removed.
  for (const [credentialId, updates] of [
    [id, 30_000],
    [other, 10],
  ] as const) {
    await db.query(
      `insert into update_log (credential_id, update_id, source_key, kind, payload, at)
       select $1, $2 + n, n, 0, '"message":{}', $4::timestamptz + make_interval(secs => n / 3)
         from generate_series(5, $3::int - 1) n`,
      [credentialId, FIRST, updates, new Date(start)],
    )
  }
  await db.query('analyze update_log')
  const since = (seconds: number) => new Date(start + seconds * 1_000)
  const seconds = [-60, 0, 1, 1.5, 2, 3, 4, 777.2, 4_999, 5_000, 7_777, 9_998.5, 9_999, 9_999.5]
  for (const credentialId of [id, other, empty]) {
    for (const at of seconds) {
      const [row] = await db.query<{ update_id: number }>(
        `select update_id from update_log where credential_id = $1 and at >= $2
          order by update_id limit 1`,
        [credentialId, since(at)],
      )
      const found = await updateSince(db, credentialId, since(at))
      t.equal(found, row?.update_id, `${credentialId} since ${at} s`)
    }
  }
  t.equal(await updateSince(db, id, since(5_000)), FIRST + 15_000)
  let blocks = 0
  const explained = {
    ...db,
    async query(text: string, values: unknown[]) {
      const [row] = await db.query<Plan>(`explain (analyze, buffers, format json) ${text}`, values)
      const plan = row?.['QUERY PLAN'][0].Plan ?? {}
      blocks = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
      return []
    },
  } as unknown as Database
  await updateSince(explained, id, since(9_000))
  t.ok(blocks > 0 && blocks < 150, `${blocks} blocks`)
})
