/** Key-encryption keys: created once, rotated without touching secrets, never silently replaced. */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Logger } from '../../actors/ports/ports.ts'
import { openVault } from '../../src/security/vault.ts'
import { testDatabase } from '../support/database.ts'
import { quietLogger } from '../support/logger.ts'

const place = { table: 'credential', column: 'secrets', row: 1 }
const secret = Buffer.from('secret')

const folder = await mkdtemp(join(tmpdir(), 'chapar-keys-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
let files = 0

async function rig(t: Pick<typeof import('tap').t, 'teardown'>) {
  const { database: db } = await testDatabase(t)
  const keyFile = join(folder, `keys/${files++}`)
  return { db, keyFile, open: (logger: Logger = quietLogger) => openVault({ db, keyFile, logger }) }
}

t.test('the first start creates a key that only the service can read', async (t) => {
  const { open, keyFile } = await rig(t)
  await open()
  t.equal((await stat(keyFile)).mode & 0o777, 0o600)
  t.equal(Buffer.from(await readFile(keyFile, 'utf8'), 'base64').length, 32)
})

t.test('secrets and derived keys outlive a restart', async (t) => {
  const { open } = await rig(t)
  const before = await open()
  const blob = await before.seal('a', place, secret)
  const after = await open()
  t.same(await after.open(place, blob), secret)
  t.same(after.derive('otp-pepper'), before.derive('otp-pepper'))
  t.notSame(after.derive('otp-pepper'), after.derive('phone-index'))
})

t.test('a new key takes over, and the old one can be removed after wrapping anew', async (t) => {
  const { open, db, keyFile } = await rig(t)
  const before = await open()
  const blobs = await Promise.all(
    Array.from({ length: 20 }, (_, n) => before.seal(`owner ${n}`, place, secret)),
  )
  const old = await readFile(keyFile, 'utf8')
  const fresh = `${randomBytes(32).toString('base64')}\n`

  await writeFile(keyFile, fresh + old)
  const both = await open()
  t.same(await both.open(place, blobs[0]!), secret)
  t.equal(await both.rewrap(), 21)
  t.equal(await both.rewrap(), 0)

  await writeFile(keyFile, fresh)
  const after = await open()
  for (const blob of blobs) t.same(await after.open(place, blob), secret)
  t.same(after.derive('phone-index'), before.derive('phone-index'))
  t.equal((await db.query<{ kek: string }>('select distinct kek from data_key')).length, 1)
})

t.test('a missing or wrong key file refuses the start and changes nothing', async (t) => {
  const { open, db, keyFile } = await rig(t)
  const blob = await (await open()).seal('a', place, secret)
  const stored = await db.query('select * from data_key order by id')
  const right = await readFile(keyFile, 'utf8')

  await rm(keyFile)
  await t.rejects(open(), /is missing, but secrets are stored/)
  await writeFile(keyFile, randomBytes(32).toString('base64'))
  await t.rejects(open(), /the key file lacks the key/)
  for (const malformed of ['', 'c2hvcnQ=\n', `${right}nonsense\n`]) {
    await writeFile(keyFile, malformed)
    await t.rejects(open(), /the key file|key \d of the key file/)
  }

  t.same(await db.query('select * from data_key order by id'), stored)
  await writeFile(keyFile, right)
  t.same(await (await open()).open(place, blob), secret)
})

t.test('a key file that others can read is complained about', async (t) => {
  const { open, keyFile } = await rig(t)
  await open()
  await chmod(keyFile, 0o644)
  const warnings: string[] = []
  await open({ ...quietLogger, warn: (_, message) => void warnings.push(message) })
  t.same(warnings, ['the key file is open to other users'])
})
