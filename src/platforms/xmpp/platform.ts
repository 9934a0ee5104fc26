/** The XMPP network: accounts of any server, linked by JID and password. */

import type { Platform } from '../../../actors/ports/platform.ts'
import { createGuardedAgent } from '../../net/guard.ts'
import { definePlatform } from '../kit/platform.ts'
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
  const agent = createGuardedAgent({ allowPrivate: options.allowPrivate, connections: 4 })
  const keys = new SaltedKeys()
  const sessionOptions: SessionOptions = { agent, keys, ...defaults, ...options }
  return definePlatform({
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
    log: options.log,
    startLink: (_method, fields, signal) => link(fields, sessionOptions, signal),
    parseSecrets,
    open: (account, secrets, report) => new XmppSession(account, secrets, report, sessionOptions),
  })
}
