/** What clients say of their bot, kept by the gateway because no network keeps it. */
import type { Json } from '../../actors/ports/platform.ts'
import type { Database } from '../database/database.ts'

export interface ProfileStore {
  read(credentialId: number, name: string): Promise<Json | undefined>
  write(credentialId: number, name: string, value: Json): Promise<void>
  remove(credentialId: number, name: string): Promise<void>
}

/** The database stores no U+0000 and no half of a character. */
const storable = (_: string, value: unknown) =>
  typeof value === 'string' ? value.replaceAll('\0', ' ').toWellFormed() : value

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
