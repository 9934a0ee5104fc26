/** The client of a request: its network, and whether the owner of a phone has signed in from there. */

import { isIPv6 } from 'node:net'
import type { Queryable } from '../database/database.ts'

/** The client that requests or tries a code, for the limits of a phone. */
export interface Requester {
  readonly ip: string
  /** An IPv4 address or an IPv6 /64. */
  readonly network: string
  /**
   * Whether the owner of the phone has signed in from there within a month. Such a network has codes and failures of
   * its own: what strangers use up is not the owner's.
   */
  readonly isKnown: boolean
}

const addresses = `
  select distinct ip from user_session join app_user on app_user.id = user_id
  where phone_index = $1 and ip is not null`

export async function requesterOf(db: Queryable, phone: Buffer, ip: string): Promise<Requester> {
  const network = networksOf(ip).narrow
  const rows = await db.query<{ ip: string }>(addresses, [phone])
  return { ip, network, isKnown: rows.some((row) => networksOf(row.ip).narrow === network) }
}

export interface RequestClient {
  readonly ip: string
  readonly userAgent?: string | undefined
  readonly requestId?: string | undefined
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

/** The four leading groups in a normal form, equal for every spelling of an address. */
function groupsOf(ip: string): readonly string[] {
  const [head = '', tail] = ip.split('%')[0]!.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  // A dotted end stands for two groups.
  const length = left.length + right.length + (ip.includes('.') ? 1 : 0)
  const middle = tail === undefined ? [] : Array<string>(Math.max(0, 8 - length)).fill('0')
  return [...left, ...middle, ...right].map((group) => Number.parseInt(group, 16).toString(16))
}
