/** Which keyboard stands in a chat for whoever reads there, in the place of their ordinary one. */
import type { Chat } from '../../../machines/model/content.ts'
import type { ReplyKeyboard } from '../../../machines/model/reply-keyboard.ts'
import type { Queryable } from '../../database/database.ts'
import { type ChatCard, chatCard, type PersonCard, personCard } from '../delivery/cards.ts'
import { chatOf } from '../delivery/neutral.ts'

export interface StandingKeyboard {
  readonly chat: Chat
  /** Who put it there, and with which message. */
  readonly person: PersonCard
  readonly message: number
  readonly keyboard: ReplyKeyboard
  /** One for once was used: it can be called back. */
  readonly isUsed: boolean
}

const text = (message: string) =>
  `coalesce(${message}.content ->> 'text', ${message}.content #>> '{caption,text}')`

const entities = (message: string) =>
  `coalesce(${message}.content -> 'entities', ${message}.content #> '{caption,entities}')`

/** Whether a message's keyboard is for this reader; a selective one only where it answers or names them. */
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

/** A key writes its own text, or sends what it asks for. */
const used = `exists (
  select from sandbox_message u
  where u.chat_id = k.chat_id and u.id > k.id and u.sender_id = $1 and (u.reply_to = k.id
    or jsonb_path_exists(k.keyboard, '$.rows[*][*] ? (@.text == $text)',
      jsonb_build_object('text', u.content -> 'text'))
    or u.content ->> 'kind' in ('contact', 'location', 'poll')
      and jsonb_path_exists(k.keyboard, '$.rows[*][*].more')))`

const standing = `
  select ${chatCard('c')} as chat, ${personCard('o')} as other, ${personCard('s')} as person,
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

/** Of each chat the newest, unless whoever put it there took it away; an answer is asked for until it is given. */
export async function keyboardsFor(db: Queryable, person: number): Promise<StandingKeyboard[]> {
  const rows = await db.query<
    Omit<StandingKeyboard, 'chat'> & {
      readonly chat: ChatCard
      readonly other: PersonCard | null
    }
  >(standing, [person])
  return rows
    .filter(({ keyboard, isUsed }) => keyboard.kind !== 'answer' || !isUsed)
    .map(({ chat, other, ...row }) => ({ ...row, chat: chatOf(chat, other) }))
}
