/** The tables that map native ids to integers, one question a function. */
import type { Database } from '../database/database.ts'
import type { NewChat, NewMessage } from '../updates/commit.ts'

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
 * For ids that come with a result rather than with an update. In the same order as the log's own statement: two who
 * store the same ids at once would else wait for each other.
 */
export async function insertIdentities(
  db: Database,
  credentialId: number,
  chats: readonly NewChat[],
  messages: readonly NewMessage[],
): Promise<void> {
  await db.query(
    `with chats as (
       insert into chat_identity (credential_id, native, chat_id)
       select $1::bigint, * from unnest($2::text[], $3::bigint[]) as c (native, chat_id)
       order by native
       on conflict do nothing
     ), messages as (
       insert into message_identity (credential_id, native, chat_id, message_id, own)
       select $1::bigint, * from unnest($4::text[], $5::bigint[], $6::int[], $7::boolean[])
              as c (native, chat_id, message_id, own)
       order by native
       on conflict do nothing
     )
     select`,
    [
      credentialId,
      chats.map(({ native }) => native),
      chats.map(({ chatId }) => chatId),
      messages.map(({ native }) => native),
      messages.map(({ chatId }) => chatId),
      messages.map(({ messageId }) => messageId),
      messages.map(({ own }) => own),
    ],
  )
}
