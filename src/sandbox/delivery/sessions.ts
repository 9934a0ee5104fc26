/** The stored sessions of linked devices. A link begins one; a sign-out, a revocation or another client ends it. */
import { createHash, randomBytes } from 'node:crypto'
import type { Queryable } from '../../database/database.ts'
import { sharedLookup } from '../../database/write-behind.ts'
import type { Faults } from './faults.ts'

export interface SessionRecord {
  /** In hexadecimal digits. */
  readonly token_hash: string
  readonly session: number
  /** The number of the last event that the session has stored. */
  readonly acknowledged: number
  readonly ended: 'revoked' | 'replaced' | 'signed_out' | null
  /** The person. */
  readonly id: number
  /** The user whose network the person is in. */
  readonly network: number
  readonly phone: string
  readonly username: string | null
  readonly first_name: string
  readonly last_name: string | null
  readonly banned: boolean
  readonly deactivated: boolean
  readonly faults: Faults
  /** The number of the last event that was queued for the person. */
  readonly events: number
}

export const newToken = () => `sbx_${randomBytes(32).toString('base64url')}`

export const hashToken = (token: string) => createHash('sha256').update(token).digest()

/** Resolves with the token. The database keeps only its hash. */
export async function beginSession(db: Queryable, person: number): Promise<string> {
  const token = newToken()
  await db.query(
    `with linked as (
       update sandbox_person set sessions = sessions + 1 where id = $1 returning id, events
     )
     insert into sandbox_session (person_id, token_hash, acknowledged)
     select id, $2, events from linked`,
    [person, hashToken(token)],
  )
  return token
}

const finding = {
  name: 'sandbox_open',
  text: `select encode(s.token_hash, 'hex') as token_hash, s.id as session, s.acknowledged, s.ended, p.id, p.user_id as network, p.phone, p.username, p.first_name,
      p.last_name, p.banned, p.deactivated, p.faults, p.events
    from sandbox_session s join sandbox_person p on p.id = s.person_id
    where s.token_hash = any($1::bytea[])`,
}

const AT_ONCE = 200

/** Finds sessions by the hexadecimal hashes of their tokens; a start opens all of them. */
export const findSessions = (db: Queryable) =>
  sharedLookup(
    AT_ONCE,
    (hashes: readonly string[]) =>
      db.query<SessionRecord>(finding, [hashes.map((hash) => Buffer.from(hash, 'hex'))]),
    (row) => row.token_hash,
  )

/** Ends one session of the person, or all of them. */
export async function endSessions(
  db: Queryable,
  person: number,
  how: 'revoked' | 'replaced' | 'signed_out',
  session?: number,
): Promise<void> {
  await db.query(
    `with ended as (
       update sandbox_session set ended = $2
       where person_id = $1 and ended is null and ($3::bigint is null or id = $3)
       returning id
     )
     update sandbox_person set sessions = sessions - (select count(*) from ended) where id = $1`,
    [person, how, session ?? null],
  )
}
