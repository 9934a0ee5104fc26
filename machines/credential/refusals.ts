/** The replies of a credential in the states that cannot perform an operation. */

import { type Command, type Failure, type Reply, refused } from '../model/protocol.ts'
import type { PerformOperation } from './events.ts'

const refusal = (
  code: Failure['code'],
  description: string,
  retryAfterSeconds?: number,
): Failure =>
  retryAfterSeconds === undefined ? { code, description } : { code, description, retryAfterSeconds }

export const reconnecting = refusal('unavailable', 'the credential is reconnecting', 5)
export const restarting = refusal('unavailable', 'the credential is restarting', 1)
export const deaf = refusal('unavailable', 'the credential is connected but nothing flows', 10)
export const signedOut = refusal('forbidden', 'the credential is logged out; link it again')
export const invalid = refusal('forbidden', 'the account is banned or gone; contact the platform')
export const replaced = refusal(
  'forbidden',
  'another client took the session; restart the credential',
)
export const broken = refusal('forbidden', 'the credential has failed; restart it')
export const leaving = refusal('not_found', '')

const deleted = refusal('forbidden', 'the credential was deleted; link the account again')

/** The failure of getUpdates once the backlog is received, by the state of an account that is out. */
export const out: Readonly<Record<string, Failure>> = {
  signedOut,
  invalid,
  replaced,
  failed: broken,
  'live.leaving': deleted,
  deactivating: deleted,
  deactivated: deleted,
}

export const toRefusal = (failure: Failure) => ({
  actions: {
    type: 'reply' as const,
    params: ({ event }: { event: Command }): Reply => refused(event, failure),
  },
})

/** The transitions of a state that turns down everything that needs the network. */
export const refuse = (failure: Failure) => ({
  'operation.perform': toRefusal(failure),
  'credential.check': toRefusal(failure),
})

const toGone = toRefusal(leaving)

/** The transitions of a state from which the credential does not come back. */
export const refuseReturn = {
  'credential.restart': toGone,
  'credential.relinked': toGone,
  'credential.delete': toGone,
}

/** While the network restricts the account: how long is left, in the words of the reference. */
export function untilLimitEnds(event: PerformOperation, until = 0): Reply {
  const retryAfterSeconds = Math.max(1, Math.ceil((until - event.now) / 1000))
  return refused(event, { code: 'rate_limited', description: '', retryAfterSeconds })
}
