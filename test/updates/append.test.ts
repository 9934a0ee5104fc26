/** Appending: contiguous ids, a fence, every event once, all in one commit. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { EventsUnstorable, RequestFailed } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import { openDatabase, type Queryable } from '../../src/database/database.ts'
import { Translator } from '../../src/translation/translator.ts'
import { type Batch, commit } from '../../src/updates/commit.ts'
import { PostgresUpdateLog } from '../../src/updates/log.ts'
import { whileLocked } from '../support/database.ts'
import { testFileIds } from '../support/file-ids.ts'
import { quietLogger } from '../support/logger.ts'
import { FIRST, many, stage, written } from './stage.ts'

const lockLogs = (ids: readonly number[]) => (tx: Queryable) =>
  tx.query('select from credential_log where credential_id = any($1) for update', [ids])

t.test('ids begin at the first one and go on without a gap, also after a restart', async (t) => {
  const { credential, node, stored } = await stage(t)
  const id = await credential()
  const one = await node([id])
  t.equal(await one.append(id, many(3, 'a')), 3)
  t.equal(await one.append(id, many(2, 'b')), 2)
  const two = await node([id])
  t.equal(two.updates.next(id), FIRST + 5)
  t.equal(await two.append(id, many(1, 'c')), 1)
  t.same(await stored(id), ['a0', 'a1', 'a2', 'b0', 'b1', 'c0'])
  t.same(
    (await two.read(id, FIRST - 1)).ids,
    [0, 1, 2, 3, 4, 5].map((n) => FIRST + n),
  )
})

t.test('an owner of before stores nothing and is told so', async (t) => {
  const { credential, node, stored, epoch, db } = await stage(t)
  const id = await credential()
  const before = await node([id])
  await epoch(id, 1)
  t.equal(await before.append(id, many(2, 'late'), { checkpoint: 9 }), -1)
  t.equal(await before.append(id, many(2, 'late')), -1, 'also when it reports the same again')
  t.same(await stored(id), [])
  const facts = await db.query('select checkpoint, next_update_id from credential_log')
  t.same(facts, [{ checkpoint: null, next_update_id: FIRST }])
  t.same(await db.query('select * from chat_identity'), [], 'nor the ids it gave')
  t.same(await db.query('select * from message_identity'), [], 'to messages neither')
  const after = await node([id])
  t.equal(await after.append(id, many(1, 'now'), { epoch: 1 }), 1)
  t.equal(await after.append(id, many(1, 'old'), { epoch: 0 }), -1, 'known without asking')
  t.same(await stored(id), ['now0'])
})

t.test(
  'an account that is claimed back at once keeps its log, and who waits is woken',
  async (t) => {
    const { credential, node, stored, epoch } = await stage(t)
    const id = await credential()
    const { updates, append } = await node([id])
    let woken = 0
    updates.listen(id, FIRST - 1, () => woken++)
    await epoch(id, 1)
    const other = await node([id])
    t.equal(await other.append(id, many(1, 'theirs'), { epoch: 1 }), 1)
    await epoch(id, 2)
    t.equal(woken, 0)
    updates.close(id)
    updates.opened(id, 2, FIRST + 1)
    t.equal(woken, 1, 'of what came in between')
    await setImmediate()
    t.equal(await append(id, many(1, 'mine'), { epoch: 2 }), 1)
    t.same(await stored(id), ['theirs0', 'mine0'])
  },
)

t.test('one fenced credential does not hold up the others of its group', async (t) => {
  const { credential, node, stored, epoch } = await stage(t)
  const ids = await Promise.all(Array.from({ length: 20 }, () => credential()))
  const [fenced = 0, ...others] = ids
  const { append, commits } = await node(ids)
  await epoch(fenced, 7)
  const counts = await Promise.all(ids.map((id) => append(id, many(2, 'x'))))
  t.same(counts, [-1, ...others.map(() => 2)])
  t.same(await stored(fenced), [])
  for (const id of others) t.same(await stored(id), ['x0', 'x1'])
  t.ok(commits.length < ids.length, `${commits.length} commits`)
})

t.test(
  'an account that somebody keeps locked does not hold up the others of its group',
  async (t) => {
    const { db, credential, node, stored } = await stage(t)
    const ids = await Promise.all(Array.from({ length: 5 }, () => credential()))
    const [first = 0, locked = 0, ...others] = ids
    const { append } = await node(ids)
    // While the first one waits, the others come together.
    const appendAll = () =>
      Promise.allSettled([first, ...others, locked].map((id) => append(id, many(2, 'x'))))
    const outcomes = await whileLocked(db, lockLogs([first, locked]), appendAll)
    t.same(
      outcomes.map(({ status }) => status),
      ['rejected', ...others.map(() => 'fulfilled'), 'rejected'],
    )
    for (const id of others) t.same(await stored(id), ['x0', 'x1'])
    t.equal(await append(locked, many(2, 'x')), 2, 'it goes through later')
    t.same(await stored(locked), ['x0', 'x1'])
  },
)

t.test('other accounts do not wait while one that is locked tries again', async (t) => {
  const { db, credential, node, stored } = await stage(t)
  const [locked, other] = [await credential(), await credential()]
  const { append } = await node([locked, other])
  await whileLocked(db, lockLogs([locked]), async () => {
    await t.rejects(append(locked, many(2, 'x')), RequestFailed)
    const again = append(locked, many(2, 'x')).catch((cause) => cause)
    let isOver = false
    void again.then(() => {
      isOver = true
    })
    t.equal(await append(other, many(2, 'a')), 2)
    t.equal(await append(other, many(2, 'b')), 2)
    t.notOk(isOver, 'they are stored before it fails')
    t.ok((await again) instanceof RequestFailed)
  })
  t.equal(await append(locked, many(2, 'x')), 2, 'it goes through later')
  const both = await Promise.all([append(locked, many(2, 'y')), append(other, many(2, 'c'))])
  t.same(both, [2, 2])
  t.same(await stored(locked), ['x0', 'x1', 'y0', 'y1'])
})

t.test('an event that is reported again is stored once', async (t) => {
  const { credential, node, stored } = await stage(t)
  const [id, other, third] = [await credential(), await credential(), await credential()]
  const one = await node([id, other, third])
  t.equal(await one.append(id, [written('a'), written('b'), written('a')]), 2, 'in one batch')
  t.equal(await one.append(id, [written('b'), written('c')]), 1, 'known in memory')
  const two = await node([id])
  t.equal(await two.append(id, [written('a'), written('d')]), 1, 'known after a restart')

  const third3 = await Promise.all([
    one.append(other, many(3, 'y')),
    // Another process wrote `d`: only the index knows.
    one.append(id, [written('d'), written('e')]),
    one.append(third, many(2, 'z')),
  ])
  t.same(third3, [3, 1, 2])
  t.same(await stored(id), ['a', 'b', 'c', 'd', 'e'])
  t.same(await stored(other), ['y0', 'y1', 'y2'])
  t.same(await stored(third), ['z0', 'z1'])
  const read = await one.read(id, FIRST - 1)
  t.same(read.texts, ['a', 'b', 'c', 'd', 'e'], 'and readers are given what the other wrote')
  t.same(
    read.ids,
    [0, 1, 2, 3, 4].map((n) => FIRST + n),
  )
})

t.test('so is one that came too long ago to be remembered', async (t) => {
  const { credential, node, db } = await stage(t)
  const id = await credential()
  const { append } = await node([id])
  for (let report = 0; report < 8; report++) {
    t.equal(await append(id, many(250, `a${report}.`)), 250)
  }
  t.equal(await append(id, [...many(250, 'a0.'), ...many(250, 'a7.'), written('new')]), 1)
  const [row] = await db.query('select count(*) as updates from update_log')
  t.same(row, { updates: 2_001 })
})

t.test('the checkpoint is in the commit of the events, or alone', async (t) => {
  const { credential, node, db } = await stage(t)
  const id = await credential()
  const { append } = await node([id])
  const rows = () =>
    db.query('select checkpoint, (select count(*) from update_log) as updates from credential_log')
  await append(id, many(2, 'a'), { checkpoint: 2 })
  t.same(await rows(), [{ checkpoint: 2, updates: 2 }])
  await append(id, [], { checkpoint: 3 })
  t.same(await rows(), [{ checkpoint: 3, updates: 2 }])
  await append(id, many(1, 'b'))
  t.same(await rows(), [{ checkpoint: 3, updates: 3 }])
  // What cannot be stored leaves the checkpoint where it was.
  await t.rejects(append(id, [written('nul', { text: 'x', native: '\u0000' })], { checkpoint: 4 }))
  t.same(await rows(), [{ checkpoint: 3, updates: 3 }])
})

t.test('what arrives during a commit shares the next one', async (t) => {
  const { credential, node, stored } = await stage(t)
  const ids = await Promise.all(Array.from({ length: 30 }, () => credential()))
  const { append, commits } = await node(ids)
  await Promise.all(
    ids.flatMap((id) => [
      append(id, many(2, 'a')),
      append(id, many(2, 'b')),
      append(id, many(2, 'c')),
    ]),
  )
  t.ok(commits.length < 45, `${commits.length} commits for 90 batches`)
  t.equal(
    commits.reduce((sum, updates) => sum + updates, 0),
    180,
  )
  for (const id of ids) t.same(await stored(id), ['a0', 'a1', 'b0', 'b1', 'c0', 'c1'])
})

t.test('each account of a commit keeps its ids, its order, and who caused it', async (t) => {
  const { db, credential, key } = await stage(t)
  const batches: Batch[] = []
  for (const size of [1, 3, 0, 4]) {
    const credentialId = await credential()
    const drafts = Array.from({ length: size }, (_, place) => ({
      sourceKey: `x${place}`,
      kind: 0,
      chatId: place,
      payload: '"message":{}',
    }))
    const caused = { apiKeyId: await key(credentialId), traceId: `trace of ${size}` }
    const facts = { epoch: 0, checkpoint: null, chats: [], messages: [] }
    batches.push({ credentialId, drafts, ...caused, ...facts })
  }
  await commit(db, batches)
  const rows = await db.query(
    `select credential_id as id, update_id, source_key, api_key_id, trace_id from update_log
      order by credential_id, update_id`,
  )
  const expected = batches.flatMap(({ credentialId: id, drafts, apiKeyId, traceId }) =>
    drafts.map(({ sourceKey }, place) => ({
      id,
      update_id: FIRST + place,
      source_key: sourceKey,
      api_key_id: apiKeyId,
      trace_id: traceId,
    })),
  )
  t.same(rows, expected)
})

t.test('without a database a batch is refused, and goes through later', async (t) => {
  const { credential, node, stored, url } = await stage(t)
  const id = await credential()
  const db = openDatabase({ url, logger: quietLogger })
  t.teardown(() => db.close())
  const { append, read } = await node([id], db)
  await append(id, many(1, 'before'))
  // The name of the relation is what fails: as unavailable as a server that is away, at a known moment.
  await db.query('alter table update_log rename to away')
  await t.rejects(append(id, many(2, 'a'), { checkpoint: 1 }))
  await db.query('alter table away rename to update_log')
  t.same(await stored(id), ['before0'])
  t.equal(await append(id, many(2, 'a'), { checkpoint: 1 }), 2)
  t.same((await read(id, FIRST - 1)).texts, ['before0', 'a0', 'a1'])
})

t.test('what can never be stored is told from a database that cannot store', async (t) => {
  const { credential, node, stored } = await stage(t)
  const [id, other] = [await credential(), await credential()]
  const one = await node([id, other])
  // Longer than an index takes, however well it is compressed.
  const endless = Array.from({ length: 500 }, () => crypto.randomUUID()).join()
  const untold = Object.defineProperty(written('untold'), 'message', {
    get: () => undefined,
  }) as Happening
  const beside = one.append(other, many(1, 'x'))
  await t.rejects(one.append(id, [written('a'), written(endless)]), EventsUnstorable)
  await t.rejects(one.append(id, [written('nul\0')]), EventsUnstorable)
  await t.rejects(one.append(id, [untold]), EventsUnstorable)
  t.equal(await beside, 1)
  t.equal(await one.append(id, [written('a')]), 1)
  t.same(await stored(id), ['a'])
})

t.test('each commit is told with what it stored, of whom, and how long it took', async (t) => {
  const { credential, db } = await stage(t)
  const [id, other] = [await credential(), await credential()]
  const told: unknown[] = []
  const took: number[] = []
  const observer = {
    committed(updates: number, seconds: number) {
      told.push({ updates })
      took.push(seconds)
    },
    received: (credentialId: number, updates: number) => void told.push({ credentialId, updates }),
  }
  const updates = new PostgresUpdateLog(
    db,
    new Translator(db, testFileIds, () => 'mapped'),
    observer,
  )
  await updates.open(id)
  await updates.open(other)
  const began = performance.now()
  const append = (credentialId: number, count: number) =>
    updates.append({ credentialId, epoch: 0, happenings: many(count, 'a') })
  await append(id, 1)
  await append(id, 1)
  await append(other, 2)
  t.strictSame(told, [
    { updates: 1 },
    { credentialId: id, updates: 1 },
    { updates: 2 },
    { credentialId: other, updates: 2 },
  ])
  const all = (performance.now() - began) / 1_000
  t.ok(took.every((seconds) => seconds > 0) && took.reduce((sum, one) => sum + one) < all)
})

t.test('who opens a log again as the same owner reads nothing anew', async (t) => {
  const { credential, node, epoch, db } = await stage(t)
  const id = await credential()
  let statements = 0
  const counting: typeof db = {
    ...db,
    query: (...asked) => {
      statements++
      return db.query<never>(...asked)
    },
  }
  const { updates, append } = await node([id], counting)
  await append(id, many(3, 'a'))
  const { heldBytes } = updates.load
  const before = statements
  await updates.open(id, 0)
  await updates.open(id)
  t.equal(statements, before)
  t.equal(updates.load.heldBytes, heldBytes)
  await epoch(id, 1)
  await updates.open(id, 1)
  t.equal(statements, before + 1, 'another owner does')
})

t.test('a log that is not open yet asks for patience of a second', async (t) => {
  const { credential, node } = await stage(t)
  const id = await credential()
  const { append } = await node([])
  const cause: unknown = await append(id, many(1, 'a')).catch((cause: unknown) => cause)
  t.ok(cause instanceof RequestFailed)
  t.match(cause, {
    failure: {
      code: 'unavailable',
      description: 'the credential is starting',
      reason: 'starting',
      retryAfterSeconds: 1,
    },
  })
})
