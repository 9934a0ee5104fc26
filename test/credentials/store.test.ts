/** The row of a credential: taken over from a node that still writes, and kept empty once it was wiped. */
import t, { type Test } from 'tap'
import { failed, OwnershipLost, SecretsUnreadable } from '../../machines/model/failure.ts'
import { isKept } from '../../src/credentials/fence.ts'
import { HealthBuffer } from '../../src/credentials/health.ts'
import { PostgresCredentialStore } from '../../src/credentials/store.ts'
import { TimelineBuffer } from '../../src/credentials/timeline.ts'
import type { Database, Queryable } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { whileLocked } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

async function storeOn(t: Test, db: Database) {
  return (await storesOn(t, db))(1)
}

const storesOn = async (t: Test, db: Database) => storesWith(db, await testVault(t, db))

/** Makes the stores of several nodes, each by its incarnation. */
const storesWith =
  (db: Database, vault: Awaited<ReturnType<typeof testVault>>) => (incarnation: number) =>
    new PostgresCredentialStore({
      db,
      vault,
      node: { name: 'here', incarnation: () => incarnation },
      timeline: new TimelineBuffer(db, 'here', quietLogger),
      health: new HealthBuffer(db, quietLogger),
      keysRevoked: async () => undefined,
    })

t.test('a claim and a commit that wait for each other both go through', async (t) => {
  const { db, credential } = await stage(t)
  const [first, second] = [await credential(), await credential()]
  const store = await storeOn(t, db)
  const write =
    'update credential_log set next_update_id = next_update_id + 1 where credential_id = $1'
  const isWaiting = async () => {
    const locks = await db.query(
      `select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%epoch + 1%'`,
    )
    return locks.length > 0
  }
  let claiming: ReturnType<typeof store.claimAll> | undefined
  const writing = db.transaction(async (tx) => {
    await tx.query(write, [second])
    claiming = store.claimAll([first, second])
    claiming.catch(() => undefined)
    await until(isWaiting)
    await tx.query(write, [first])
  })
  // The server chooses whom it rolls back; the claim goes through all the same.
  await writing.catch(() => undefined)
  t.match(await claiming, [
    { credentialId: first, epoch: 1 },
    { credentialId: second, epoch: 1 },
  ])
})

t.test('secrets that were wiped stay wiped', async (t) => {
  const { db, credential } = await stage(t)
  const store = await storeOn(t, db)
  const id = await credential()
  await db.query(`update credential set secrets = 'linked' where id = $1`, [id])
  const owned = { credentialId: id, epoch: 0 }
  await store.saveSecrets(owned, 0, 'moved on')
  t.equal((await store.account(id)).secrets, 'moved on')
  await store.deactivate(owned, false)
  await store.saveSecrets(owned, 0, 'too late')
  t.same(await db.query('select secrets from credential where id = $1', [id]), [{ secrets: null }])
})

t.test('secrets of many accounts share a statement, and each is fenced by itself', async (t) => {
  const { db, credential } = await stage(t)
  let writes = 0
  const query: typeof db.query = (statement, values) => {
    if (JSON.stringify(statement).includes('set secrets')) writes++
    return db.query(statement, values)
  }
  const store = await storeOn(t, { ...db, query })
  const ids = await Promise.all(Array.from({ length: 8 }, credential))
  await db.query(`update credential set secrets = 'linked'`)
  const save = (credentialId: number, secrets: string, epoch = 0, link = 0) =>
    store.saveSecrets({ credentialId, epoch }, link, secrets)
  // Each account gets the key that its secrets are sealed with.
  for (const id of ids) await save(id, 'first')
  writes = 0
  const [first = 0, lost = 0, relinked = 0, ...others] = ids
  await db.query('update credential set epoch = 1 where id = $1', [lost])
  await db.query('update credential set links = 1 where id = $1', [relinked])
  const saved = await Promise.allSettled([
    ...others.map((id) => save(id, 'second')),
    save(first, 'second'),
    save(first, 'third'),
    save(lost, 'second'),
    save(relinked, 'second'),
    save(relinked, 'of the new link', 0, 1),
    save(relinked, 'late'),
  ])
  t.strictSame(
    saved.map(({ status }) => status),
    [...others, first, first]
      .map(() => 'fulfilled')
      .concat('rejected', ...Array(3).fill('fulfilled')),
  )
  t.ok(writes <= 3, `${writes} statements`)
  const stored = await Promise.all(ids.map(async (id) => (await store.account(id)).secrets))
  t.strictSame(stored, ['third', 'first', 'of the new link', ...others.map(() => 'second')])
})

t.test('an account is unreadable for good only if its secrets are', async (t) => {
  const { db, credential } = await stage(t)
  const id = await credential()
  const away = failed('unavailable', 'the database does not answer')
  let isAway = false
  const query: typeof db.query = (...asked) =>
    isAway && String(asked[0]).includes('data_key') ? Promise.reject(away) : db.query(...asked)
  const vault = await testVault(t, { ...db, query })
  const store = storesWith(db, vault)(1)
  await db.query(`update credential set secrets = 'linked' where id = $1`, [id])
  await store.saveSecrets({ credentialId: id, epoch: 0 }, 0, 'here')
  vault.forget(`credential:${id}`)
  isAway = true
  t.equal(await store.account(id).catch((cause) => cause), away)
  isAway = false
  t.match(await store.account(id), { secrets: 'here' })
  const changed = 'set_byte(secrets, 40, 255 - get_byte(secrets, 40))'
  await db.query(`update credential set secrets = ${changed} where id = $1`, [id])
  await t.rejects(store.account(id), SecretsUnreadable)
})

/** Adds the row of a node; resolves with its incarnation. */
async function nodeOn(db: Database, name: string): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    `insert into node (name, version, schema, state) values ($1, 'test', 'test', 'up') returning id`,
    [name],
  )
  return row?.id ?? 0
}

t.test(
  'what a living node owns is not claimed by another; what a gone one leaves is',
  async (t) => {
    const { db, credential } = await stage(t)
    const [first, second] = [await credential(), await credential()]
    const [one, other] = [await nodeOn(db, 'one'), await nodeOn(db, 'other')]
    const storeOf = await storesOn(t, db)
    const [mine, theirs] = [storeOf(one), storeOf(other)]
    const claimed = await mine.claim(first)
    t.match(claimed, { credentialId: first, epoch: 1 })
    await t.rejects(theirs.claim(first), new OwnershipLost())
    t.same(await theirs.unowned(0, 10), [second])
    t.match(await theirs.claimAll([first, second]), [{ credentialId: second }])
    t.same(await theirs.claimAll([second]), [], 'what is claimed already keeps its epoch')
    t.same(await theirs.fenced([{ credentialId: first, epoch: 1 }]), [], 'the epoch has not moved')
    await db.query(`update node set state = 'gone', ended_at = now() where id = $1`, [one])
    t.same(await theirs.unowned(0, 10), [first])
    t.match(await theirs.claim(first), { credentialId: first, epoch: 2 })
    t.equal(await theirs.claim(99), undefined, 'what is not there belongs to nobody')
  },
)

t.test('the owner may claim again, and an owner whose row is removed has ended', async (t) => {
  const { db, credential } = await stage(t)
  const id = await credential()
  const [one, other] = [await nodeOn(db, 'one'), await nodeOn(db, 'other')]
  const storeOf = await storesOn(t, db)
  const [mine, theirs] = [storeOf(one), storeOf(other)]
  t.match(await mine.claim(id), { epoch: 1 })
  t.match(await mine.claim(id), { epoch: 2 })
  await db.query('delete from node where id = $1', [one])
  t.match(await theirs.claim(id), { epoch: 3 })
})

t.test('what is given away is fenced before another node claims it', async (t) => {
  const { db, credential, node } = await stage(t)
  const id = await credential()
  const store = await storeOn(t, db)
  const owned = { credentialId: id, epoch: (await store.claim(id))?.epoch ?? 0 }
  const { append } = await node([id])
  t.same(
    await store.release([{ ...owned, epoch: owned.epoch - 1 }]),
    [],
    'nothing by an owner before',
  )
  t.same(await store.release([owned]), [id])
  t.same(await store.fenced([owned]), [{ ...owned, signsOut: false }])
  t.equal(await append(id, [], { epoch: owned.epoch, checkpoint: 9 }), -1)
  await t.rejects(store.saveSecrets(owned, 0, 'late'), new OwnershipLost())
  t.same(await store.release([owned]), [], 'given away once')
})

t.test('a node that was declared gone and does not know it claims nothing', async (t) => {
  const { db, credential } = await stage(t)
  const id = await credential()
  const [one, other] = [await nodeOn(db, 'one'), await nodeOn(db, 'other')]
  const storeOf = await storesOn(t, db)
  const [mine, theirs] = [storeOf(one), storeOf(other)]
  await mine.claim(id)
  await db.query(`update node set state = 'gone', ended_at = now() where id = $1`, [one])
  t.same(await mine.unowned(0, 10), [])
  t.same(await mine.claimAll([id]), [])
  await t.rejects(mine.claim(id), new OwnershipLost())
  t.match(await theirs.claim(id), { epoch: 2 })
})

t.test('an account whose owner ends during a claim is there all the same', async (t) => {
  const { db, credential } = await stage(t)
  const id = await credential()
  const [one, other] = [await nodeOn(db, 'one'), await nodeOn(db, 'other')]
  const vault = await testVault(t, db)
  await storesWith(db, vault)(one).claim(id)
  const query: Database['query'] = async (statement, values) => {
    // After the last try to claim it.
    const isLook = statement === isKept
    if (isLook) {
      await db.query(`update node set state = 'gone', ended_at = now() where id = $1`, [one])
    }
    return db.query<never>(statement, values)
  }
  await t.rejects(storesWith({ ...db, query }, vault)(other).claim(id), new OwnershipLost())
})

t.test('a free account whose row somebody keeps locked belongs to nobody else', async (t) => {
  const { db, credential } = await stage(t)
  const [id, owned] = [await credential(), await credential()]
  const [one, other] = [await nodeOn(db, 'one'), await nodeOn(db, 'other')]
  const storeOf = await storesOn(t, db)
  const [mine, theirs] = [storeOf(one), storeOf(other)]
  await theirs.claim(owned)
  const lock = (tx: Queryable) => tx.query('select from credential_log for update')
  const claim = (credentialId: number) => mine.claim(credentialId).catch((it) => it)
  const claims = () => Promise.all([claim(id), claim(owned)])
  const [free, foreign] = await whileLocked(db, lock, claims)
  const description = 'something else has locked the rows of the account'
  t.same(free.failure, { code: 'unavailable', description, retryAfterSeconds: 1 })
  t.same(foreign, new OwnershipLost())
  t.match(await mine.claim(id), { credentialId: id, epoch: 1 })
})

t.test('of three that claim a free credential at the same time, one has it', async (t) => {
  const { db, credential } = await stage(t)
  const storeOf = await storesOn(t, db)
  const incarnations = await Promise.all(['one', 'other', 'third'].map((name) => nodeOn(db, name)))
  const stores = incarnations.map(storeOf)
  for (let round = 0; round < 10; round++) {
    const id = await credential()
    const outcomes = await Promise.allSettled(stores.map((store) => store.claim(id)))
    const winners = outcomes.filter(({ status }) => status === 'fulfilled')
    t.equal(winners.length, 1)
  }
})
