/** Addresses that `setWebhook` may name, checked in the reference's order and refused in its words. */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { failed, invalidField } from '../../machines/model/failure.ts'
import { isPublicAddress } from '../net/guard.ts'
import type { Resolve } from '../net/resolver.ts'

const PORTS = new Set(['', '80', '88', '443', '8443'])
const SECRET_BYTES = 256
/** The reference takes three megabytes. But each connection reads all of it anew, and a chain has a few kilobytes. */
export const CERTIFICATE_BYTES = 65_536
/** Of one chain. */
const CERTIFICATES = 10
const LONGEST_URL = 2_048
const RESOLVES_WITHIN_MS = 5_000

const bad = (detail: string, options?: ErrorOptions) =>
  failed(
    'bad_request',
    `bad webhook: ${detail}`,
    { reason: 'webhook_refused', params: { detail } },
    options,
  )

/** The scheme may be left out, and then it is https. Nodes of the version before cannot read an address without it. */
export const withScheme = (text: string) =>
  /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`

/** Where the text of a webhook leads. But for its scheme the text is kept and shown as the bot has written it. */
export function webhookUrl(text: string): URL {
  const url = new URL(withScheme(text))
  url.hash = ''
  return url
}

export function parseWebhookUrl(text: string, allowPrivate: boolean): URL {
  const invalid = () =>
    failed('bad_request', 'invalid webhook URL specified', { reason: 'webhook_url' })
  if (withScheme(text).length > LONGEST_URL || /[\s\p{Cc}]/u.test(text)) throw invalid()
  if (!URL.canParse(withScheme(text))) throw invalid()
  const url = webhookUrl(text)
  if (!['http:', 'https:'].includes(url.protocol) || url.hostname === '') throw invalid()
  if (url.hostname.length > 253) throw invalid()
  if (allowPrivate) return url
  if (url.protocol !== 'https:') throw bad('An HTTPS URL must be provided for webhook')
  if (url.username !== '' || url.password !== '') throw bad('the URL must not carry user info')
  if (!PORTS.has(url.port)) throw bad('Webhook can be set up only on ports 80, 88, 443 or 8443')
  return url
}

export function checkSecretToken(token: string): void {
  if (Buffer.byteLength(token) > SECRET_BYTES)
    throw failed('bad_request', 'secret token is too long', { reason: 'secret_length' })
  if (!/^[\w-]*$/.test(token)) {
    throw failed('bad_request', 'secret token contains unallowed characters', {
      reason: 'secret_characters',
    })
  }
}

export function checkCertificate(pem: Buffer): string {
  if (pem.length > CERTIFICATE_BYTES) {
    throw failed('bad_request', `certificate size is too big (${pem.length} bytes)`)
  }
  try {
    new X509Certificate(pem)
  } catch (cause) {
    throw bad("can't parse the certificate", { cause })
  }
  const text = pem.toString('latin1')
  if (text.split('-----BEGIN').length - 1 > CERTIFICATES) {
    throw bad(`the certificate must have a chain of at most ${CERTIFICATES}`)
  }
  return text
}

export interface Reach {
  readonly allowPrivate: boolean
  readonly resolve: Resolve
}

/** Whether the host has an address that may be reached. It is asked again at every connection. */
export async function checkReachable(
  url: URL,
  ipAddress: string | undefined,
  { allowPrivate, resolve }: Reach,
): Promise<readonly string[]> {
  if (ipAddress !== undefined && !isIP(ipAddress)) throw bad('Invalid IP address specified')
  const host = ipAddress ?? url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = isIP(host) ? [host] : await resolved(host, resolve)
  const isReserved = addresses.some((address) => !allowPrivate && !isPublicAddress(address))
  // The message leaves the resolved address out, because it could reveal a host of this network.
  if (isReserved)
    throw bad(isIP(host) ? `IP address ${host} is reserved` : 'IP address is reserved')
  return addresses
}

/** The address that a delivery would go to; undefined where there is none at the moment. */
export async function addressOf(url: string, reach: Reach): Promise<string | undefined> {
  // The reference goes by IPv4 alone, so that it is named first.
  const addresses = await checkReachable(webhookUrl(url), undefined, reach).catch(() => [])
  return addresses.find((address) => isIP(address) === 4) ?? addresses[0]
}

async function resolved(host: string, resolve: Resolve): Promise<string[]> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('timed out')), RESOLVES_WITHIN_MS)
  try {
    const addresses = await Promise.race([resolve(host), late])
    return addresses.map(({ address }) => address)
  } catch (cause) {
    throw bad('Failed to resolve host: Name or service not known', { cause })
  } finally {
    clearTimeout(timer)
  }
}

const SHORTEST_SECRET = 16
const HIDDEN = '[hidden]'

/** Words, as people name paths: "telegram-updates", "WebhookHandler", "v2", "2026". A random token is not made of them. */
const words =
  /^(?:[A-Z]?[a-z]{2,15}|[A-Z]{2,6}|[A-Z][a-z]{2,14}(?:[A-Z][a-z]{2,14})+|v?\d{1,4})(?:[-_.](?:[A-Z]?[a-z]{2,15}|[A-Z]{2,6}|[A-Z][a-z]{2,14}(?:[A-Z][a-z]{2,14})+|v?\d{1,4}))*$/

/**
 * How an address is stored in the clear and shown in lists and logs: without user info and query, and without what
 * may be a secret in its path, since `https://host/<token>` is the usual form of a bot's webhook. Migration 0022 has
 * the same rule for old rows.
 */
export function shownUrl(url: string): string {
  const { origin, pathname } = webhookUrl(url)
  const isSecret = (segment: string) => segment.length >= SHORTEST_SECRET && !words.test(segment)
  return (
    origin +
    pathname
      .split('/')
      .map((part) => (isSecret(part) ? HIDDEN : part))
      .join('/')
  )
}

/** The address that is set stands for its shown form: a form that was filled with the latter may be sent again. */
export function wholeUrl(given: string, current: string | undefined): string {
  if (!given.includes(HIDDEN)) return given
  if (current !== undefined && shownUrl(current) === given) return current
  throw invalidField('url', `has a part that reads ${HIDDEN}; give the whole address`)
}
