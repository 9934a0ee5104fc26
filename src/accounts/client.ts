/** Who is asking, as far as the network tells. */
import { isIPv6 } from 'node:net'

export interface Client {
  readonly ip: string
  readonly userAgent?: string | undefined
}

/** The networks that share a client's limits; a subscriber of IPv6 owns at least a /64. */
export function networksOf(ip: string): { readonly narrow: string; readonly wide?: string } {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1]
  if (mapped || !isIPv6(ip)) return { narrow: mapped ?? ip }
  const groups = groupsOf(ip)
  return {
    narrow: `${groups.slice(0, 4).join(':')}/64`,
    wide: `${groups.slice(0, 3).join(':')}/48`,
  }
}

/** The four leading groups, in the one form they have in every spelling of an address. */
function groupsOf(ip: string): readonly string[] {
  const [head = '', tail] = ip.split('%')[0]!.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  // A dotted end stands for two groups.
  const length = left.length + right.length + (ip.includes('.') ? 1 : 0)
  const middle = tail === undefined ? [] : Array<string>(Math.max(0, 8 - length)).fill('0')
  return [...left, ...middle, ...right].map((group) => Number.parseInt(group, 16).toString(16))
}
