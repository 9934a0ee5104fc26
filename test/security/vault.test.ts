/** The vault: a secret opens where it was sealed, unchanged, and nowhere else. */
import { join } from 'node:path'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { openVault, UnreadableSecret } from '../../src/security/vault.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'
import { testVault } from '../support/vault.ts'

const { database } = await testDatabase(t)
const keyFile = join(t.testdir(), 'keys')
const vault = await testVault(t, database, keyFile)

const place = { table: 'credential', column: 'secrets', row: 7 }
const secret = Buffer.from('session key of an account')
const unreadable = {
  name: 'UnreadableSecret',
  message: 'the stored secret credential.secrets cannot be read',
}

t.test('what is sealed opens again, and does not show in the blob', async (t) => {
  const blob = await vault.seal('credential:7', place, secret)
  t.same(await vault.open(place, blob), secret)
  t.notOk(blob.includes(secret))
  t.equal(blob[0], 1)
})

t.test('an empty secret is a secret', async (t) => {
  const blob = await vault.seal('credential:7', place, Buffer.alloc(0))
  t.same(await vault.open(place, blob), Buffer.alloc(0))
})

t.test('the same secret never gives the same blob twice', async (t) => {
  const blobs = await Promise.all(
    Array.from({ length: 200 }, () => vault.seal('credential:7', place, secret)),
  )
  t.equal(new Set(blobs.map((blob) => blob.toString('hex'))).size, 200)
})

t.test('a blob moved to another row, column or table does not open', async (t) => {
  const blob = await vault.seal('credential:7', place, secret)
  for (const moved of [{ row: 8 }, { column: 'settings' }, { table: 'link_session' }]) {
    await t.rejects(vault.open({ ...place, ...moved }, blob), /cannot be read/)
  }
})

t.test('a blob under the key of another owner does not open', async (t) => {
  const mine = await vault.seal('credential:7', place, secret)
  const theirs = await vault.seal('credential:8', place, secret)
  const mixed = Buffer.concat([theirs.subarray(0, 17), mine.subarray(17)])
  await t.rejects(vault.open(place, mixed), unreadable)
})

t.test('every flipped bit is noticed, in the same words', async (t) => {
  const blob = await vault.seal('credential:7', place, secret)
  for (let bit = 0; bit < blob.length * 8; bit++) {
    const changed = Buffer.from(blob)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    await t.rejects(vault.open(place, changed), unreadable, `bit ${bit}`)
  }
})

t.test('a shortened tag or blob does not open', async (t) => {
  const blob = await vault.seal('credential:7', place, secret)
  const tagAt = 1 + 16 + 12
  for (const length of [4, 8, 12, 15]) {
    const cut = Buffer.concat([blob.subarray(0, tagAt + length), blob.subarray(tagAt + 16)])
    await t.rejects(vault.open(place, cut), unreadable, `tag of ${length} bytes`)
  }
  for (const length of [0, 1, 17, 29, 44]) {
    await t.rejects(vault.open(place, blob.subarray(0, length)), unreadable, `${length} bytes`)
  }
})

t.test('a shredded owner loses all secrets, the others none', async (t) => {
  const gone = await vault.seal('credential:20', place, secret)
  const kept = await vault.seal('credential:21', place, secret)
  await vault.shred('credential:20')
  await t.rejects(vault.open(place, gone), unreadable)
  t.same(await vault.open(place, kept), secret)
  t.same(await vault.open(place, await vault.seal('credential:20', place, secret)), secret)
})

t.test('a key that cannot be looked up now makes no secret unreadable', async (t) => {
  const blob = await vault.seal('credential:22', place, secret)
  const away = failed('unavailable', 'the database does not answer')
  let isAway = false
  const query: typeof database.query = (...statement) =>
    isAway ? Promise.reject(away) : database.query(...statement)
  const other = await openVault({ db: { ...database, query }, keyFile, logger: quietLogger })
  isAway = true
  t.equal(await other.open(place, blob).catch((cause) => cause), away)
  isAway = false
  t.same(await other.open(place, blob), secret)
})

t.test('a key that the key file lacks makes no secret unreadable', async (t) => {
  const blob = await vault.seal('credential:23', place, secret)
  const other = await openVault({ db: database, keyFile, logger: quietLogger })
  const change = `update data_key set kek = $1 where owner = 'credential:23' returning kek`
  await database.query(change, ['another'])
  const cause = await other.open(place, blob).catch((cause) => cause)
  t.match(cause, { message: /the key file lacks the key another/ })
  t.notOk(cause instanceof UnreadableSecret)
  await database.query(change, [vault.keys[0]])
  t.same(await other.open(place, blob), secret)
})

t.test('another node forgets the keys that it had opened', async (t) => {
  const blob = await vault.seal('credential:25', place, secret)
  const kept = await vault.seal('credential:26', place, secret)
  const other = await testVault(t, database, keyFile)
  const told: string[] = []
  vault.onShred((owner) => told.push(owner))
  t.same(await other.open(place, blob), secret)
  t.same(await other.open(place, kept), secret)
  await vault.shred('credential:25')
  t.same(told, ['credential:25'])
  for (const owner of told) other.forget(owner)
  await t.rejects(other.open(place, blob), unreadable)
  t.same(await other.open(place, kept), secret)
})

t.test('an owner who has sealed enough gets a new key, and the old one still opens', async (t) => {
  const first = await vault.seal('credential:30', place, secret)
  await database.query("update data_key set seals = 16777216 where owner = 'credential:30'")
  const blobs = []
  for (let count = 0; count < 1024; count++) {
    blobs.push(await vault.seal('credential:30', place, secret))
  }
  const keys = await database.query("select from data_key where owner = 'credential:30'")
  t.equal(keys.length, 2)
  t.same(await vault.open(place, first), secret)
  t.same(await vault.open(place, blobs.at(-1)!), secret)
})

t.test('concurrent first seals of one owner share one key', async (t) => {
  await Promise.all(Array.from({ length: 20 }, () => vault.seal('credential:40', place, secret)))
  const keys = await database.query("select from data_key where owner = 'credential:40'")
  t.equal(keys.length, 1)
})

t.test('seals that come at once reserve their blocks together', async (t) => {
  const seals = 5_000
  await Promise.all(Array.from({ length: seals }, () => vault.seal('credential:50', place, secret)))
  const [key] = await database.query<{ seals: string }>(
    "select seals from data_key where owner = 'credential:50'",
  )
  t.ok(Number(key?.seals) >= seals && Number(key?.seals) <= seals + 1024, `${key?.seals} reserved`)
})

t.test('a seal during a shredding uses no key that is gone', async (t) => {
  await vault.seal('credential:60', place, secret)
  const blobs = await Promise.all([
    vault.shred('credential:60'),
    ...Array.from({ length: 3_000 }, () => vault.seal('credential:60', place, secret)),
  ])
  const late = await vault.seal('credential:60', place, secret)
  t.equal(blobs.length, 3_001)
  t.same(await vault.open(place, late), secret)
})
