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

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** An IPv4 address counts in either spelling, as `192.0.2.1` and as `::ffff:192.0.2.1`. */
export function addressCheck(ranges: readonly string[] | false): AddressCheck {
  const listed = new BlockList()
  for (const range of ranges || []) {
    const [address = '', prefix] = range.split('/')
    if (prefix === undefined) listed.addAddress(address, familyOf(address))
    else listed.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (address) => isIP(address) > 0 && listed.check(address, familyOf(address))
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
