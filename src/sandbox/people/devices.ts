/** The sessions linked to a person: begun by a link, ended by a sign-out, a revocation or another client. */
import type { Queryable } from '../../database/database.ts'
import { hashToken, newToken } from './secrets.ts'

/** Resolves with the token, which is kept nowhere else. */
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
