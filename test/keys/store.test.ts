/** What keys have read and want is written a moment late; who is told that it is stored can rely on it. */
import t from 'tap'
import { DEFAULT_KINDS } from '../../machines/model/update-kinds.ts'
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
  store.saveCursor(owned(apiKeyId), FIRST + 4, undefined)
  await store.stored(apiKeyId)
  t.same(await rowOf(apiKeyId), { cursor: FIRST + 4, filter: [] })
  store.saveCursor(owned(apiKeyId), FIRST + 4, FILTER)
  await store.stored(apiKeyId)
  t.same(await rowOf(apiKeyId), { cursor: FIRST + 4, filter: FILTER })

  isAway = true
  store.saveCursor(owned(apiKeyId), FIRST + 5, [{ from: FIRST, kinds: DEFAULT_KINDS }])
  const refusal = await store.stored(apiKeyId).catch((cause) => cause)
  t.match(refusal, { failure: { code: 'unavailable' } })
  await store.stored(other)
  t.same(await rowOf(apiKeyId), { cursor: FIRST + 4, filter: FILTER })
  let cursor = FIRST + 5
  readsOn = () => store.saveCursor(owned(apiKeyId), ++cursor, undefined)
  const readOn = await store.stored(apiKeyId).catch((cause) => cause)
  t.match(readOn, { failure: { code: 'unavailable' } }, 'a newer position is none that is stored')
  readsOn = () => undefined
  store.saveCursor(owned(apiKeyId), cursor, undefined)
  isAway = false
  await store.stored(apiKeyId)
  t.match(await rowOf(apiKeyId), { cursor, filter: [{ kinds: DEFAULT_KINDS }] })
})
