/** Lists of addresses and networks in CIDR notation: the trusted proxies, and from where a key or a token may be used. */
import { BlockList, isIP } from 'node:net'
import { ConfigurationError } from '../config/environment.ts'

/** Whether an address is in a list. */
export type AddressCheck = (address: string) => boolean

export function proxiesFrom(list: string): string[] {
  const ranges = list.split(',').map((range) => range.trim())
  if (ranges.every(isRange)) return ranges
  throw new ConfigurationError('TRUST_PROXY must be a list of IP addresses and CIDR ranges')
}

/** Bits of an IPv6 address before the IPv4 address that it carries. */
const MAPPED_BITS = 96

/** The IPv4 address that an IPv6 address of the form `::ffff:192.0.2.1` carries, in any of its spellings. */
function mappedIn(address: string): string | undefined {
  if (isIP(address) !== 6 || address.includes('%')) return undefined
  const [, high, low] =
    /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/.exec(new URL(`http://[${address}]`).hostname) ?? []
  if (high === undefined || low === undefined) return undefined
  const bytes = [high, low].flatMap((group) => {
    const number = Number.parseInt(group, 16)
    return [number >> 8, number & 255]
  })
  return bytes.join('.')
}

/**
 * An IPv4 address counts in either spelling, as `192.0.2.1` and as `::ffff:192.0.2.1`. Each family has a list of its own: in
 * one list every IPv4 address would belong to such networks as `::/64`, because its other spelling begins like them.
 */
export function addressCheck(ranges: readonly string[] | false): AddressCheck {
  const listed = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges || []) {
    const [address = '', prefix] = range.split('/')
    const bits = Number(prefix ?? Number.POSITIVE_INFINITY)
    const mapped = bits >= MAPPED_BITS ? mappedIn(address) : undefined
    const family = mapped !== undefined || isIP(address) === 4 ? 'ipv4' : 'ipv6'
    const place = mapped ?? address
    if (prefix === undefined) listed[family].addAddress(place, family)
    else listed[family].addSubnet(place, mapped === undefined ? bits : bits - MAPPED_BITS, family)
  }
  return (address) => {
    const ipv4 = isIP(address) === 4 ? address : mappedIn(address)
    if (ipv4 !== undefined) return listed.ipv4.check(ipv4, 'ipv4')
    return isIP(address) === 6 && listed.ipv6.check(address, 'ipv6')
  }
}

/** The check of a list that restricts; an empty list restricts nothing, and costs nothing. */
export const restrictionOf = (ranges: readonly string[]): AddressCheck | undefined =>
  ranges.length === 0 ? undefined : addressCheck(ranges)

/** Whether it is an address, or a network that is not everything. */
export function isRange(range: string): boolean {
  const [address = '', prefix, ...more] = range.split('/')
  const longest = { 4: 32, 6: 128 }[isIP(address)]
  // An IPv6 zone is meaningful only on this machine; a prefix of 0 bits would be everybody.
  if (longest === undefined || address.includes('%') || more.length > 0) return false
  if (prefix === undefined) return true
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= longest
}
