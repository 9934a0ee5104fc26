/** Who asks for a code or tries one, as far as the limits of a phone care: a network, and whether the phone knows it. */
import type { Queryable } from '../database/database.ts'
import { networksOf } from './client.ts'

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
