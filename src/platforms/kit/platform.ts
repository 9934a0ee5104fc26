/** Makes a platform of what one network has of its own: methods are checked, unreadable accounts refused, sessions closed. */
import type {
  Json,
  LinkedAccount,
  Platform,
  Session,
  SessionReport,
} from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import { refusingSession } from '../../../actors/ports/unavailable.ts'
import { invalidField } from '../../../machines/model/failure.ts'
import { noFurtherStep } from './link.ts'

interface Connector<Secrets>
  extends Pick<
    Platform,
    'id' | 'name' | 'ids' | 'capabilities' | 'linkMethods' | 'startLink' | 'unavailable'
  > {
  readonly log: Logger
  /** Absent: every link of this network ends with its first step. */
  readonly resumeLink?: Platform['resumeLink']
  /** Undefined when the stored secrets do not describe an account. */
  parseSecrets(stored: Json): Secrets | undefined
  /** Opens a session; the session is closed when the signal of `Platform.open` aborts. */
  open(account: LinkedAccount, secrets: Secrets, report: SessionReport): Session
}

export function definePlatform<Secrets>(connector: Connector<Secrets>): Platform {
  const { log, startLink, resumeLink = noFurtherStep, parseSecrets, open, ...facts } = connector
  const methods = facts.linkMethods.map(({ method }) => method)
  return {
    ...facts,
    startLink: async (method, fields, signal, user) => {
      if (methods.includes(method)) return startLink(method, fields, signal, user)
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
          log.warn({ err }, 'the session did not close')
        })
      }
      signal.addEventListener('abort', close, { once: true })
      return session
    },
  }
}
