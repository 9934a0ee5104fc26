/** Finds one message for a member of its chat. */
import type { Buttons } from '../../../machines/model/buttons.ts'
import type { Content } from '../../../machines/model/content.ts'
import { notFound, type RequestFailed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import type { MessageKey } from '../delivery/mapping.ts'
import {
  chatCondition,
  type MessageView,
  messageJson,
  viewColumns,
  viewJoins,
} from '../network/rows.ts'
import { hasRight } from './access.ts'

/** `chat` is native to the person who names the message. */
export interface MessageRef {
  readonly chat: number
  readonly message: number
}

export interface FoundMessage {
  /** The id of the chat's row. */
  readonly chat: number
  readonly kind: 'private' | 'group' | 'supergroup' | 'channel'
  readonly id: number
  readonly sender: number
  readonly request: string
  readonly at: Date
  readonly version: number
  readonly content: Content
  readonly buttons: Buttons | null
  readonly album: string | null
  readonly isForwarded: boolean
  readonly hasKeyboard: boolean
  /** An answered suggestion, or a paid post. */
  readonly isFinal: boolean
  /** Sent by way of a bot: only the bot can change it. */
  readonly isInline: boolean
  /** Whether the person who looks may edit it; absent for a bot that looks for its inline message. */
  readonly mayEdit?: boolean
  /** The native id of the bot that it was sent by way of. */
  readonly via?: string | null
}

/** Undefined where the person is not in the chat or there is no such message. */
export async function findMessage(
  db: Queryable,
  person: number,
  { chat, message }: MessageRef,
): Promise<FoundMessage | undefined> {
  const [found] = await db.query<FoundMessage>(finding, [person, chat, message])
  return found
}

/** Why there is no such message: its chat does not exist, or else `otherwise`. */
export async function whyMissing(
  db: Queryable,
  person: number,
  chat: number,
  otherwise: RequestFailed,
): Promise<RequestFailed> {
  const [found] = await db.query(
    chat > 0
      ? `select from sandbox_person other join sandbox_person me using (user_id)
         where me.id = $1 and other.id = $2`
      : `select from sandbox_chat c where ${chatCondition('$1', '$2')}`,
    [person, chat],
  )
  return found ? otherwise : notFound('chat')
}

const columns = `c.id as chat, c.kind, t.id, t.sender_id as sender, t.request_id as request, t.at,
  t.version, t.content, t.buttons, t.album, t.forward is not null as "isForwarded",
  t.keyboard is not null as "hasKeyboard", t.attributes ? 'via' as "isInline",
  coalesce(t.attributes ? 'isPaidPost' or t.attributes #>> '{suggestion,state}' <> 'pending', false)
    as "isFinal",
  t.attributes #>> '{via,native}' as via`

const findingInline = {
  name: 'sandbox_look_inline',
  text: `select ${columns}
    from sandbox_message t join sandbox_chat c on c.id = t.chat_id
    where t.chat_id = $2 and t.id = $3 and t.deleted_at is null and t.forward is null
      and t.attributes #>> '{via,native}' = $1::bigint::text`,
}

/** Finds a message that was sent by way of this bot. The bot need not be in the chat. */
export async function findInline(
  db: Queryable,
  bot: number,
  { chat, message }: MessageKey,
): Promise<FoundMessage | undefined> {
  const [found] = await db.query<FoundMessage>(findingInline, [bot, chat, message])
  return found
}

/** A post is edited by administrators of the channel with the right to, or by its author if they may post. */
const mayEdit = `case when c.kind = 'channel'
  then ${hasRight('edit_messages')} or ${hasRight('post_messages')} and t.sender_id = $1
  else t.sender_id = $1 end`

const finding = {
  name: 'sandbox_look',
  text: `select ${columns}, ${mayEdit} as "mayEdit"
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $1
      and m.role not in ('left', 'kicked')
    join sandbox_message t on t.chat_id = c.id and t.id = $3 and t.deleted_at is null
    where ${chatCondition('$1', '$2')}`,
}

/** A message as a member of its chat sees it; undefined for everybody else. */
export async function viewOf(
  db: Queryable,
  reader: number,
  from: MessageRef,
): Promise<MessageView | undefined> {
  const [source] = await db.query<MessageView>(
    `select ${messageJson('m')} as message, ${viewColumns}
     from sandbox_message m ${viewJoins('m', '$1')}
     join sandbox_member reader on reader.chat_id = m.chat_id and reader.person_id = $1
       and reader.role not in ('left', 'kicked')
     where ${chatCondition('$1', '$2')} and m.id = $3 and m.deleted_at is null`,
    [reader, from.chat, from.message],
  )
  return source
}
