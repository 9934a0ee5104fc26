/** Users, credentials and keys, put into the tables as linking and the management API would leave them. */
import { randomBytes } from 'node:crypto'
import { secretsOf } from '../../src/credentials/identity.ts'
import { formatApiKey, hashSecret, newApiKeySecret } from '../../src/security/secrets.ts'
import type { Stage } from './stage.ts'

export const FIRST_UPDATE = 5_000_001
const SEALED_AT_ONCE = 20

export async function seedUser({ sql }: Stage): Promise<number> {
  const { rows } = await sql.query(
    'insert into app_user (phone_index, phone_sealed) values ($1, $2) returning id',
    [randomBytes(32), randomBytes(64)],
  )
  return rows[0].id
}

export interface SeedAccount {
  readonly native: string
  readonly firstName: string
  readonly phone?: string
  readonly secrets: object
  /** Whose data key seals the secrets; each credential's own unless given. */
  readonly owner?: string
}

export async function seedCredentials(
  { sql, vault }: Stage,
  userId: number,
  platform: string,
  accounts: readonly SeedAccount[],
): Promise<number[]> {
  const { rows } = await sql.query(
    `select nextval('credential_id_seq') as id from generate_series(1, $1)`,
    [accounts.length],
  )
  const ids: number[] = rows.map((row) => row.id)
  const sealed: Buffer[] = []
  for (let at = 0; at < accounts.length; at += SEALED_AT_ONCE) {
    const some = accounts.slice(at, at + SEALED_AT_ONCE)
    const seals = some.map(({ secrets, owner }, index) => {
      const id = ids[at + index] ?? 0
      const text = Buffer.from(JSON.stringify(secrets))
      return vault.seal(owner ?? `credential:${id}`, secretsOf(id), text)
    })
    sealed.push(...(await Promise.all(seals)))
  }
  const identities = accounts.map(({ native, firstName, phone }) =>
    JSON.stringify({ native, firstName, ...(phone !== undefined && { phone }) }),
  )
  await sql.query(
    `with linked as (
       insert into credential (id, user_id, platform, native_id, account, secrets)
       select id, $1, $2, account->>'native', account, secrets
         from unnest($3::bigint[], $4::jsonb[], $5::bytea[]) as c (id, account, secrets)
       returning id
     )
     insert into credential_log (credential_id, next_update_id) select id, ${FIRST_UPDATE} from linked`,
    [userId, platform, ids, identities, sealed],
  )
  return ids
}

/** Credentials of the network that says what it is told to. */
export const seedChatter = (stage: Stage, userId: number, count: number) =>
  seedCredentials(
    stage,
    userId,
    'chatter',
    Array.from({ length: count }, (_, index) => ({
      native: `${index + 1}`,
      firstName: `Account ${index + 1}`,
      secrets: {},
      owner: 'bench',
    })),
  )

/** So many keys for each credential; resolves with the keys in the order of the credentials. */
export async function seedKeys(
  { sql }: Stage,
  userId: number,
  credentialIds: readonly number[],
  each = 1,
): Promise<string[]> {
  const owners = credentialIds.flatMap((id) => Array<number>(each).fill(id))
  const secrets = owners.map(newApiKeySecret)
  const { rows } = await sql.query(
    `insert into api_key (user_id, credential_id, name, scopes, secret_hash, key_hint, cursor)
     select $1, k.credential_id, 'bench', '{bot:send,bot:receive}', k.hash, '…', ${FIRST_UPDATE - 1}
       from unnest($2::bigint[], $3::bytea[]) with ordinality as k (credential_id, hash, place)
      order by k.place returning id`,
    [userId, owners, secrets.map(hashSecret)],
  )
  return rows.map(({ id }, index) => formatApiKey({ id, secret: secrets[index] ?? '' }))
}
