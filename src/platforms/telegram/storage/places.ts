/** The chats of messages: for private chats and small groups, deletions name only the message's id. */
import type { Owned } from '../../../../actors/ports/ports.ts'
import type { Queryable } from '../../../database/database.ts'

export interface MessageLocation {
  readonly message: number
  readonly chat: number
}

/** SQL: whether the owner with the epoch `$2` still owns the account `$1`. */
export const isOwned = 'not exists (select from credential where id = $1 and epoch <> $2)'

export class MessageLocations {
  readonly #db: Queryable
  readonly #owned: Owned
  readonly #unnoted: (cause: unknown) => void

  /** `unnoted` gets the error if places could not be stored. */
  constructor(db: Queryable, owned: Owned, unnoted: (cause: unknown) => void) {
    this.#db = db
    this.#owned = owned
    this.#unnoted = unnoted
  }

  /** Stores the places of sent messages. A failure is only logged, because the messages are sent already. */
  async note(places: readonly MessageLocation[]): Promise<void> {
    await this.remember(places).catch(this.#unnoted)
  }

  async remember(places: readonly MessageLocation[]): Promise<void> {
    if (places.length === 0) return
    await this.#db.query(
      `insert into telegram_message (credential_id, message_id, chat_id)
       select $1, * from unnest($3::integer[], $4::bigint[]) where ${isOwned}
       on conflict (credential_id, message_id) do nothing`,
      [
        this.#owned.credentialId,
        this.#owned.epoch,
        places.map(({ message }) => message),
        places.map(({ chat }) => chat),
      ],
    )
  }

  async find(messages: readonly number[]): Promise<MessageLocation[]> {
    return this.#db.query<MessageLocation>(
      `select message_id as message, chat_id as chat from telegram_message
        where credential_id = $1 and message_id = any($2)`,
      [this.#owned.credentialId, messages],
    )
  }
}

export const TABLES = ['telegram_message', 'telegram_reference', 'telegram_peer']

/** The tables with data of an account besides its updates. */
export async function forgetAccount(db: Queryable, owned: Owned): Promise<void> {
  for (const table of TABLES) await forgetIn(db, table, owned)
}

export async function forgetIn(
  db: Queryable,
  table: string,
  { credentialId, epoch }: Owned,
): Promise<void> {
  await db.query(`delete from ${table} where credential_id = $1 and ${isOwned}`, [
    credentialId,
    epoch,
  ])
}
