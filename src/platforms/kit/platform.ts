/** Builds a platform from the parts of a network, and checks link methods, stored secrets and sessions in one place. */
import {
  type LinkAttempt,
  type LinkedAccount,
  type LinkStep,
  type Platform,
  refusingSession,
  type Session,
  type SessionReport,
} from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import { failed, invalidField } from '../../../machines/model/failure.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import type { LinkReason } from '../../../machines/model/reason.ts'

/** How long a network may take to say whether the fields of a link are right. */
const SINGLE_STEP_MS = 25_000

/** A link that is done or refused with its first step; `attempt` makes it. */
export async function linkInOneStep(
  attempt: (signal: AbortSignal) => Promise<LinkStep>,
  signal: AbortSignal,
): Promise<LinkAttempt> {
  const step = await attempt(AbortSignal.any([signal, AbortSignal.timeout(SINGLE_STEP_MS)]))
  signal.throwIfAborted()
  return { step, answer: noFurtherStep, changed: noFurtherStep, close: async () => undefined }
}

export const noFurtherStep = (): Promise<never> =>
  Promise.reject(failed('conflict', 'the link has no further step'))

/** `retryAfterSeconds`: the same fields may be taken later. */
export const refused = (
  reason: LinkReason,
  description: string,
  retryAfterSeconds?: number,
): Extract<LinkStep, { kind: 'refused' }> => ({
  kind: 'refused',
  reason,
  description,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
})

interface Connector<Secrets>
  extends Pick<
    Platform,
    | 'id'
    | 'name'
    | 'ids'
    | 'sessions'
    | 'sends'
    | 'capabilities'
    | 'linkMethods'
    | 'startLink'
    | 'signOut'
    | 'unavailable'
  > {
  readonly logger: Logger
  /** Absent: every link of this network ends with its first step. */
  readonly resumeLink?: Platform['resumeLink']
  /** Undefined when the stored secrets do not describe an account. */
  parseSecrets(stored: Json): Secrets | undefined
  /** Opens a session; the session is closed when the signal of `Platform.open` aborts. */
  open(account: LinkedAccount, secrets: Secrets, report: SessionReport): Session
}

export function definePlatform<Secrets>(connector: Connector<Secrets>): Platform {
  const { logger, startLink, resumeLink = noFurtherStep, parseSecrets, open, ...facts } = connector
  const methods = facts.linkMethods.map(({ method }) => method)
  return {
    ...facts,
    startLink: async (method, ...link) => {
      if (methods.includes(method)) return startLink(method, ...link)
      throw invalidField('method', `must be ${methods.join(' or ')}`)
    },
    resumeLink,
    open(account, report, signal) {
      const secrets = parseSecrets(account.secrets)
      if (secrets === undefined) {
        const invalid = () => report.invalid('secrets_unreadable')
        return refusingSession('the account cannot be used', invalid)
      }
      const session = open(account, secrets, report)
      const close = () => {
        session.close({ signOut: false }).catch((err) => {
          logger.warn({ err }, 'the session did not close')
        })
      }
      signal.addEventListener('abort', close, { once: true })
      return session
    },
  }
}

/** The fields of stored JSON (secrets, a checkpoint); empty if it is no object. */
export function fieldsOf(stored: Json | undefined): { readonly [key: string]: Json } {
  const isObject = typeof stored === 'object' && stored !== null && !Array.isArray(stored)
  return isObject ? (stored as { readonly [key: string]: Json }) : {}
}
