/** The English catalogue: the one that all others must match, with words for every reason of the service. */
import type { LinkReason, Reason } from '../../../machines/model/reason.ts'
import account from './en/account.json'
import common from './en/common.json'
import credentials from './en/credentials.json'
import diagnosis from './en/diagnosis.json'
import invitation from './en/invitation.json'
import keys from './en/keys.json'
import linking from './en/linking.json'
import said from './en/said.json'
import sandbox from './en/sandbox.json'

export const en = {
  ...common,
  ...credentials,
  ...linking,
  ...keys,
  ...sandbox,
  ...account,
  ...diagnosis,
  ...invitation,
  ...said,
} satisfies Readonly<Record<`reason.${LinkReason}` | `diagnosis.fix.${Reason}`, string>>

export type MessageKey = keyof typeof en
export type Catalogue = Readonly<Record<MessageKey, string>>
