/** The replies of a credential in the states that cannot perform an operation. */

import { type Command, type Failure, type Reply, refused } from '../model/protocol.ts'
import type { FailureReason } from '../model/reason.ts'
import type { PerformOperation } from './events.ts'

const refusal = (
  code: Failure['code'],
  reason: FailureReason,
  description: string,
  retryAfterSeconds?: number,
): Failure =>
  retryAfterSeconds === undefined
    ? { code, reason, description }
    : { code, reason, description, retryAfterSeconds }

export const reconnecting = refusal(
  'unavailable',
  'reconnecting',
  'the credential is reconnecting',
  5,
)
export const restarting = refusal('unavailable', 'restarting', 'the credential is restarting', 1)
export const deaf = refusal(
  'unavailable',
  'no_traffic',
  'the credential is connected but nothing flows',
  10,
)
export const signedOut = refusal(
  'forbidden',
  'logged_out',
  'the credential is logged out; link it again',
)
export const invalid = refusal(
  'forbidden',
  'account_gone',
  'the account is banned or gone; contact the platform',
)
export const replaced = refusal(
  'forbidden',
  'replaced_elsewhere',
  'another client took the session; restart the credential',
)
export const broken = refusal(
  'forbidden',
  'credential_failed',
  'the credential has failed; restart it',
)
export const leaving = { code: 'not_found' as const, description: '' }

const deleted = refusal(
  'forbidden',
  'credential_removed',
  'the credential was deleted; link the account again',
)

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
