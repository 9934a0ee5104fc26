/** Native ids, the integers that stand for them, and the rows that keep both. */
import type { Owned } from '../../actors/ports/ports.ts'
import type { Surface } from '../../machines/model/content.ts'
import { OwnershipLost } from '../../machines/model/failure.ts'
import type { Fenced } from '../credentials/fence.ts'
import type { Database, Queryable, Statement } from '../database/database.ts'
import { despiteRace } from '../database/failures.ts'
import { arrayLiteral, SharedStatements, textArray } from '../database/write-behind.ts'

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
  /** Native ids of messages that are most likely new: they are not looked up, and a conflict shows the mistake. */
  readonly fresh: ReadonlySet<string>
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
  /** Call it once the new ids are committed. */
  stored(): void
}

const AT_ONCE = 5_000
/** Results of one write of ids. */
const MOST_TOGETHER = 200

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

/** Chats that one statement looks at. */
const CHATS_AT_ONCE = 1_000

/**
 * In a chat the numbers ascend with the days, so its oldest row shows whether there is anything to delete: other chats
 * cost one index lookup. The newest row stays, because the next number of the chat is counted from it.
 */
const forgetOldest = `
  with page as materialized (
    select credential_id, chat_id from chat_identity
     where (credential_id, chat_id) > ($1, $2)
     order by credential_id, chat_id limit ${CHATS_AT_ONCE}
  ), due as (
    select page.* from page
     cross join lateral (
       select given_on from message_identity m
        where m.credential_id = page.credential_id and m.chat_id = page.chat_id
        order by m.message_id limit 1) oldest
     where oldest.given_on < current_date - $3::int
  ), old as (
    select due.credential_id, due.chat_id, its.message_id from due
     cross join lateral (
       select m.message_id from message_identity m
        where m.credential_id = due.credential_id and m.chat_id = due.chat_id
          and m.given_on < current_date - $3::int
          and m.message_id < (
            select max(newest.message_id) from message_identity newest
             where newest.credential_id = due.credential_id and newest.chat_id = due.chat_id)
        order by m.message_id limit ${AT_ONCE}) its
     limit ${AT_ONCE}
  ), gone as (
    delete from message_identity m using old
     where m.credential_id = old.credential_id and m.chat_id = old.chat_id
       and m.message_id = old.message_id
    returning 1
  )
  select (select count(*)::int from gone) as removed, credential_id, chat_id from page
   order by credential_id desc, chat_id desc limit 1`

/**
 * Deletes the numbers that messages got more than so many days ago, in small steps; resolves with how many. Calls with
 * such a number are then answered as those with one that was never given.
 */
export async function forgetOldMessages(db: Queryable, days: number): Promise<number> {
  let total = 0
  for (let after: readonly [number, number] = [0, Number.MIN_SAFE_INTEGER]; ; ) {
    const [page] = await db.query<{ removed: number; credential_id: number; chat_id: number }>(
      forgetOldest,
      [...after, days],
    )
    if (!page) return total
    total += page.removed
    if (page.removed < AT_ONCE) after = [page.credential_id, page.chat_id]
  }
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
    {
      name: 'identities-messages',
      text: `select native, chat_id as "chatId", message_id as "messageId", own from message_identity
              where credential_id = $1 and native = any($2)`,
    },
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
    {
      name: 'identities-native-chat',
      text: 'select native from chat_identity where credential_id = $1 and chat_id = $2',
    },
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

/** Ids that a result introduced. */
interface NewIds {
  readonly owned: Owned
  readonly chats: readonly NewChat[]
  readonly messages: readonly NewMessage[]
}

const insertion: Statement = {
  name: 'identities-insert',
  text: `with owned as materialized (
       select c.id, c.epoch from credential c
         join unnest($1::bigint[], $2::bigint[]) as o (id, epoch)
           on o.id = c.id and o.epoch = c.epoch
        order by c.id for share of c
     ), chats as (
       insert into chat_identity (credential_id, native, chat_id)
       select n.id, n.native, n.chat_id
         from unnest($3::bigint[], $4::bigint[], $5::text[], $6::bigint[])
              as n (id, epoch, native, chat_id)
         join owned using (id, epoch)
        order by n.id, n.native
       ${unlessSame.chat}
     ), messages as (
       insert into message_identity (credential_id, native, chat_id, message_id, own)
       select n.id, n.native, n.chat_id, n.message_id, n.own
         from unnest($7::bigint[], $8::bigint[], $9::text[], $10::bigint[], $11::int[], $12::boolean[])
              as n (id, epoch, native, chat_id, message_id, own)
         join owned using (id, epoch)
        order by n.id, n.native
       ${unlessSame.message}
     )
     select id, epoch from owned`,
}

/**
 * Stores ids that come with results and not with updates, in the order of the update log's statement to avoid a
 * deadlock. Resolves with whether each was stored: not where another node owns the credential, which may have given
 * the same integers.
 */
async function insertTogether(db: Database, all: readonly NewIds[]): Promise<boolean[]> {
  const owners = new Map(all.map(({ owned }) => [keyOf(owned), owned]))
  const chats = onceEach(all, ({ chats }) => chats)
  const messages = onceEach(all, ({ messages }) => messages)
  const stored = await despiteRace(() =>
    db.query<{ id: number; epoch: number }>(insertion, [
      arrayLiteral([...owners.values()].map(({ credentialId }) => credentialId)),
      arrayLiteral([...owners.values()].map(({ epoch }) => epoch)),
      arrayLiteral(chats.map(({ owned }) => owned.credentialId)),
      arrayLiteral(chats.map(({ owned }) => owned.epoch)),
      textArray(chats.map(({ id }) => id.native)),
      arrayLiteral(chats.map(({ id }) => id.chatId)),
      arrayLiteral(messages.map(({ owned }) => owned.credentialId)),
      arrayLiteral(messages.map(({ owned }) => owned.epoch)),
      textArray(messages.map(({ id }) => id.native)),
      arrayLiteral(messages.map(({ id }) => id.chatId)),
      arrayLiteral(messages.map(({ id }) => id.messageId)),
      arrayLiteral(messages.map(({ id }) => id.own)),
    ]),
  )
  const kept = new Set(stored.map(({ id, epoch }) => keyOf({ credentialId: id, epoch })))
  return all.map(({ owned }) => kept.has(keyOf(owned)))
}

const keyOf = ({ credentialId, epoch }: Owned) => `${credentialId} ${epoch}`

/** Two results may introduce the same id: it belongs to both until it is stored. */
function onceEach<Id extends NewChat>(
  all: readonly NewIds[],
  idsIn: (one: NewIds) => readonly Id[],
): { readonly owned: Owned; readonly id: Id }[] {
  const each = new Map<string, { readonly owned: Owned; readonly id: Id }>()
  for (const one of all) {
    for (const id of idsIn(one)) {
      each.set(`${keyOf(one.owned)} ${JSON.stringify(id)}`, { owned: one.owned, id })
    }
  }
  return [...each.values()]
}

/** Stores ids that results introduced; those that arrive during a write share the next one. */
export class IdentityWrites {
  readonly #writes: SharedStatements<NewIds, boolean>
  readonly #fenced: Fenced

  /** `fenced` gets credentials that another node has claimed. */
  constructor(db: Database, fenced: Fenced = () => undefined) {
    this.#fenced = fenced
    this.#writes = new SharedStatements({
      most: MOST_TOGETHER,
      // A network confirms many messages at once.
      isGathered: true,
      ownerOf: ({ owned }) => owned.credentialId,
      run: (all) => insertTogether(db, all),
    })
  }

  /** Rejects with `OwnershipLost`, and with a conflict where an integer is taken. */
  async insert(
    owned: Owned,
    chats: readonly NewChat[],
    messages: readonly NewMessage[],
  ): Promise<void> {
    if (await this.#writes.run({ owned, chats, messages })) return
    this.#fenced([owned])
    throw new OwnershipLost()
  }
}
