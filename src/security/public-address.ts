/** Which addresses the public internet has: the only ones that may be reached on a user's word. */
import { BlockList, isIP } from 'node:net'

/** The IANA special-purpose registry for IPv4, and what is reserved. */
const special4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const

/** Within 2000::/3, outside of which nothing is public: documentation, tunnels to IPv4, benchmarks. */
const special6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const blocked = new BlockList()
for (const [network, prefix] of special4) blocked.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of special6) blocked.addSubnet(network, prefix, 'ipv6')

const global6 = new BlockList()
global6.addSubnet('2000::', 3, 'ipv6')

/** False for everything that is no address in its plain notation, mapped IPv4 and zones included. */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false
  switch (isIP(address)) {
    case 4:
      return !blocked.check(address, 'ipv4')
    case 6:
      return global6.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
    default:
      return false
  }
}
