/** The chats of messages: for private chats and small groups, deletions name only the message's id. */
import type { Logger, Owned } from '../../../../actors/ports/ports.ts'
import type { Queryable } from '../../../database/database.ts'
import { arrayLiteral, SharedStatements, WriteBuffer } from '../../../database/write-behind.ts'

export interface MessageLocation {
  readonly message: number
  readonly chat: number
}

/** SQL: whether the owner with the epoch `$2` still owns the account `$1`. */
export const isOwned = 'not exists (select from credential where id = $1 and epoch <> $2)'

interface NewLocation {
  readonly owned: Owned
  readonly location: MessageLocation
}

/** One for all accounts. */
export interface LocationWrites {
  /** Callers wait for these: those that arrive during a write share the next one. */
  readonly awaited: SharedStatements<readonly NewLocation[], undefined>
  /** For these nobody waits but the checkpoint behind them. */
  readonly noted: WriteBuffer<NewLocation>
}

/** Callers whose locations are stored with one statement. */
const MOST_TOGETHER = 500
const NOTED_MS = 50
/** Kept while the database is away. */
const MOST_NOTED = 20_000

/** Rows are written in one order, so that two statements cannot deadlock. */
const insertion = {
  name: 'telegram-message',
  text: `insert into telegram_message (credential_id, message_id, chat_id)
         select n.credential_id, n.message_id, n.chat_id
           from unnest($1::bigint[], $2::bigint[], $3::integer[], $4::bigint[])
                  as n (credential_id, epoch, message_id, chat_id)
          where not exists (select from credential c
                             where c.id = n.credential_id and c.epoch <> n.epoch)
          order by n.credential_id, n.message_id
         on conflict (credential_id, message_id) do nothing`,
}

export function locationWrites(db: Queryable, logger: Logger): LocationWrites {
  const awaited: LocationWrites['awaited'] = new SharedStatements({
    most: MOST_TOGETHER,
    // Updates of many accounts come in the same turn.
    isGathered: true,
    ownerOf: ([first]) => first?.owned.credentialId ?? Number.NaN,
    async run(all) {
      const rows = all.flat()
      await db.query(insertion, [
        arrayLiteral(rows.map(({ owned }) => owned.credentialId)),
        arrayLiteral(rows.map(({ owned }) => owned.epoch)),
        arrayLiteral(rows.map(({ location }) => location.message)),
        arrayLiteral(rows.map(({ location }) => location.chat)),
      ])
      return all.map(() => undefined)
    },
  })
  return {
    awaited,
    noted: new WriteBuffer({
      everyMs: NOTED_MS,
      capacity: MOST_NOTED,
      rows: 'places of sent messages',
      logger,
      // They share a statement, unless a row of one account is locked: then those of the others are stored all the same.
      async write(rows) {
        const owners = Map.groupBy(rows, ({ owned }) => owned.credentialId)
        const writes = await Promise.allSettled([...owners.values()].map((own) => awaited.run(own)))
        for (const write of writes) if (write.status === 'rejected') throw write.reason
      },
    }),
  }
}

interface LocationParts {
  readonly db: Queryable
  readonly locationWrites: LocationWrites
  /** Gets the error if locations could not be stored. */
  unnoted(cause: unknown): void
}

export class MessageLocations {
  readonly #owned: Owned
  readonly #parts: LocationParts
  #hasNoted = false

  constructor({ credentialId, epoch }: Owned, parts: LocationParts) {
    this.#owned = { credentialId, epoch }
    this.#parts = parts
  }

  /**
   * Notes the locations of sent messages, which are stored a moment later: until a checkpoint covers a message, the network
   * tells it again, and a checkpoint waits for `written`.
   */
  note(locations: readonly MessageLocation[]): void {
    const owned = this.#owned
    for (const location of locations) this.#parts.locationWrites.noted.add({ owned, location })
    this.#hasNoted ||= locations.length > 0
  }

  /** Resolves once what was noted is stored, or is kept while the database is away. */
  async written(): Promise<void> {
    if (!this.#hasNoted) return
    this.#hasNoted = false
    const { noted } = this.#parts.locationWrites
    await noted.flush()
    // The next owner needs what is kept: its write is tried again before this one ends.
    this.#hasNoted ||= noted.size > 0
  }

  /** Stores the locations of messages that were read. A failure is only logged: nothing else needs them. */
  async store(locations: readonly MessageLocation[]): Promise<void> {
    await this.remember(locations).catch(this.#parts.unnoted)
  }

  async remember(locations: readonly MessageLocation[]): Promise<void> {
    if (locations.length === 0) return
    const owned = this.#owned
    await this.#parts.locationWrites.awaited.run(locations.map((location) => ({ owned, location })))
  }

  async find(messages: readonly number[]): Promise<MessageLocation[]> {
    await this.#parts.locationWrites.noted.flush()
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
