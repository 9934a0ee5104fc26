/** Who a session token belongs to, and whether it still opens anything. */

import type { AccountIdentity, Json } from '../../../actors/ports/platform.ts'
import type { Queryable } from '../../database/database.ts'
import type { Faults } from '../../sandbox/people/faults.ts'
import { hashToken } from '../../sandbox/people/secrets.ts'
import type { Ending } from '../kit/session-life.ts'

interface Row {
  readonly session: number
  readonly acknowledged: number
  readonly ended: string | null
  readonly id: number
  readonly network: number
  readonly phone: string
  readonly username: string | null
  readonly first_name: string
  readonly last_name: string | null
  readonly banned: boolean
  readonly deactivated: boolean
  readonly faults: Faults
  readonly events: number
}

export type Opening =
  | Ending
  | {
      readonly kind: 'open'
      readonly session: number
      readonly person: number
      /** The user whose network the person is in. */
      readonly network: number
      readonly acknowledged: number
      readonly events: number
      readonly faults: Faults
      readonly identity: AccountIdentity
    }

const lookup = {
  name: 'sandbox_open',
  text: `select s.id as session, s.acknowledged, s.ended, p.id, p.user_id as network, p.phone, p.username, p.first_name,
      p.last_name, p.banned, p.deactivated, p.faults, p.events
    from sandbox_session s join sandbox_person p on p.id = s.person_id
    where s.token_hash = $1`,
}

export async function lookUpSession(db: Queryable, secrets: Json): Promise<Opening> {
  const token = tokenOf(secrets)
  if (token === undefined) return { kind: 'invalid', reason: 'secrets_unreadable' }
  const [row] = await db.query<Row>(lookup, [hashToken(token)])
  if (!row) return { kind: 'revoked', reason: 'session_revoked' }
  if (row.banned) return { kind: 'invalid', reason: 'account_banned' }
  if (row.deactivated) return { kind: 'invalid', reason: 'account_deleted' }
  if (row.ended === 'replaced') return { kind: 'replaced' }
  if (row.ended !== null) return { kind: 'revoked', reason: 'session_revoked' }
  const { session, network, acknowledged, events, faults } = row
  const identity = identityOf(row)
  return { kind: 'open', session, person: row.id, network, acknowledged, events, faults, identity }
}

export function identityOf(row: {
  readonly id: number
  readonly phone: string
  readonly username: string | null
  readonly first_name: string
  readonly last_name: string | null
}): AccountIdentity {
  return {
    native: String(row.id),
    firstName: row.first_name,
    phone: row.phone,
    ...(row.last_name !== null && { lastName: row.last_name }),
    ...(row.username !== null && { username: row.username }),
  }
}

function tokenOf(secrets: Json): string | undefined {
  if (typeof secrets !== 'object' || secrets === null || !('token' in secrets)) return undefined
  return typeof secrets.token === 'string' ? secrets.token : undefined
}
