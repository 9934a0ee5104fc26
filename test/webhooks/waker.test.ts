/** Waking keys with webhooks: once for all that comes for them, and after a rest without any reminder. */
import t from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import { WebhookWaker } from '../../src/webhooks/waker.ts'
import { ApiKeyRig } from '../actors/api-key/rig.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

const { database } = await testDatabase(t)
const [{ account } = { account: 0 }] = await database.query<{ account: number }>(
  `with owner as (
     insert into app_user (phone_index, phone_sealed, created_at) values ('', '', now()) returning id
   )
   insert into credential (user_id, platform, native_id, account)
   select id, 'sandbox', '1', '{}' from owner returning id as account`,
)
await database.query(
  'insert into credential_log (credential_id, next_update_id) values ($1, 101)',
  [account],
)

/** A key that has read everything, with a webhook that stands so. */
async function keyWith(webhook: { due?: string; suspended?: string; expires?: string }) {
  const { due = null, suspended = null, expires = null } = webhook
  const [key] = await database.query<{ id: number }>(
    `with k as (
       insert into api_key (user_id, credential_id, name, scopes, secret_hash, key_hint, cursor, expires_at)
       select user_id, id, 'k', '{}', '', '', 100, now() + $4::interval from credential
       returning id
     )
     insert into webhook (api_key_id, sealed, shown_url, max_connections, has_certificate, due_at, suspended_at)
     select id, '', '', 1, false, now() + $1::interval, now() + $2::interval from k
     where $3::int > 0 returning api_key_id as id`,
    [due, suspended, account, expires],
  )
  return key?.id ?? 0
}

t.test('whatever comes for a key that cannot be woken, it is tried once at a time', async (t) => {
  const id = await keyWith({})
  const { actor } = new ApiKeyRig(t, { apiKeyId: id, credentialId: account })
  const tries: PromiseWithResolvers<ApiKeyActor>[] = []
  let live: ApiKeyActor | undefined
  const waker = new WebhookWaker({
    db: database,
    logger: quietLogger,
    owned: new Map([[account, true]]),
    peek: () => live,
    find: () => {
      const next = Promise.withResolvers<ApiKeyActor>()
      tries.push(next)
      return next.promise
    },
  })
  t.equal(await waker.wakeBehind([account]), 0)
  const come = () => {
    for (let update = 0; update < 10; update++) waker.received(account)
  }
  come()
  t.equal(tries.length, 1)
  tries[0]?.reject(new Error('its webhook cannot be read'))
  // No longer than that: the next try is a matter of a second.
  await tries[0]?.promise.catch(() => undefined)
  come()
  t.equal(tries.length, 1, `${id} rests before the next try`)
  await until(() => tries.length > 1)
  come()
  t.equal(tries.length, 2)
  live = actor
  tries[1]?.resolve(actor)
  await tries[1]?.promise
  come()
  t.equal(tries.length, 2)
  live = undefined
  come()
  t.equal(tries.length, 3, 'once it sleeps it is woken again')
  const revoked = new ApiKeyRig(t, { apiKeyId: id, credentialId: account, revoked: true })
  tries[2]?.resolve(revoked.actor)
  await tries[2]?.promise
  come()
  t.equal(tries.length, 3, 'never one that is revoked')
  waker.stop()
})

t.test('who sleeps though its rest is over is woken, and nobody else', async (t) => {
  await database.query('delete from webhook')
  const [due, awake] = [await keyWith({ due: '-1 s' }), await keyWith({ due: '-1 s' })]
  const ahead = await keyWith({ due: '1 day' })
  await keyWith({ due: '1 h' })
  await keyWith({})
  await keyWith({ due: '-1 s', suspended: '-1 s' })
  await keyWith({ due: '-1 s', expires: '-1 s' })
  const { actor } = new ApiKeyRig(t)
  const woken: number[] = []
  const owned = new Map<number, true>()
  const waker = new WebhookWaker({
    db: database,
    logger: quietLogger,
    owned,
    peek: (id) => (id === awake ? actor : undefined),
    find: async (id) => {
      woken.push(id)
      return actor
    },
  })
  await waker.wakeDue()
  t.same(woken, [], 'the account is another node’s')
  owned.set(account, true)
  await waker.wakeDue()
  t.same(woken.toSorted(), [due, ahead], 'no rest lasts a day: its end was told by another clock')
})

t.test(
  'only keys of the claimed accounts are looked for, and only those are reminded here',
  async (t) => {
    await database.query('delete from webhook')
    const id = await keyWith({})
    const { actor } = new ApiKeyRig(t)
    const woken: number[] = []
    const waker = new WebhookWaker({
      db: database,
      logger: quietLogger,
      owned: new Map([[account, true]]),
      peek: () => undefined,
      find: async (id) => {
        woken.push(id)
        return actor
      },
    })
    await waker.wakeBehind([])
    await waker.wakeBehind([account + 1])
    t.notOk(waker.remind(id), 'another node is to be told')
    await waker.wakeBehind([account])
    t.same(woken, [], 'it is not behind')
    t.ok(waker.remind(id))
    t.same(woken, [id])
    waker.stop()
  },
)

t.test(
  'an account that is claimed while the database is away has its webhooks looked for later',
  async (t) => {
    await database.query('delete from webhook')
    const id = await keyWith({})
    const { actor } = new ApiKeyRig(t, { apiKeyId: id, credentialId: account })
    const woken: number[] = []
    let looks = 0
    const waker = new WebhookWaker({
      db: {
        ...database,
        query: <Row extends object>(...asked: Parameters<typeof database.query>) => {
          if (++looks <= 2) return Promise.reject(new Error('the database is away'))
          return database.query<Row>(...asked)
        },
      },
      logger: quietLogger,
      owned: new Map([[account, true]]),
      peek: () => undefined,
      find: async (id) => {
        woken.push(id)
        return actor
      },
    })
    await waker.claimed(account)
    waker.received(account)
    t.same(woken, [], 'nobody knows of them')
    await until(() => looks === 3)
    await until(() => {
      waker.received(account)
      return woken.length > 0
    })
    t.same(woken, [id])

    looks = 0
    await waker.claimed(account)
    waker.stop()
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, 1_500)
    await promise
    t.equal(looks, 1, 'one that is stopped looks for nothing')
  },
)
