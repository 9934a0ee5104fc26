/** The proxies trusted to name the client's address: single addresses and networks in CIDR notation. */
import { BlockList, isIP } from 'node:net'
import { ConfigurationError } from './environment.ts'

export function proxiesFrom(list: string): string[] {
  const ranges = list.split(',').map((range) => range.trim())
  if (ranges.every(isRange)) return ranges
  throw new ConfigurationError('TRUST_PROXY must be a list of IP addresses and CIDR ranges')
}

/** Whether a connection comes from one of them. */
export function proxyCheck(ranges: readonly string[] | false): (address: string) => boolean {
  const proxies = new BlockList()
  const family = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
  for (const range of ranges || []) {
    const [address = '', prefix] = range.split('/')
    if (prefix === undefined) proxies.addAddress(address, family(address))
    else proxies.addSubnet(address, Number(prefix), family(address))
  }
  return (address) => isIP(address) > 0 && proxies.check(address, family(address))
}

function isRange(range: string): boolean {
  const [address = '', prefix, ...more] = range.split('/')
  const longest = { 4: 32, 6: 128 }[isIP(address)]
  // An IPv6 zone is meaningful only on this machine; a prefix of 0 bits would trust everybody.
  if (longest === undefined || address.includes('%') || more.length > 0) return false
  if (prefix === undefined) return true
  return /^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= longest
}
