/** A vault on a test database, with a key file that is removed with the test. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Database } from '../../src/database/database.ts'
import { openVault, type Vault } from '../../src/security/vault.ts'
import { quietLogger } from './logger.ts'

export async function testVault(
  t: Pick<Test, 'teardown'>,
  db: Database,
  keyFile = join(tmpdir(), `chapar-keys-${randomUUID()}`),
): Promise<Vault> {
  t.teardown(() => rm(keyFile, { force: true }))
  return await openVault({ db, keyFile, logger: quietLogger })
}
