/** The encrypted secrets of a link: enough to log in again as the same device. */
import type { Json } from '../../../machines/model/protocol.ts'
import { fieldsOf } from '../kit/platform.ts'
import { parseAddress, parseServer } from './address.ts'
import { type LeftSession, parseLeft } from './left-session.ts'
import { AccountKey, parseStoredKey, type SaltedKeys, type StoredKey } from './sasl/scram.ts'
import type { Login, Names } from './transport.ts'

export interface XmppSecrets {
  readonly jid: string
  readonly password: string
  readonly resource: string
  /** The address to connect to instead of the domain's own servers. */
  readonly server?: string
  /** The salted key of the last login, which spares the next node to derive it again. */
  readonly salted?: StoredKey
  /**
   * What the last session left to the next one, which takes it out before it uses it: then nobody else can. It also takes
   * out what it cannot use.
   */
  readonly left?: { readonly session: LeftSession | undefined }
}

/**
 * As a link stores them, and a session whose key was derived anew. `left`: what it leaves to the next one, written by
 * `leftText`.
 */
export function secretsJson({ salted, left: _, ...secrets }: XmppSecrets, left?: string): Json {
  return {
    ...secrets,
    ...(salted && { salted: { ...salted } }),
    ...(left !== undefined && { left }),
  }
}

/** `undefined` when what was stored is not what a link stores. */
export function parseSecrets(stored: Json): XmppSecrets | undefined {
  const fields = fieldsOf(stored)
  const { jid, password, resource, server } = fields
  if (typeof jid !== 'string' || !parseAddress(jid)?.local) return undefined
  if (typeof password !== 'string' || typeof resource !== 'string') return undefined
  const salted = parseStoredKey(fields.salted)
  return {
    jid,
    password,
    resource,
    ...(typeof server === 'string' && { server }),
    ...(salted && { salted }),
    ...(typeof fields.left === 'string' && { left: { session: parseLeft(fields.left) } }),
  }
}

export interface LoginOptions {
  /** Whether servers may be on this machine, where passwords travel unencrypted, or on a private network. */
  readonly allowPrivate: boolean
  readonly keys: SaltedKeys
  /** Absent: the name servers of the system are asked. */
  readonly names?: Names | undefined
}

/** `derived` gets a key that is worth to be stored with the secrets. */
export function loginOf(
  secrets: XmppSecrets,
  { allowPrivate, keys, names }: LoginOptions,
  derived?: (key: StoredKey) => void,
): Login {
  const { jid, password, resource, server: chosen, salted } = secrets
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
    names,
    key: new AccountKey(keys, salted, derived),
  }
}
