/** The identity of the account as the network gives it. */
import type { tl } from '@mtcute/node'
import type { AccountIdentity } from '../../../actors/ports/platform.ts'

export function identityOf(user: tl.RawUser): AccountIdentity {
  const username = user.username ?? user.usernames?.find(({ active }) => active)?.username
  return {
    native: `${user.id}`,
    firstName: user.firstName ?? '',
    ...(user.lastName && { lastName: user.lastName }),
    ...(username && { username }),
    ...(user.phone && { phone: `+${user.phone}` }),
  }
}
