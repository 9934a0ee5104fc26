/** Rooms of XMPP accounts in PostgreSQL: sealed, fenced, and gone with the account. */
import t, { type Test } from 'tap'
import { OwnershipLost } from '../../machines/model/failure.ts'
import { PostgresRooms, retainRooms } from '../../src/platforms/xmpp/rooms/kept.ts'
import { testVault } from '../support/vault.ts'
import { stage } from '../updates/stage.ts'

async function rooms(t: Test) {
  const { db, credential } = await stage(t)
  const credentialId = await credential()
  const claim = async () => {
    const [row] = await db.query<{ epoch: number }>(
      'update credential set epoch = epoch + 1 where id = $1 returning epoch',
      [credentialId],
    )
    return { credentialId, epoch: row!.epoch }
  }
  const store = new PostgresRooms({ db, vault: await testVault(t, db) })
  return { db, store, claim, owner: await claim() }
}

const lobby = { room: 'lobby@r.test', shared: false }

t.test('what is kept is read again, with what is known of it by then', async (t) => {
  const { store, owner } = await rooms(t)
  await store.keep(owner, lobby)
  await store.keep(owner, {
    room: 'vault@r.test',
    nick: 'me',
    password: 'öffne dich',
    shared: true,
  })
  await store.keep(owner, { ...lobby, nick: 'ada', shared: true })
  t.strictSame(await store.load(owner), [
    { room: 'lobby@r.test', nick: 'ada', shared: true },
    { room: 'vault@r.test', nick: 'me', password: 'öffne dich', shared: true },
  ])
  await store.forget(owner, 'lobby@r.test')
  await store.forget(owner, 'never@r.test')
  t.match(await store.load(owner), [{ room: 'vault@r.test' }])
  t.strictSame(await store.load({ ...owner, credentialId: owner.credentialId + 1 }), [])
})

t.test('accounts that open together share a statement', async (t) => {
  const { db, credential } = await stage(t)
  const owners = await Promise.all(
    Array.from({ length: 9 }, async () => ({ credentialId: await credential(), epoch: 0 })),
  )
  let reads = 0
  const query: typeof db.query = (statement, values) => {
    if (JSON.stringify(statement).includes('from xmpp_room')) reads++
    return db.query(statement, values)
  }
  const store = new PostgresRooms({ db: { ...db, query }, vault: await testVault(t, db) })
  const others = owners.slice(1)
  for (const owner of others) await store.keep(owner, { ...lobby, nick: `${owner.credentialId}` })
  const loaded = await Promise.all(owners.map((owner) => store.load(owner)))
  t.strictSame(loaded, [
    [],
    ...others.map(({ credentialId }) => [{ ...lobby, nick: `${credentialId}` }]),
  ])
  t.equal(reads, 2, 'of the first one, and of all that came meanwhile')
})

t.test('a password does not lie in the table', async (t) => {
  const { db, store, owner } = await rooms(t)
  await store.keep(owner, { ...lobby, password: 'open sesame' })
  const [row] = await db.query<{ password: Buffer }>('select password from xmpp_room')
  t.notOk(row?.password.includes('open sesame'))
})

t.test('an owner that was fenced changes nothing, and is told so', async (t) => {
  const { store, owner, claim } = await rooms(t)
  await store.keep(owner, lobby)
  const next = await claim()
  const late = [
    () => store.keep(owner, { ...lobby, room: 'late@r.test' }),
    () => store.keep(owner, { ...lobby, nick: 'late' }),
    () => store.forget(owner, lobby.room),
  ]
  for (const write of late) {
    const cause: unknown = await write().catch((cause: unknown) => cause)
    t.ok(cause instanceof OwnershipLost)
  }
  t.strictSame(await store.load(next), [lobby])
})

t.test('the rooms of a deactivated account are forgotten', async (t) => {
  const { db, store, owner } = await rooms(t)
  await store.keep(owner, lobby)
  await retainRooms(db)
  t.equal((await store.load(owner)).length, 1)
  await db.query('update credential set deactivated_at = now() where id = $1', [owner.credentialId])
  await retainRooms(db)
  t.strictSame(await store.load(owner), [])
})
