/** Reply keyboards: checked before they are sent, and found for the people who see them in place of the ordinary one. */

import type { Key, ReplyKeyboard } from '../../../machines/model/buttons.ts'
import type { Chat } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import { chatOf } from '../delivery/mapping.ts'
import { type ChatRow, chatJson, type PersonRow, personJson } from '../network/rows.ts'
import { storable } from './content.ts'

/** TDLib's `get_reply_markup` leaves out what goes beyond these. */
const KEYS_IN_ROW = 12
const KEYS = 300

/** Requests that a key can make only in a private chat, with their names in a refusal. */
const PRIVATE: Readonly<Record<string, string>> = {
  request_contact: 'phone number can be requested',
  request_location: 'location can be requested',
  request_poll: 'poll can be requested',
  request_users: 'users can be requested',
  request_chat: 'chats can be requested',
  web_app: 'Web App buttons can be used',
}

/** Returns the keyboard as it is stored, or undefined where no key is left. Throws where it does not fit its chat. */
export function checkedKeyboard(given: ReplyKeyboard, chat: number): ReplyKeyboard | undefined {
  const isPrivate = chat > 0
  const { isSelective, ...rest } = storable(given) as ReplyKeyboard
  // A private chat has only one reader.
  const keyboard = { ...rest, ...(isSelective && !isPrivate && { isSelective }) } as ReplyKeyboard
  if (keyboard.kind !== 'keys') return keyboard
  const rows = fitted(keyboard.rows)
  if (!isPrivate) rows.flat().forEach(assertForGroups)
  return rows.length > 0 ? { ...keyboard, rows } : undefined
}

function fitted(rows: readonly (readonly Key[])[]): Key[][] {
  let left = KEYS
  const taken = rows.map((row) => {
    const keys = row.filter(({ text }) => text !== '').slice(0, Math.min(KEYS_IN_ROW, left))
    left -= keys.length
    return keys
  })
  return taken.filter((row) => row.length > 0)
}

function assertForGroups({ more = {} }: Key): void {
  const asked = Object.keys(PRIVATE).find((name) => more[name])
  if (asked) throw failed('bad_request', `${PRIVATE[asked]} in private chats only`)
}

export interface ShownKeyboard {
  readonly chat: Chat
  /** The sender of the message that brought it. */
  readonly person: PersonRow
  readonly message: number
  readonly keyboard: ReplyKeyboard
  /** A one-time keyboard was used: the reader can call it back. */
  readonly isUsed: boolean
}

const text = (message: string) =>
  `coalesce(${message}.content ->> 'text', ${message}.content #>> '{caption,text}')`

const entities = (message: string) =>
  `coalesce(${message}.content -> 'entities', ${message}.content #> '{caption,entities}')`

/** SQL: whether the keyboard of a message is for a reader; a selective one only where the message answers or names them. */
export const isKeyboardFor = (message: string, reader: string) => `(
  ${message}.keyboard is not null and ${message}.sender_id <> ${reader} and (
    not ${message}.keyboard @> '{"isSelective": true}'
    or exists (select from sandbox_message a
      where a.chat_id = ${message}.chat_id and a.id = ${message}.reply_to
        and a.sender_id = ${reader})
    or exists (select from jsonb_array_elements(${entities(message)}) e
      where e ->> 'person' = (${reader})::bigint::text)
    or exists (select from sandbox_person v
      where v.id = ${reader}
        and ${text(message)} ~* ('(^|\\W)@' || v.username || '(\\W|$)'))))`

/** SQL: whether the reader has used the keyboard: a key writes its own text, or sends the contact, location or poll it asks for. */
const used = `exists (
  select from sandbox_message u
  where u.chat_id = k.chat_id and u.id > k.id and u.sender_id = $1 and (u.reply_to = k.id
    or jsonb_path_exists(k.keyboard, '$.rows[*][*] ? (@.text == $text)',
      jsonb_build_object('text', u.content -> 'text'))
    or (u.content ->> 'kind' in ('contact', 'location', 'poll')
        or u.content ->> 'fact' in ('users_shared', 'chat_shared', 'web_app_data', 'managed_bot_created'))
      and jsonb_path_exists(k.keyboard, '$.rows[*][*].more')))`

const shown = `
  select ${chatJson('c')} as chat, ${personJson('o')} as other, ${personJson('s')} as person,
      k.id as message, k.keyboard,
      (k.keyboard ->> 'kind' = 'answer' or k.keyboard @> '{"isForOnce": true}') and ${used}
        as "isUsed"
    from sandbox_member m
    join sandbox_chat c on c.id = m.chat_id
    cross join lateral (
      select * from sandbox_message x
      where x.chat_id = m.chat_id and x.keyboard ->> 'kind' <> 'none' and ${isKeyboardFor('x', '$1')}
      order by x.id desc limit 1
    ) k
    join sandbox_person s on s.id = k.sender_id
    join sandbox_member b on b.chat_id = k.chat_id and b.person_id = k.sender_id
      and b.role not in ('left', 'kicked')
    left join sandbox_person o on o.id = case when c.low_id = $1 then c.high_id else c.low_id end
    where m.person_id = $1 and m.role not in ('left', 'kicked') and k.deleted_at is null
      and not exists (
        select from sandbox_message x
        where x.chat_id = k.chat_id and x.id > k.id and x.sender_id = k.sender_id
          and x.keyboard ->> 'kind' = 'none' and ${isKeyboardFor('x', '$1')})
    order by c.id`

/** The newest keyboard of each chat, unless its sender removed it. A request for an answer ends with the answer. */
export async function keyboardsFor(db: Queryable, person: number): Promise<ShownKeyboard[]> {
  const rows = await db.query<
    Omit<ShownKeyboard, 'chat'> & {
      readonly chat: ChatRow
      readonly other: PersonRow | null
    }
  >(shown, [person])
  return rows
    .filter(({ keyboard, isUsed }) => keyboard.kind !== 'answer' || !isUsed)
    .map(({ chat, other, ...row }) => ({ ...row, chat: chatOf(chat, other) }))
}
