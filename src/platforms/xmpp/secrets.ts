/** The encrypted secrets of a link: enough to log in again as the same device. */
import type { Json } from '../../../machines/model/protocol.ts'
import { fieldsOf } from '../kit/platform.ts'
import { parseAddress, parseServer } from './address.ts'
import type { SaltedKeys } from './sasl/scram.ts'
import type { Login } from './transport.ts'

export interface XmppSecrets {
  readonly jid: string
  readonly password: string
  readonly resource: string
  /** The address to connect to instead of the domain's own servers. */
  readonly server?: string
}

/** `undefined` when what was stored is not what a link stores. */
export function parseSecrets(stored: Json): XmppSecrets | undefined {
  const { jid, password, resource, server } = fieldsOf(stored)
  if (typeof jid !== 'string' || !parseAddress(jid)?.local) return undefined
  if (typeof password !== 'string' || typeof resource !== 'string') return undefined
  return { jid, password, resource, ...(typeof server === 'string' && { server }) }
}

export interface LoginOptions {
  /** Whether servers may be on this machine, where passwords travel unencrypted, or on a private network. */
  readonly allowPrivate: boolean
  readonly keys: SaltedKeys
}

export function loginOf(secrets: XmppSecrets, { allowPrivate, keys }: LoginOptions): Login {
  const { jid, password, resource, server: chosen } = secrets
  const address = parseAddress(jid)
  if (!address?.local) throw new Error('The account has no usable JID')
  const server = chosen === undefined ? undefined : parseServer(chosen)
  return {
    local: address.local,
    domain: address.domain,
    resource,
    password,
    service: server?.service ?? address.domain,
    plaintextAllowed: server?.loopback === true,
    allowPrivate,
    keys,
  }
}
