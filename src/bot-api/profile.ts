/** getMe, and the names, descriptions and commands that the gateway keeps for a bot. */
import type { AccountIdentity, Json, Platform } from '../../actors/ports/platform.ts'
import type { CredentialFacts } from '../../actors/ports/ports.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'

export interface ProfileStore {
  read(credentialId: number, name: string): Promise<Json | undefined>
  write(credentialId: number, name: string, value: Json): Promise<void>
  remove(credentialId: number, name: string): Promise<void>
}

/** The database stores no U+0000 and no half of a character. */
const storable = (_: string, value: unknown) =>
  typeof value === 'string' ? value.replaceAll('\0', ' ').toWellFormed() : value

/** What clients say of their bot, kept by the gateway because no network keeps it. */
export const profileStore = (db: Database): ProfileStore => ({
  async read(credentialId, name) {
    const [row] = await db.query<{ value: Json }>(
      'select value from bot_profile where credential_id = $1 and name = $2',
      [credentialId, name],
    )
    return row?.value
  },
  async write(credentialId, name, value) {
    await db.query(
      `insert into bot_profile (credential_id, name, value) values ($1, $2, $3)
        on conflict (credential_id, name) do update set value = excluded.value`,
      [credentialId, name, JSON.stringify(value, storable)],
    )
  },
  async remove(credentialId, name) {
    await db.query('delete from bot_profile where credential_id = $1 and name = $2', [
      credentialId,
      name,
    ])
  },
})

interface IdentitySource {
  identity(credentialId: number): Promise<AccountIdentity | undefined>
}

interface AccountIds {
  idOf(credentialId: number, native: string, facts: CredentialFacts | undefined): Promise<number>
}

interface RunningCredentials {
  platformOf(credentialId: number): Promise<Platform>
  factsOf(credentialId: number): CredentialFacts | undefined
}

/** Reads the account of a credential as getMe shows it. */
export const profiles =
  (store: IdentitySource, ids: AccountIds, credentials: RunningCredentials) =>
  async (credentialId: number): Promise<Json> =>
    profileOf(
      await store.identity(credentialId),
      await credentials.platformOf(credentialId),
      (native) => ids.idOf(credentialId, native, credentials.factsOf(credentialId)),
    )

/** `accountId` is the integer that stands for the account in this credential's chats. */
async function profileOf(
  identity: AccountIdentity | undefined,
  { capabilities }: Pick<Platform, 'capabilities'>,
  accountId: (native: string) => Promise<number>,
): Promise<Json> {
  if (!identity) throw failed('unauthorized')
  const { native, firstName, lastName, username } = identity
  const id = await accountId(native)
  return {
    id,
    is_bot: true,
    first_name: firstName,
    ...(lastName !== undefined && { last_name: lastName }),
    username: username ?? `user${id}`,
    can_join_groups: true,
    can_read_all_group_messages: true,
    can_connect_to_business: capabilities.operations.includes('for_business'),
    supports_inline_queries: capabilities.operations.includes('answer_inline'),
    supports_guest_queries: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  }
}
