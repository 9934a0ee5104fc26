/** The XMPP servers that the tests run against, each as Debian ships it. */
import { Ejabberd, ejabberdMissing } from './ejabberd.ts'
import { Jabberd2, jabberd2Missing } from './jabberd2.ts'
import { Prosody, prosodyMissing } from './prosody.ts'
import type { XmppServer, XmppServerOptions } from './xmpp-server.ts'

export interface XmppServerKind {
  readonly name: string
  /** For `t.test`: the reason to skip the tests over it, or `false`. */
  readonly skip: string | false
  /** What a killed client had not acknowledged it sends again, after what it has sent to the next one. */
  readonly resendsLate: boolean
  start(options?: XmppServerOptions): Promise<XmppServer>
}

export const xmppServers: readonly XmppServerKind[] = [
  {
    name: 'Prosody',
    skip: prosodyMissing ?? false,
    resendsLate: false,
    start: (options) => Prosody.start(options),
  },
  {
    name: 'ejabberd',
    skip: ejabberdMissing ?? false,
    resendsLate: true,
    start: (options) => Ejabberd.start(options),
  },
]

/** Servers that have neither archives nor rooms, take no files, acknowledge nothing and tell of no other device. */
export const sparseXmppServers: readonly XmppServerKind[] = [
  {
    name: 'jabberd2',
    skip: jabberd2Missing ?? false,
    resendsLate: false,
    start: () => Jabberd2.start(),
  },
]
