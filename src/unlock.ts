/** A command for the operator: lets somebody sign in again whose phone is locked after wrong codes. */
import { RequestFailed } from '../actors/errors.ts'
import { unlock } from './accounts/unlock.ts'
import { openForOperator } from './operator-command.ts'
import { openVault } from './security/vault.ts'

const [phone = ''] = process.argv.slice(2)
await using opened = new AsyncDisposableStack()
try {
  const { config, db, log } = await openForOperator(opened)
  const vault = await openVault({ db, keyFile: config.keyFile, log })
  const unlocked = await unlock(db, vault, phone)
  process.stdout.write(
    `${unlocked.phone} may sign in again; ${unlocked.failures} wrong codes are forgotten.\n`,
  )
} catch (error) {
  if (!(error instanceof RequestFailed)) throw error
  process.stderr.write('usage: node bin/chapar.mjs unlock +14155550123\n')
  process.exitCode = 2
}
