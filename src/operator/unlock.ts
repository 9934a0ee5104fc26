/** A command for the operator: unlocks a phone that is locked after wrong codes. */
import { RequestFailed } from '../../machines/model/failure.ts'
import { parsePhone } from '../accounts/phone.ts'
import { unlock } from '../accounts/tries.ts'
import { openVault } from '../security/vault.ts'
import { byOperator, operate } from './command.ts'

function phoneIn([text = '', ...more]: readonly string[]): string | undefined {
  if (more.length > 0) return undefined
  try {
    return parsePhone(text).number
  } catch (error) {
    if (error instanceof RequestFailed) return undefined
    throw error
  }
}

await operate({
  usage: 'usage: node bin/chapar.mjs unlock +14155550123\n',
  read: phoneIn,
  async run({ config, db, logger }, phone) {
    const vault = await openVault({ db, keyFile: config.keyFile, logger })
    const unlocked = await byOperator('service.phone_unlocked', () => unlock(db, vault, phone))
    process.stdout.write(
      `${unlocked.phone} may sign in again; ${unlocked.failures} wrong codes are forgotten.\n`,
    )
  },
})
