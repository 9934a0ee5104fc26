/** A command for an emergency: voids every access token. Nobody has to sign in again, since refresh tokens stay. */
import { dropSigningKeys } from '../accounts/signing-keys.ts'
import { byOperator, noWords, operate } from './command.ts'

await operate({
  usage: 'usage: node bin/chapar.mjs drop-signing-keys\n',
  read: noWords,
  async run({ db }) {
    const dropped = await byOperator('service.signing_keys_dropped', () => dropSigningKeys(db))
    process.stdout.write(
      `${dropped} signing keys dropped; the service makes a new one when it needs it.\n`,
    )
  },
})
