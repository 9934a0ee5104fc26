/** Addresses of the network (JIDs) and the people and private chats they stand for; the servers that accounts name. */
import { isIP } from 'node:net'
import type { Chat } from '../../../machines/model/content.ts'
import type { Person } from '../../../machines/model/person.ts'
import { resolverOf } from '../../net/resolver.ts'
import { RecentMap } from '../kit/recent-map.ts'

export interface Address {
  /** Absent in the address of a server itself. */
  readonly local?: string
  readonly domain: string
  readonly resource?: string
  /** Without the resource: the account. */
  readonly bare: string
}

const forbiddenInLocal = /[\s"&'/:<>@\p{Cc}]/u
/** With the marks of Indic and other scripts, the joiners of Persian, and what only older rules for names allow. */
const domainName = /^(?!-)[\p{L}\p{M}\p{N}[\p{S}--\p{ASCII}]\u200c\u200d·_.\-]{1,253}(?<![.\-])$/v

/** Those of a conversation are read several times for each of its messages. */
const known = new RecentMap<string, Address>(1_000)
const LONGEST_KNOWN = 256

/** Reads a JID; `undefined` when it cannot be one (RFC 7622, without the rarer Unicode rules). */
export function parseAddress(text: string | undefined): Address | undefined {
  if (!text) return undefined
  const before = known.get(text)
  if (before) return before
  // A part of what came in would keep the whole of it in memory.
  const copy = text.length <= LONGEST_KNOWN && Buffer.from(text).toString()
  if (copy !== text) return read(text)
  const address = read(copy)
  if (address) known.set(copy, address)
  return address
}

function read(text: string): Address | undefined {
  const slash = text.indexOf('/')
  const resource = slash < 0 ? undefined : text.slice(slash + 1)
  const whole = (slash < 0 ? text : text.slice(0, slash)).toLowerCase()
  const at = whole.indexOf('@')
  const local = at < 0 ? undefined : whole.slice(0, at)
  const domain = whole.slice(at + 1)
  if (local === '' || resource === '' || !isDomain(domain)) return undefined
  if (local && (forbiddenInLocal.test(local) || Buffer.byteLength(local) > 1023)) return undefined
  return {
    ...(local && { local }),
    domain,
    ...(resource && { resource }),
    bare: whole,
  }
}

/** Whose address it is. Absent: the account's own, which a server may leave out. One that cannot be read is another one's. */
export const bareOf = (address: string | undefined, own: string): string =>
  address ? (parseAddress(address)?.bare ?? address) : own

function isDomain(text: string): boolean {
  if (text.startsWith('[')) return isIP(text.slice(1, -1)) === 6
  return domainName.test(text) && !text.includes('..')
}

interface Server {
  /** The address in the library's form. */
  readonly service: string
  /** Whether the server is on this machine: only there may a password travel unencrypted. */
  readonly loopback: boolean
}

/** Reads `xmpp://host:port` (STARTTLS) or `xmpps://host:port` (TLS from the first byte). */
export function parseServer(text: string): Server | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port, pathname, username, search } = new URL(text)
  if (protocol !== 'xmpp:' && protocol !== 'xmpps:') return undefined
  if (!hostname || username || search || !['', '/'].includes(pathname)) return undefined
  const loopback =
    hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
  return { service: `${protocol}//${hostname}${port && `:${port}`}`, loopback }
}

/** The signs that a name may have and an address may not (XEP-0106). */
const escaped = /\\(2[0267f]|3[ace]|40|5c)/g

/** The name shown for an address without a nickname. */
export function nameOf(bare: string): string {
  const address = parseAddress(bare)
  return address?.local?.replace(escaped, decodeEscape) ?? bare
}

function decodeEscape(_escape: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}

export function personAt(bare: string, firstName = nameOf(bare)): Person {
  return { native: bare, firstName, username: bare }
}

export function privateChat(bare: string, firstName = nameOf(bare)): Chat {
  return { native: bare, surface: 'private', firstName, username: bare }
}

/** Private messages between two occupants of a room, who may not know each other's address. */
export function whispering(
  room: string,
  nick: string,
): { readonly chat: Chat; readonly person: Person } {
  const native = `${room}/${nick}`
  return {
    chat: { native, surface: 'private', firstName: nick },
    person: { native, firstName: nick },
  }
}

interface Place {
  readonly service: string
  /** Empty: the domain says that it does not offer the service. */
  readonly host: string
  readonly port: number
}

/**
 * Resolves with the places of services such as `_xmpp-client._tcp.example.org`, the first choice first; with none where
 * none is named.
 */
export type ResolvePlaces = (services: readonly string[]) => Promise<readonly Place[]>

/** The most places that are tried: the owner of a domain may name thousands, anywhere. */
const MOST_PLACES = 8

export function placesResolver(servers?: readonly string[]): ResolvePlaces {
  return async (services) => {
    const resolver = resolverOf(servers)
    const named = async (service: string) => {
      const records = await resolver.resolveSrv(service).catch(() => [])
      // The root is no host: alone it refuses the service, beside others it says nothing (RFC 2782).
      const meant = records.length === 1 ? records : records.filter(({ name }) => name !== '')
      return meant.map((record) => ({ ...record, service, lot: lotOf(record.weight) }))
    }
    const records = (await Promise.all(services.map(named))).flat()
    return records
      .sort((a, b) => a.priority - b.priority || b.lot - a.lot)
      .slice(0, MOST_PLACES)
      .map(({ service, name, port }) => ({ service, host: name, port }))
  }
}

/** The larger one is drawn first, in proportion to the weights; without any weight last, in the order of the answer. */
const lotOf = (weight: number): number => (weight > 0 ? Math.random() ** (1 / weight) : 0)

export const resolvePlaces: ResolvePlaces = placesResolver()
