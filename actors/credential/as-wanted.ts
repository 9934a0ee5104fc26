/** What a user wants to receive may change while a session lasts: it reads it where it is kept. */
import type { CredentialContext } from '../../machines/credential/setup.ts'
import type { LinkedAccount } from '../ports/platform.ts'

export interface Wanting {
  getSnapshot(): { readonly context: Pick<CredentialContext, 'settings'> }
}

export const asWanted = (account: LinkedAccount, owner: Wanting): LinkedAccount => ({
  ...account,
  get recoverChannels() {
    return owner.getSnapshot().context.settings.includeChannelUpdateRecovery
  },
})
