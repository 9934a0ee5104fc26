/** The XMPP network: accounts of any server, linked by JID and password. */

import type { Platform, Session } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import { createGuardedAgent } from '../../net/guard.ts'
import { capabilities } from './capabilities.ts'
import { link } from './link.ts'
import { SaltedKeys } from './sasl/salted-keys.ts'
import { parseSecrets } from './secrets.ts'
import { type SessionOptions, XmppSession } from './session.ts'

type Optional = 'resumeMilliseconds' | 'confirmMilliseconds' | 'tendMilliseconds' | 'agent' | 'keys'

export type XmppOptions = Omit<SessionOptions, Optional> & Partial<Pick<SessionOptions, Optional>>

const defaults = {
  resumeMilliseconds: 20_000,
  confirmMilliseconds: 20_000,
  tendMilliseconds: 60_000,
}

export function xmppPlatform(options: XmppOptions): Platform {
  const { log } = options
  const agent = createGuardedAgent({ allowPrivate: options.allowPrivate, connections: 4 })
  const keys = new SaltedKeys()
  const sessionOptions: SessionOptions = { agent, keys, ...defaults, ...options }
  return {
    id: 'xmpp',
    name: 'XMPP',
    ids: 'mapped',
    capabilities,
    linkMethods: [
      {
        method: 'password',
        fields: [
          { name: 'jid', label: 'JID', required: true },
          { name: 'password', label: 'Password', required: true, secret: true },
          { name: 'server', label: 'Server (xmpp://host:port)', required: false },
        ],
      },
    ],
    startLink: async (method, fields, signal) => {
      if (method !== 'password') throw failed('bad_request', 'field "method" must be password')
      return link(fields, sessionOptions, signal)
    },
    resumeLink: async () => {
      throw failed('conflict', 'the link has no further step')
    },
    open(account, report, signal) {
      const secrets = parseSecrets(account.secrets)
      if (!secrets) return unreadable(() => report.invalid('secrets_unreadable'))
      const session = new XmppSession(account, secrets, report, sessionOptions)
      const close = () => {
        session.close().catch((err) => log.warn({ err }, 'the session did not close'))
      }
      signal.addEventListener('abort', close, { once: true })
      return session
    },
  }
}

/** A session that never was: its account cannot be used as it is stored. */
function unreadable(tell: () => void): Session {
  // After the caller has the session, as every other report.
  queueMicrotask(tell)
  const refuse = () => Promise.reject(failed('unavailable', 'the account cannot be used'))
  return { perform: refuse, probe: refuse, download: refuse, close: async () => undefined }
}
