/** Native ids, the integers that stand for them, and the rows that keep both. */
import type { Owned } from '../../actors/ports/ports.ts'
import type { Surface } from '../../machines/model/content.ts'
import { OwnershipLost } from '../../machines/model/failure.ts'
import type { Database, Queryable } from '../database/database.ts'
import { despiteRace } from '../database/failures.ts'

export interface NewChat {
  readonly native: string
  readonly chatId: number
}

export interface NewMessage extends NewChat {
  readonly messageId: number
  /** Written by the account itself. */
  readonly own: boolean
}

/** The native ids in one event or result. */
export interface WantedIds {
  readonly chats: ReadonlyMap<string, Surface>
  /** Messages by their chat; each gets an integer if it has none yet. */
  readonly messages: ReadonlyMap<string, ReadonlySet<string>>
  /** Native ids of the messages that the account wrote itself. */
  readonly own: ReadonlySet<string>
  /** Messages that are only mentioned get no integer: an old message must not get a new, higher number. */
  readonly mentioned: ReadonlyMap<string, ReadonlySet<string>>
}

export interface Ids {
  chat(native: string): number
  /** Undefined for a message that is only mentioned and is unknown. */
  message(chat: string, native: string): number | undefined
  /** Whether the account wrote the message; undefined for networks whose ids are integers already. */
  isOwn(chat: string, native: string): boolean | undefined
}

export interface GivenIds extends Ids {
  readonly newChats: readonly NewChat[]
  readonly newMessages: readonly NewMessage[]
  /** To be called once the new ids are committed. */
  stored(): void
}

const AT_ONCE = 5_000

/** The lateral join uses the index for each account, however large the table is. */
const forget = `
  delete from message_identity m
   using (
     select its.* from credential c
      cross join lateral (
        select credential_id, chat_id, message_id from message_identity
         where credential_id = c.id limit ${AT_ONCE}) its
      where c.deactivated_at is not null limit ${AT_ONCE}) gone
   where m.credential_id = gone.credential_id and m.chat_id = gone.chat_id
     and m.message_id = gone.message_id
  returning 1`

/** Deletes the message ids of deleted accounts: no key is left that could use them. */
export async function forgetMessages(db: Queryable): Promise<void> {
  let removed = AT_ONCE
  while (removed === AT_ONCE) removed = (await db.query(forget)).length
}

/**
 * Two writers that store the same pair at the same time both succeed. The statement fails for a native id that has
 * another integer already, and for an integer that stands for another native id: an update must not name a wrong message.
 */
export const unlessSame = {
  chat: `on conflict (credential_id, native) do update set native = null
      where chat_identity.chat_id <> excluded.chat_id`,
  message: `on conflict (credential_id, native, chat_id) do update set native = null
      where message_identity.message_id <> excluded.message_id`,
}

export async function findChats(
  db: Database,
  credentialId: number,
  natives: readonly string[],
): Promise<NewChat[]> {
  return db.query<NewChat>(
    `select native, chat_id as "chatId" from chat_identity
      where credential_id = $1 and native = any($2)`,
    [credentialId, natives],
  )
}

export async function findMessages(
  db: Database,
  credentialId: number,
  natives: readonly string[],
): Promise<NewMessage[]> {
  return db.query<NewMessage>(
    `select native, chat_id as "chatId", message_id as "messageId", own from message_identity
      where credential_id = $1 and native = any($2)`,
    [credentialId, natives],
  )
}

export async function newestMessage(
  db: Database,
  credentialId: number,
  chatId: number,
): Promise<number> {
  const [row] = await db.query<{ newest: number | null }>(
    `select max(message_id) as newest from message_identity
      where credential_id = $1 and chat_id = $2`,
    [credentialId, chatId],
  )
  return row?.newest ?? 0
}

export async function nextChatNumber(db: Database): Promise<number> {
  const [row] = await db.query<{ number: number }>(`select nextval('chat_number') as number`)
  if (!row) throw new Error('the sequence gave no number')
  return row.number
}

/** The id of a person, given now if they have none; for a reader that does not own the credential. */
export async function personId(
  db: Database,
  credentialId: number,
  native: string,
): Promise<number> {
  for (;;) {
    const [row] = await db.query<{ chat_id: number }>(
      `with given as (
         insert into chat_identity (credential_id, native, chat_id)
         select id, $2, nextval('chat_number') from credential
          where id = $1 and not exists (
            select from chat_identity where credential_id = $1 and native = $2)
         on conflict (credential_id, native) do nothing
         returning chat_id
       )
       select chat_id from given
       union all
       select chat_id from chat_identity where credential_id = $1 and native = $2`,
      [credentialId, native],
    )
    // No row: another writer gave the id while the statement ran, so the next try finds it.
    if (row) return row.chat_id
  }
}

export async function nativeChat(
  db: Database,
  credentialId: number,
  chatId: number,
): Promise<string | undefined> {
  const [row] = await db.query<{ native: string }>(
    'select native from chat_identity where credential_id = $1 and chat_id = $2',
    [credentialId, chatId],
  )
  return row?.native
}

export async function nativeMessage(
  db: Database,
  credentialId: number,
  chatId: number,
  messageId: number,
): Promise<string | undefined> {
  const [row] = await db.query<{ native: string }>(
    `select native from message_identity
      where credential_id = $1 and chat_id = $2 and message_id = $3`,
    [credentialId, chatId, messageId],
  )
  return row?.native
}

/**
 * Stores ids that come with a result and not with an update, in the order of the update log's statement to avoid a
 * deadlock. Rejects with `OwnershipLost` when another node owns the credential: it may have given the same integers.
 */
export async function insertIdentities(
  db: Database,
  owned: Owned,
  chats: readonly NewChat[],
  messages: readonly NewMessage[],
): Promise<void> {
  const store = () =>
    db.query(
      `with owned as materialized (
       select id from credential where id = $1 and epoch = $8 for share
     ), chats as (
       insert into chat_identity (credential_id, native, chat_id)
       select owned.id, c.* from owned, unnest($2::text[], $3::bigint[]) as c (native, chat_id)
       order by native
       ${unlessSame.chat}
     ), messages as (
       insert into message_identity (credential_id, native, chat_id, message_id, own)
       select owned.id, c.*
         from owned, unnest($4::text[], $5::bigint[], $6::int[], $7::boolean[])
              as c (native, chat_id, message_id, own)
       order by native
       ${unlessSame.message}
     )
     select from owned`,
      [
        owned.credentialId,
        chats.map(({ native }) => native),
        chats.map(({ chatId }) => chatId),
        messages.map(({ native }) => native),
        messages.map(({ chatId }) => chatId),
        messages.map(({ messageId }) => messageId),
        messages.map(({ own }) => own),
        owned.epoch,
      ],
    )
  if ((await despiteRace(store)).length === 0) throw new OwnershipLost()
}
