/** The chats of messages: for private chats and small groups, deletions name only the message's id. */
import type { Owned } from '../../../../actors/ports/ports.ts'
import type { Queryable } from '../../../database/database.ts'
import { arrayLiteral, SharedStatements } from '../../../database/write-behind.ts'

export interface MessageLocation {
  readonly message: number
  readonly chat: number
}

/** SQL: whether the owner with the epoch `$2` still owns the account `$1`. */
export const isOwned = 'not exists (select from credential where id = $1 and epoch <> $2)'

interface NewLocations {
  readonly owned: Owned
  readonly locations: readonly MessageLocation[]
}

/** One for all accounts: locations that arrive during a write share the next one. */
export type LocationWrites = SharedStatements<NewLocations, undefined>

/** Callers whose locations are stored with one statement. */
const MOST_TOGETHER = 500

const insertion = {
  name: 'telegram-message',
  text: `insert into telegram_message (credential_id, message_id, chat_id)
         select n.credential_id, n.message_id, n.chat_id
           from unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[])
                  as n (credential_id, epoch, message_id, chat_id)
          where not exists (select from credential c
                             where c.id = n.credential_id and c.epoch <> n.epoch)
         on conflict (credential_id, message_id) do nothing`,
}

export const locationWrites = (db: Queryable): LocationWrites =>
  new SharedStatements({
    most: MOST_TOGETHER,
    // The network answers requests that came together at the same moment.
    isGathered: true,
    ownerOf: ({ owned }) => owned.credentialId,
    async run(all) {
      const rows = all.flatMap(({ owned, locations }) =>
        locations.map((location) => ({ owned, location })),
      )
      await db.query(insertion, [
        arrayLiteral(rows.map(({ owned }) => owned.credentialId)),
        arrayLiteral(rows.map(({ owned }) => owned.epoch)),
        arrayLiteral(rows.map(({ location }) => location.message)),
        arrayLiteral(rows.map(({ location }) => location.chat)),
      ])
      return all.map(() => undefined)
    },
  })

interface LocationParts {
  readonly db: Queryable
  readonly locationWrites: LocationWrites
  /** Gets the error if locations could not be stored. */
  unnoted(cause: unknown): void
}

export class MessageLocations {
  readonly #owned: Owned
  readonly #parts: LocationParts

  constructor({ credentialId, epoch }: Owned, parts: LocationParts) {
    this.#owned = { credentialId, epoch }
    this.#parts = parts
  }

  /** Stores the locations of sent messages. A failure is only logged, because the messages are sent already. */
  async note(locations: readonly MessageLocation[]): Promise<void> {
    await this.remember(locations).catch(this.#parts.unnoted)
  }

  async remember(locations: readonly MessageLocation[]): Promise<void> {
    if (locations.length > 0)
      await this.#parts.locationWrites.run({ owned: this.#owned, locations })
  }

  async find(messages: readonly number[]): Promise<MessageLocation[]> {
    return this.#parts.db.query<MessageLocation>(
      `select message_id as message, chat_id as chat from telegram_message
        where credential_id = $1 and message_id = any($2)`,
      [this.#owned.credentialId, messages],
    )
  }
}

const TABLES = ['telegram_message', 'telegram_reference', 'telegram_peer']

/** Removes the data of an account besides its updates once it is being deleted: linked anew, it goes on with them. */
export async function forgetAccount(db: Queryable, { credentialId, epoch }: Owned): Promise<void> {
  const isDeleted = 'exists (select from credential where id = $1 and deleting_at is not null)'
  for (const table of TABLES) {
    await db.query(
      `delete from ${table} where credential_id = $1 and ${isOwned} and ${isDeleted}`,
      [credentialId, epoch],
    )
  }
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

/** Removes locations of messages older than the log keeps updates, and everything of accounts that are deactivated. */
export async function retainTelegram(db: Queryable, days: number): Promise<void> {
  await db.query(`delete from telegram_message where at < now() - make_interval(days => $1)`, [
    days,
  ])
  for (const table of TABLES) {
    await db.query(
      `delete from ${table} using credential
        where credential.id = ${table}.credential_id and credential.deactivated_at is not null`,
    )
  }
}
