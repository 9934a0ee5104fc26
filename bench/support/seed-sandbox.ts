/** People of the sandbox with a linked device each. */
import { hashToken, newToken } from '../../src/sandbox/delivery/sessions.ts'
import { seedCredentials } from './seed.ts'
import type { Stage } from './stage.ts'

export interface LinkedPeople {
  readonly people: readonly number[]
  readonly credentialIds: readonly number[]
}

/** `count` people without a device. */
export async function seedPeople({ sql }: Stage, userId: number, count: number): Promise<number[]> {
  const { rows } = await sql.query(
    `insert into sandbox_person (id, phone, first_name, user_id)
     select id, '+8889' || lpad(id::text, 9, '0'), 'Person ' || id, $2
       from (select nextval('sandbox_person_id') as id from generate_series(1, $1)) as p
     returning id`,
    [count, userId],
  )
  return rows.map(({ id }) => id)
}

export async function seedLinked(
  stage: Stage,
  userId: number,
  count: number,
): Promise<LinkedPeople> {
  const people = await seedPeople(stage, userId, count)
  const tokens = people.map(newToken)
  await stage.sql.query(
    `with linked as (
       insert into sandbox_session (person_id, token_hash, acknowledged)
       select person, hash, 0 from unnest($1::bigint[], $2::bytea[]) as s (person, hash)
       returning person_id
     )
     update sandbox_person p set sessions = 1 from linked where p.id = linked.person_id`,
    [people, tokens.map(hashToken)],
  )
  const accounts = people.map((id, index) => ({
    native: `${id}`,
    firstName: `Person ${id}`,
    phone: `+8889${String(id).padStart(9, '0')}`,
    secrets: { token: tokens[index] },
  }))
  return { people, credentialIds: await seedCredentials(stage, userId, 'sandbox', accounts) }
}
