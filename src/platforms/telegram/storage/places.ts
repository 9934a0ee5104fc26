/** In which chat a message is: of private chats and small groups the network tells only the message's id. */
import type { Queryable } from '../../../database/database.ts'

export interface Place {
  readonly message: number
  readonly chat: number
}

export class Places {
  readonly #db: Queryable
  readonly #credentialId: number
  readonly #unnoted: (cause: unknown) => void

  /** `unnoted` is told why places could not be noted. */
  constructor(db: Queryable, credentialId: number, unnoted: (cause: unknown) => void) {
    this.#db = db
    this.#credentialId = credentialId
    this.#unnoted = unnoted
  }

  /** Of what was sent: it is sent, whether its place is remembered or not. */
  async note(places: readonly Place[]): Promise<void> {
    await this.remember(places).catch(this.#unnoted)
  }

  async remember(places: readonly Place[]): Promise<void> {
    if (places.length === 0) return
    await this.#db.query(
      `insert into telegram_message (credential_id, message_id, chat_id)
       select $1, * from unnest($2::integer[], $3::bigint[])
       on conflict (credential_id, message_id) do nothing`,
      [this.#credentialId, places.map(({ message }) => message), places.map(({ chat }) => chat)],
    )
  }

  async find(messages: readonly number[]): Promise<Place[]> {
    return this.#db.query<Place>(
      `select message_id as message, chat_id as chat from telegram_message
        where credential_id = $1 and message_id = any($2)`,
      [this.#credentialId, messages],
    )
  }
}

export const TABLES = ['telegram_message', 'telegram_reference', 'telegram_peer']

/** Everything that is stored about an account besides its events. */
export async function forgetAccount(db: Queryable, credentialId: number): Promise<void> {
  for (const table of TABLES) {
    await db.query(`delete from ${table} where credential_id = $1`, [credentialId])
  }
}
