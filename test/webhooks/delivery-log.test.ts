/** The log of webhook attempts when only a part of the successes is stored. */
import t from 'tap'
import type { AttemptRecord } from '../../actors/ports/webhooks.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../../src/database/database.ts'
import { DeliveryLog, listDeliveries } from '../../src/webhooks/delivery-log.ts'
import { quietLogger } from '../support/logger.ts'
import { databaseOfUser } from './user.ts'

const place = {
  key: { userId: 1, credentialId: 10, apiKeyId: 100_001, epoch: 1 },
  url: 'https://bot.example/hook',
}

t.test('a failure and the success that ends it are always stored', async (t) => {
  const { database } = await databaseOfUser(t)
  const log = new DeliveryLog(database, quietLogger, 30, 100_000)
  const attempt = (updateId: number, more: Partial<AttemptRecord> = {}) =>
    log.add(place, {
      ...{ ok: true, at: Date.now(), updateId, attempt: 1, durationMs: 1, status: 200 },
      ...{ traceId: undefined, nextAttemptAt: undefined, error: undefined, isRepeated: false },
      ...more,
    } as AttemptRecord)
  for (let updateId = 1; updateId <= 20; updateId++) attempt(updateId)
  attempt(21, { ok: false, status: 500, error: 'Wrong response from the webhook' })
  attempt(21, { attempt: 2 })
  // It may have failed before: a resend begins its count anew.
  attempt(22, { isRepeated: true })
  await log.flush()
  const { deliveries: stored } = await listDeliveries(database, { userId: 1, limit: 50 })
  t.strictSame(
    stored.map(({ update_id, attempt, status }) => [update_id, attempt, status]).slice(0, 3),
    [
      [22, 1, 200],
      [21, 2, 200],
      [21, 1, 500],
    ],
  )
  t.ok(stored.length < 20, 'of the others next to none')
})

/** What another server may have written. */
const odd = [
  '"message":{"chat":{"id":5,"first_name":{"toString":1}},"text":["t"]}',
  '"message":{"chat":{"id":5,"title":"  ","username":"bob"},"caption":" \\n "}',
  '"message":{"chat":{"id":5,"first_name":"Ada","last_name":7},"text":" a\\nb "}',
]

t.test('an update of any form leaves the list readable', async (t) => {
  const { database } = await databaseOfUser(t)
  const log = new DeliveryLog(database, quietLogger, 30)
  await database.query(
    `do $$ begin set local session_replication_role = replica;
       insert into api_key (id, user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
       overriding system value values (100001, 1, 10, 'odd', '{}', sha256('odd'), 'odd', 0); end $$`,
    [],
  )
  for (const [index, payload] of odd.entries()) {
    await database.query(
      `insert into update_log (credential_id, update_id, source_key, kind, chat_id, payload)
       values (10, $1::int, $1::int::text, 0, 5, $2)`,
      [index + 1, payload],
    )
    log.add(place, {
      ...{ ok: false, at: Date.now(), updateId: index + 1, attempt: 1, durationMs: 1 },
      ...{ status: 500, error: 'bad', traceId: undefined, nextAttemptAt: undefined },
    } as AttemptRecord)
  }
  await log.flush()
  const { deliveries } = await listDeliveries(database, { userId: 1, limit: 50 })
  const told = deliveries.map(({ chat_name, excerpt }) => [chat_name, excerpt]).reverse()
  t.strictSame(told, [
    [null, null],
    ['bob', null],
    ['Ada', 'a b'],
  ])
})

t.test('only an attempt that came later has delivered what failed', async (t) => {
  const { database } = await databaseOfUser(t)
  const log = new DeliveryLog(database, quietLogger, 30)
  const at = Date.now()
  const attempt = (ok: boolean, time: number) =>
    log.add(place, {
      ...{ ok, at: time, updateId: 1, attempt: 1, durationMs: 1, status: ok ? 200 : 500 },
      ...(!ok && { error: 'bad' }),
    } as AttemptRecord)
  // In the same millisecond the order of the rows counts.
  for (const ok of [true, false]) {
    attempt(ok, at)
    await log.flush()
  }
  const told = async () =>
    (await listDeliveries(database, { userId: 1, limit: 9 })).deliveries.map(
      ({ error, delivered_at }) => [error, delivered_at?.getTime() ?? null],
    )
  t.strictSame(await told(), [
    ['bad', null],
    [null, null],
  ])
  attempt(true, at + 1)
  await log.flush()
  t.strictSame((await told())[1], ['bad', at + 1])
})

t.test('what could not be written is written later: the newest of it, in its order', async (t) => {
  const { database } = await databaseOfUser(t)
  let isAway = true
  const query: Database['query'] = async (statement, values) => {
    if (!isAway) return database.query(statement, values)
    add(50_002)
    throw new Error('the database is away')
  }
  const log = new DeliveryLog({ ...database, query }, quietLogger, 30)
  const add = (updateId: number) => {
    const isGood = updateId % 2 === 0
    log.add(place, {
      ...{ ok: isGood, at: Date.now(), updateId, attempt: 2, durationMs: updateId },
      ...{ status: isGood ? 200 : undefined, error: isGood ? undefined : `bad ${updateId}` },
      ...{ traceId: `trace ${updateId}`, nextAttemptAt: undefined, retryAfterMs: undefined },
      isRepeated: false,
    })
  }
  // Two more than are kept, the last of which comes while the write fails.
  for (let updateId = 1; updateId <= 50_001; updateId++) add(updateId)
  await log.flush()
  isAway = false
  await log.flush()
  const rows = await database.query<Record<string, unknown>>(
    `select update_id, status, error, trace_id, duration_ms from webhook_delivery order by id`,
  )
  t.equal(rows.length, 50_000)
  const wrong = rows.filter(({ update_id, status, error, trace_id, duration_ms }, index) => {
    const id = index + 3
    const isGood = id % 2 === 0
    const end = isGood ? status === 200 && error === null : status === null && error === `bad ${id}`
    return update_id !== id || duration_ms !== id || trace_id !== `trace ${id}` || !end
  })
  t.strictSame(wrong, [])
})

t.test('what was written before a write failed is not written again', async (t) => {
  const { database } = await databaseOfUser(t)
  let written = 0
  const query: Database['query'] = async (statement, values) => {
    if (typeof statement !== 'string' && ++written === 3) throw new Error('the database is away')
    return database.query(statement, values)
  }
  const log = new DeliveryLog({ ...database, query }, quietLogger, 30)
  for (let updateId = 1; updateId <= 5_000; updateId++) {
    log.add(place, {
      ...{ ok: true, at: Date.now(), updateId, attempt: 1, durationMs: 1, status: 200 },
      ...{ traceId: undefined, nextAttemptAt: undefined, error: undefined },
      ...{ retryAfterMs: undefined, isRepeated: false },
    })
  }
  const ids = async () => {
    const rows = await database.query<{ update_id: number }>(
      'select update_id from webhook_delivery order by id',
    )
    return rows.map(({ update_id }) => update_id)
  }
  await log.flush()
  t.equal((await ids()).length, 4_000)
  await log.flush()
  const all = await ids()
  t.equal(all.length, 5_000)
  t.ok(all.every((id, index) => id === index + 1))
})

t.test('what a write that failed has stored all the same is listed once', async (t) => {
  const { database } = await databaseOfUser(t)
  let isCut = true
  const query: Database['query'] = async (statement, values) => {
    const rows = await database.query(statement, values)
    if (typeof statement === 'string' || !isCut) return rows as never
    isCut = false
    throw failed('unavailable', 'the connection broke', { certain: false })
  }
  const log = new DeliveryLog({ ...database, query }, quietLogger, 30)
  const add = (updateId: number, attempt: number) =>
    log.add(place, {
      ...{ ok: false, at: Date.now(), updateId, attempt, durationMs: 1, status: 500 },
      ...{ traceId: undefined, nextAttemptAt: undefined, error: 'bad' },
      ...{ retryAfterMs: undefined, isRepeated: false },
    })
  for (const updateId of [1, 2]) add(updateId, 1)
  await log.flush()
  add(1, 2)
  await log.flush()
  add(2, 2)
  await log.flush()
  const rows = await database.query<{ update_id: number; attempt: number }>(
    'select update_id, attempt from webhook_delivery order by id',
  )
  t.same(
    rows.map(({ update_id, attempt }) => [update_id, attempt]),
    [
      [1, 1],
      [2, 1],
      [1, 2],
      [2, 2],
    ],
  )
})

t.test(
  'an attempt that a failed write has kept is not stored after its user is erased',
  async (t) => {
    const { database } = await databaseOfUser(t)
    const log = new DeliveryLog(database, quietLogger, 30)
    const attempt = {
      ok: true,
      at: Date.now(),
      updateId: 1,
      attempt: 1,
      durationMs: 1,
      status: 200,
    }
    const rest = {
      traceId: undefined,
      nextAttemptAt: undefined,
      error: undefined,
      isRepeated: false,
    }
    const stored = async () => {
      log.add(place, { ...attempt, ...rest } as AttemptRecord)
      await log.flush()
      return (await database.query('select from webhook_delivery')).length
    }
    t.equal(await stored(), 1)
    await database.query('update app_user set erasing_at = now()')
    t.equal(await stored(), 1)
    await database.query('delete from app_user')
    t.equal(await stored(), 1)
  },
)
