/** What keys have read and want is written a moment late; who is told that it is stored can rely on it. */
import t from 'tap'
import { DEFAULT_KINDS } from '../../machines/model/update-kinds.ts'
import type { WebhookFacts } from '../../machines/webhook/terms.ts'
import type { Database } from '../../src/database/database.ts'
import { PostgresKeyStore } from '../../src/keys/store.ts'
import { quietLogger } from '../support/logger.ts'
import { FIRST, stage } from '../updates/stage.ts'

const FILTER = [{ from: FIRST, kinds: 1 }]

t.test('what was saved is stored once its caller is told so', async (t) => {
  const { db, credential, key: newKey } = await stage(t)
  const credentialId = await credential()
  const [apiKeyId, other] = [await newKey(credentialId), await newKey(credentialId)]
  let isAway = false
  let readsOn = () => {}
  const between: Database = {
    ...db,
    query(...asked) {
      if (!isAway) return db.query(...asked)
      readsOn()
      return Promise.reject(new Error('away'))
    },
  }
  const store = new PostgresKeyStore(between, quietLogger)
  t.teardown(() => store.flush())
  const owned = (id: number) => ({ apiKeyId: id, credentialId, epoch: 0 })
  const rowOf = async (id: number) =>
    (await db.query('select cursor, filter from api_key where id = $1', [id]))[0]

  await store.stored(apiKeyId)
  store.saveCursor(owned(apiKeyId), { cursor: FIRST + 4 })
  await store.stored(apiKeyId)
  t.same(await rowOf(apiKeyId), { cursor: FIRST + 4, filter: [] })
  store.saveCursor(owned(apiKeyId), { cursor: FIRST + 4, changedFilter: FILTER })
  await store.stored(apiKeyId)
  t.same(await rowOf(apiKeyId), { cursor: FIRST + 4, filter: FILTER })

  isAway = true
  store.saveCursor(owned(apiKeyId), {
    cursor: FIRST + 5,
    changedFilter: [{ from: FIRST, kinds: DEFAULT_KINDS }],
  })
  const refusal = await store.stored(apiKeyId).catch((cause) => cause)
  t.match(refusal, { failure: { code: 'unavailable' } })
  await store.stored(other)
  t.same(await rowOf(apiKeyId), { cursor: FIRST + 4, filter: FILTER })
  let cursor = FIRST + 5
  readsOn = () => store.saveCursor(owned(apiKeyId), { cursor: ++cursor })
  const readOn = await store.stored(apiKeyId).catch((cause) => cause)
  t.match(readOn, { failure: { code: 'unavailable' } }, 'a newer position is none that is stored')
  readsOn = () => undefined
  store.saveCursor(owned(apiKeyId), { cursor })
  isAway = false
  await store.stored(apiKeyId)
  t.match(await rowOf(apiKeyId), { cursor, filter: [{ kinds: DEFAULT_KINDS }] })
})

t.test('a key polls if it was saved with a poll, and not by any other position', async (t) => {
  const { db, credential, key: newKey } = await stage(t)
  const credentialId = await credential()
  const apiKeyId = await newKey(credentialId)
  const store = new PostgresKeyStore(db, quietLogger)
  t.teardown(() => store.flush())
  const owned = { apiKeyId, credentialId, epoch: 0 }
  const polledAt = async () => {
    await store.stored(apiKeyId)
    const [row] = await db.query<{ polled_at: Date | null }>(
      'select polled_at from api_key where id = $1',
      [apiKeyId],
    )
    return row?.polled_at
  }
  store.saveCursor(owned, { cursor: FIRST + 4, changedFilter: FILTER })
  t.equal(await polledAt(), null)
  const at = Date.now()
  store.saveCursor(owned, { cursor: FIRST + 4, polledAt: at })
  t.same(await polledAt(), new Date(at))
  store.saveCursor(owned, { cursor: FIRST + 5 })
  t.same(await polledAt(), new Date(at), 'another actor of the key has not polled')
})

t.test('what an earlier actor of the key writes late takes nothing back', async (t) => {
  const { db, credential, key: newKey } = await stage(t)
  const credentialId = await credential()
  const apiKeyId = await newKey(credentialId)
  const now = Date.now()
  for (const [cursor, polledAt] of [[FIRST + 5, now] as const, [FIRST + 4, now - 1] as const]) {
    const store = new PostgresKeyStore(db, quietLogger)
    t.teardown(() => store.flush())
    store.saveCursor({ apiKeyId, credentialId, epoch: 0 }, { cursor, polledAt })
    await store.stored(apiKeyId)
    const [row] = await db.query('select cursor, polled_at from api_key where id = $1', [apiKeyId])
    t.same(row, { cursor: FIRST + 5, polled_at: new Date(now) })
  }
})

t.test('of a position from before the last claim only the cursor counts', async (t) => {
  const { db, credential, epoch, key: newKey } = await stage(t)
  const credentialId = await credential()
  const apiKeyId = await newKey(credentialId, FIRST + 3)
  let isAway = true
  const away: Database = {
    ...db,
    query: (statement, values) =>
      isAway && typeof statement === 'object' && statement.name === 'key-cursors'
        ? Promise.reject(new Error('away'))
        : db.query(statement, values),
  }
  const store = new PostgresKeyStore(away, quietLogger)
  t.teardown(() => store.flush())
  store.saveCursor(
    { apiKeyId, credentialId, epoch: 0 },
    { cursor: FIRST + 5, changedFilter: FILTER },
  )
  t.match(await store.load(apiKeyId), { epoch: 0, cursor: FIRST + 5, filter: FILTER })

  const filter = [{ from: FIRST, kinds: 2 }]
  await epoch(credentialId, 1)
  await db.query('update api_key set filter = $2 where id = $1', [apiKeyId, JSON.stringify(filter)])
  t.match(await store.load(apiKeyId), { epoch: 1, cursor: FIRST + 5, filter })
  await db.query('update api_key set cursor = $2 where id = $1', [apiKeyId, FIRST + 7])
  t.match(await store.load(apiKeyId), { cursor: FIRST + 7 }, 'the next owner has read on')

  store.saveCursor({ apiKeyId, credentialId, epoch: 1 }, { cursor: FIRST + 8 })
  isAway = false
  await store.stored(apiKeyId)
  t.match(await store.load(apiKeyId), { cursor: FIRST + 8, filter })
})

t.test('what a webhook has acknowledged in the table counts beside a late position', async (t) => {
  const { db, credential, key: newKey } = await stage(t)
  const credentialId = await credential()
  const apiKeyId = await newKey(credentialId, FIRST + 3)
  const store = new PostgresKeyStore(db, quietLogger, async () => ({}) as WebhookFacts)
  t.teardown(() => store.flush())
  store.saveCursor({ apiKeyId, credentialId, epoch: 0 }, { cursor: FIRST + 1 })
  t.match(await store.load(apiKeyId), { cursor: FIRST + 3 })
})
