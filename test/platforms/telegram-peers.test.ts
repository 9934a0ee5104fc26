/** Whom a Telegram account has seen is written beside other sessions of it, and known meanwhile. */
import { Long } from '@mtcute/core'
import t, { type Test } from 'tap'
import type { Queryable } from '../../src/database/database.ts'
import {
  forgetAccount,
  locationWrites,
  MessageLocations,
} from '../../src/platforms/telegram/storage/locations.ts'
import { PostgresPeers, peerWrites } from '../../src/platforms/telegram/storage/peers.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

async function account(t: Test) {
  const { database: db } = await testDatabase(t)
  const [row] = await db.query<{ id: number }>(
    `with owner as (
       insert into app_user (phone_index, phone_sealed) values ('\\x01', '') returning id)
     insert into credential (user_id, platform, native_id, account)
     select id, 'telegram', '1', '{}' from owner returning id`,
  )
  return { db, credentialId: row?.id ?? 0 }
}

async function anotherAccount(db: Queryable, native = '2'): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    `insert into credential (user_id, platform, native_id, account)
     select user_id, 'telegram', $1, '{}' from credential limit 1 returning id`,
    [native],
  )
  return row?.id ?? 0
}

class CountingQueries implements Queryable {
  count = 0
  readonly #db: Queryable

  constructor(db: Queryable) {
    this.#db = db
  }

  query<Row extends object>(...asked: Parameters<Queryable['query']>): Promise<Row[]> {
    this.count++
    return this.#db.query<Row>(...asked)
  }
}

const peer = (id: number, version: number, isMin = false) => ({
  id,
  accessHash: Long.fromNumber(version === 1 ? id : id + version).toString(),
  isMin,
  usernames: [],
  updated: 0,
  complete: Buffer.from(`${id} ${version}`),
})

t.test('who is seen again is written again, unless less is known then', async (t) => {
  const { db, credentialId } = await account(t)
  const other = await anotherAccount(db)
  const bystander = new PostgresPeers(db, { credentialId: other, epoch: 0 })
  await bystander.peers.store(peer(7, 9))
  await bystander.flush()
  const known = async (id = credentialId) => {
    const found = await new PostgresPeers(db, { credentialId: id, epoch: 0 }).peers.getById(7)
    return found && [`${found.complete}`, found.accessHash, found.isMin]
  }
  const see = async (...seen: Parameters<typeof peer>) => {
    const written = new PostgresPeers(db, { credentialId, epoch: 0 })
    await written.peers.store(peer(...seen))
    await written.flush()
    return known()
  }
  t.same(await see(7, 1, true), ['7 1', '7', true], 'little is known at first')
  t.same(await see(7, 2, true), ['7 2', '9', true], 'a little more')
  t.same(await see(7, 3), ['7 3', '10', false], 'all of it')
  t.same(await see(7, 4), ['7 4', '11', false], 'all of it anew')
  t.same(await see(7, 5, true), ['7 4', '11', false], 'less than that changes nothing')
  t.same(await known(other), ['7 9', '16', false], 'of another account nothing')
})

t.test('people of several accounts are stored together, and only read once they are', async (t) => {
  const { db, credentialId } = await account(t)
  const counting = new CountingQueries(db)
  const writes = peerWrites(counting)
  const meet = async (credentialIds: readonly number[], version: number) => {
    const flushed = credentialIds.map(async (id) => {
      const session = new PostgresPeers(counting, { credentialId: id, epoch: 0 }, writes)
      await session.peers.store(peer(id, version))
      await session.flush()
    })
    await Promise.all(flushed)
  }
  const all = [credentialId, await anotherAccount(db), await anotherAccount(db, '3')]
  await meet(all, 1)
  t.equal(counting.count, 2, 'those that come during a write share the next one')
  await meet(all, 1)
  const rows = () =>
    db.query('select id, xmax::text as locked, complete from telegram_peer order by id')
  const stored = all.map((id) => ({ id, locked: '0', complete: Buffer.from(`${id} 1`) }))
  t.same(await rows(), stored, 'none was locked')
  // Two sessions of one account, as the end of one and the beginning of the next, cannot share a statement.
  await meet([credentialId, ...all, credentialId], 2)
  const [first] = await db.query('select id, complete from telegram_peer order by id')
  t.same(first, { id: credentialId, complete: Buffer.from(`${credentialId} 2`) })
})

t.test('accounts that know many people store them in several statements', async (t) => {
  const { db, credentialId } = await account(t)
  const sizes: number[] = []
  const counting: Queryable = {
    query: (statement, values) => {
      sizes.push(`${values?.[2]}`.split(',').length)
      return db.query(statement, values)
    },
  }
  const writes = peerWrites(counting)
  const known = [credentialId, await anotherAccount(db), await anotherAccount(db, '3')]
  const flushed = known.map(async (id) => {
    const session = new PostgresPeers(counting, { credentialId: id, epoch: 0 }, writes)
    for (let one = 1; one <= 1_500; one++) await session.peers.store(peer(one, 1))
    await session.flush()
  })
  await Promise.all(flushed)
  t.same(sizes, [1_500, 2_000, 1_000])
  const rows = await db.query('select count(*)::int as peers from telegram_peer')
  t.same(rows, [{ peers: 4_500 }])
})

const ids = Array.from({ length: 300 }, (_, place) => place + 1)

t.test('sessions that write the same people do not wait for each other for ever', async (t) => {
  const { db, credentialId } = await account(t)
  const sessions = [ids, ids.toReversed()].map((order) => ({
    order,
    written: new PostgresPeers(db, { credentialId, epoch: 0 }),
  }))
  for (let version = 0; version < 15; version++) {
    for (const [place, { order, written }] of sessions.entries()) {
      for (const id of order) {
        await written.peers.store(peer(id, 2 * version + place))
        await written.refMessages.store(id, -id, version)
      }
    }
    await Promise.all(sessions.flatMap(({ written }) => [written.flush(), written.flush()]))
  }
  const [{ count } = { count: 0 }] = await db.query<{ count: number }>(
    'select count(*)::int as count from telegram_peer',
  )
  t.equal(count, ids.length)
})

t.test('who is being written is known, and is written again if that fails', async (t) => {
  const { db, credentialId } = await account(t)
  const failing = { isDown: true }
  const flaky = {
    query: (...given: Parameters<Queryable['query']>) =>
      failing.isDown ? Promise.reject(new Error('away')) : db.query(...given),
  } as Queryable
  const written = new PostgresPeers(flaky, { credentialId, epoch: 0 })
  await written.peers.store(peer(7, 1))
  const writing = written.flush()
  t.match(await written.peers.getById(7), { id: 7 })
  await t.rejects(writing, { message: 'away' })
  failing.isDown = false
  await written.flush()
  const later = new PostgresPeers(db, { credentialId, epoch: 0 })
  t.match(await later.peers.getById(7), { id: 7, complete: Buffer.from('7 1') })
})

t.test(
  'a session whose account another node has claimed remembers and forgets nothing',
  async (t) => {
    const { db, credentialId } = await account(t)
    const before = new PostgresPeers(db, { credentialId, epoch: 0 })
    await before.peers.store(peer(1, 1))
    await before.refMessages.store(1, -1, 1)
    await before.flush()
    await db.query('update credential set epoch = 1')
    await before.peers.store(peer(1, 2))
    await before.peers.store(peer(2, 2))
    await before.refMessages.store(1, -1, 2)
    await before.flush()
    const parts = { db, locationWrites: locationWrites(db, quietLogger), unnoted: () => t.fail() }
    await new MessageLocations({ credentialId, epoch: 0 }, parts).remember([
      { message: 1, chat: 1 },
    ])
    await forgetAccount(db, { credentialId, epoch: 0 })
    const now = new PostgresPeers(db, { credentialId, epoch: 1 })
    t.same((await now.peers.getById(1))?.complete, Buffer.from('1 1'))
    t.equal(await now.peers.getById(2), null)
    t.same(await now.refMessages.getByPeer(1), [-1, 1])
    t.same(await db.query('select from telegram_message'), [])
  },
)

t.test(
  'an account that is linked anew keeps the people it knows, a deleted one does not',
  async (t) => {
    const { db, credentialId } = await account(t)
    const peers = new PostgresPeers(db, { credentialId, epoch: 0 })
    await peers.peers.store(peer(1, 1))
    await peers.flush()
    const known = () => new PostgresPeers(db, { credentialId, epoch: 0 }).peers.getById(1)
    await forgetAccount(db, { credentialId, epoch: 0 })
    t.match(await known(), { id: 1 })
    await db.query('update credential set deleting_at = now()')
    await forgetAccount(db, { credentialId, epoch: 0 })
    t.equal(await known(), null)
  },
)

t.test('places of several accounts are stored together, each for itself', async (t) => {
  const { db, credentialId } = await account(t)
  const counting = new CountingQueries(db)
  const defects: unknown[] = []
  const unnoted = (cause: unknown) => defects.push(cause)
  const parts = { db, locationWrites: locationWrites(counting, quietLogger), unnoted }
  const own = new MessageLocations({ credentialId, epoch: 0 }, parts)
  const former = new MessageLocations({ credentialId, epoch: -1 }, parts)
  const first = own.store([{ message: 1, chat: 5 }])
  const others = [2, 3, 4].map((message) => own.store([{ message, chat: 5 }]))
  await Promise.all([first, ...others, former.store([{ message: 9, chat: 5 }])])
  t.equal(counting.count, 1, 'those that came in one turn share a statement')
  t.same(
    await own.find([1, 2, 3, 4, 9]),
    [1, 2, 3, 4].map((message) => ({ message, chat: 5 })),
  )
  await Promise.all([6, 2 ** 40, 7].map((message) => own.store([{ message, chat: 5 }])))
  t.same((await own.find([6, 7])).length, 2)
  t.equal(defects.length, 1, 'what cannot be stored hinders nothing else')
  const before = counting.count
  for (const message of [11, 2 ** 40, 12]) own.note([{ message, chat: 5 }])
  former.note([{ message: 13, chat: 5 }])
  t.equal(counting.count, before, 'nobody waits for those that were noted')
  t.same((await own.find([11, 12, 13])).length, 2, 'whoever asks for them finds them')
})

t.test('places that were kept while the database was away are written before an end', async (t) => {
  const { db, credentialId } = await account(t)
  let isAway = true
  const flaky: Queryable = {
    query: (...asked) => (isAway ? Promise.reject(new Error('away')) : db.query(...asked)),
  }
  const parts = { db, locationWrites: locationWrites(flaky, quietLogger), unnoted: () => t.fail() }
  const own = new MessageLocations({ credentialId, epoch: 0 }, parts)
  own.note([{ message: 1, chat: 5 }])
  await own.written()
  isAway = false
  await own.written()
  t.equal((await db.query('select from telegram_message')).length, 1)
})

t.test('a locked row of an account keeps no places of another waiting', async (t) => {
  const { db, credentialId } = await account(t)
  const locked = await anotherAccount(db)
  const parts = { db, locationWrites: locationWrites(db, quietLogger), unnoted: () => t.fail() }
  const place = { message: 1, chat: 5 }
  const waiting = new MessageLocations({ credentialId: locked, epoch: 0 }, parts)
  const free = new MessageLocations({ credentialId, epoch: 0 }, parts)
  await db.transaction(async (tx) => {
    const insertion =
      'insert into telegram_message (credential_id, message_id, chat_id) values ($1, 1, 5)'
    await tx.query(insertion, [locked])
    waiting.note([place])
    free.note([place])
    const kept = () =>
      db.query('select from telegram_message where credential_id = $1', [credentialId])
    await until(async () => {
      // A transaction may be idle for three seconds.
      await tx.query('select 1')
      return (await kept()).length === 1
    })
  })
  await waiting.written()
  t.same(await waiting.find([1]), [place])
})
