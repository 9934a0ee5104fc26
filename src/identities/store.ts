/** The tables that map native ids to integers, one question a function. */

import type { Owned } from '../../actors/ports/ports.ts'
import { OwnershipLost } from '../../machines/model/failure.ts'
import { despiteRace } from '../database/at-fault.ts'
import type { Database } from '../database/database.ts'
import { type NewChat, type NewMessage, unlessSame } from '../updates/commit.ts'

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

/** Of somebody whom nobody need have met yet: found, or given, for a reader that does not own the credential. */
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
    // Nothing: somebody else gave it while the statement ran, and it can be read now.
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
 * For ids that come with a result rather than with an update. In the same order as the log's own statement: two who
 * store the same ids at once would else wait for each other. Rejects with `OwnershipLost` where nothing was stored,
 * because the next owner may have given the same integers.
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
