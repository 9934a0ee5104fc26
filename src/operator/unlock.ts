/** A command for the operator: unlocks a phone that is locked after wrong codes. */
import { RequestFailed } from '../../machines/model/failure.ts'
import { unlock } from '../accounts/tries.ts'
import { openVault } from '../security/vault.ts'
import { byOperator, operate } from './command.ts'

const [phone = ''] = process.argv.slice(2)
await operate(async ({ config, db, logger }) => {
  try {
    const vault = await openVault({ db, keyFile: config.keyFile, logger })
    const unlocked = await byOperator('service.phone_unlocked', () => unlock(db, vault, phone))
    process.stdout.write(
      `${unlocked.phone} may sign in again; ${unlocked.failures} wrong codes are forgotten.\n`,
    )
  } catch (error) {
    if (!(error instanceof RequestFailed) || error.failure.code !== 'bad_request') throw error
    process.stderr.write('usage: node bin/chapar.mjs unlock +14155550123\n')
    process.exitCode = 2
  }
})
