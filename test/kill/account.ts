/** A linked account and a key that receives, as linking and creating one leave them in the database. */
import { randomInt } from 'node:crypto'
import type { Json } from '../../machines/model/protocol.ts'
import { sealSecrets } from '../../src/credentials/identity.ts'
import type { Database } from '../../src/database/database.ts'
import { createKey } from '../../src/keys/changes.ts'
import type { Vault } from '../../src/security/vault.ts'

export interface Linked {
  readonly platform: string
  readonly secrets: Json
}

/** Resolves with the key. */
export async function linkedAccount(
  db: Database,
  vault: Vault,
  name: string,
  linked: Linked = { platform: 'spool', secrets: null },
): Promise<string> {
  const [row] = await db.query<{ user_id: number; credential_id: number }>(
    `with owner as (
       insert into app_user (phone_index, phone_sealed) values ($1, '') returning id
     ), linked as (
       insert into credential (user_id, platform, native_id, account)
       select id, $5, $2, $3 from owner returning id, user_id
     ), log as (
       insert into credential_log (credential_id, next_update_id) select id, $4 from linked
     )
     select user_id, id as credential_id from linked`,
    [
      Buffer.from(name),
      name,
      JSON.stringify({ native: name, firstName: name }),
      randomInt(2_000_001, 1_000_000_000),
      linked.platform,
    ],
  )
  if (!row) throw new Error('nothing was inserted')
  const { user_id: userId, credential_id: credentialId } = row
  const secrets = await sealSecrets(vault, credentialId, linked.secrets)
  await db.query('update credential set secrets = $2 where id = $1', [credentialId, secrets])
  const scopes = ['bot:receive', 'bot:send']
  const limits = { perCredential: 1_000, perUser: 1_000 }
  const key = { userId, credentialId, name, scopes, expiresAt: undefined }
  return (await createKey(db, key, limits)).key
}
