/** Callback queries: a person presses a button, and the sender of the message answers once, within a minute. */

import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import type { MessageRef } from '../chats/find-message.ts'
import { oneRecipient, queueing, woken } from '../delivery/queue.ts'
import type { Call, Wake } from '../network/context.ts'
import { asMessage, chatCondition, messageJson } from '../network/rows.ts'

const LIFETIME_SECONDS = 60
const TOO_OLD = 'query is too old and response timeout expired or query ID is invalid'

export interface CallbackAnswer {
  readonly text?: string
  readonly alert?: boolean
  readonly url?: string
}

/** Whether one of the buttons of the row carries the data `$4`, among them those within a rich message. The one that starts a game carries none. */
const hasButton = (row: string) => `(
  jsonb_path_exists(${row}.buttons, '$[*][*] ? (@.data == $data)', jsonb_build_object('data', $4::text))
  or $4 = '' and ${row}.content ->> 'kind' = 'game'
    and jsonb_path_exists(${row}.buttons, '$[*][*].action.callback_game')
  or ${row}.content ->> 'kind' = 'rich' and jsonb_path_exists(${row}.content,
    'strict $.blocks.**.callback_data ? (@ == $data)', jsonb_build_object('data', $4::text)))`

const pressed = (name: string, message: string) => ({
  name,
  text: `with message as (${message}),
    callback as (
      insert into sandbox_callback
        (person_id, owner_id, data, expires_at, chat_id, message_id, ephemeral_id)
      select $1, coalesce((attributes #>> '{via,native}')::bigint, sender_id), $4,
        now() + make_interval(secs => ${LIFETIME_SECONDS}),
        chat_id, nullif(id, 0), (attributes #>> '{ephemeral,id}')::bigint
      from message
      returning *
    ),
    change as (
      select 1 as ord, message.chat_id, $1::bigint as actor_id, null::bigint as session_id,
        callback.owner_id as recipient_id,
        ${messageJson('message')} || jsonb_build_object('callback', callback.id, 'data', callback.data)
          as detail
      from message, callback
    ),
    ${queueing('callback', { recipients: oneRecipient })}
    select callback.id, ${woken} from callback`,
})

const pressing = pressed(
  'sandbox_press',
  `      select t.* from sandbox_chat c
      join sandbox_member m on m.chat_id = c.id and m.person_id = $1 and m.role not in ('left', 'kicked')
      join sandbox_message t on t.chat_id = c.id and t.id = $3 and t.deleted_at is null
      where ${chatCondition('$1', '$2')} and ${hasButton('t')}`,
)

/** A button of an ephemeral message; `$2` is the chat and `$3` its number. */
const pressingEphemeral = pressed(
  'sandbox_press_ephemeral',
  `
      select t.* from sandbox_ephemeral e
      join sandbox_chat c on c.id = e.chat_id and ${chatCondition('$1', '$2')}
      cross join ${asMessage('e')} t
      where e.ephemeral_id = $3 and e.receiver_id = $1 and ${hasButton('t')}`,
)

/** Resolves with the callback's id. Without data the button is the one that starts a game. Ephemeral messages are named by their own number. */
export async function press(
  db: Queryable,
  wake: Wake,
  person: number,
  { chat, message }: MessageRef,
  data: string | undefined,
  isEphemeral = false,
): Promise<number> {
  const values = [person, chat, message, data ?? '']
  const statement = isEphemeral ? pressingEphemeral : pressing
  const [row] = await db.query<{ id: number; woken: number[] }>(statement, values)
  if (!row) throw failed('bad_request', 'there is no such button')
  wake(row.woken)
  return row.id
}

export async function answerCallback(
  { context: { db, wake }, by }: Call,
  { callback, text, alert, url }: OperationOf<'answer'>,
): Promise<OperationResult> {
  const answer: CallbackAnswer = {
    ...(text !== undefined && { text }),
    ...(alert !== undefined && { alert }),
    ...(url !== undefined && { url }),
  }
  const isId = /^\d{1,15}$/.test(callback)
  const rows = await db.query(
    `update sandbox_callback set answer = $3
     where id = $1 and owner_id = $2 and answer is null and expires_at > now() returning id`,
    [isId ? callback : null, by.person, JSON.stringify(answer)],
  )
  if (rows.length === 0) {
    throw failed('bad_request', TOO_OLD)
  }
  wake([])
  return { kind: 'done' }
}

/** A press that its bot may still answer. */
export interface PressedButton {
  readonly person: number
  /** The id of the chat's row, and its native id; null in a private chat. */
  readonly chat: number
  readonly native: number | null
  /** Null for a button of an ephemeral message. */
  readonly message: number | null
  readonly ageSeconds: number
}

/** The press of a button of this person's message. Rejects where it is too old or unknown. */
export async function pressOf(
  db: Queryable,
  owner: number,
  callback: string,
): Promise<PressedButton> {
  const isId = /^\d{1,15}$/.test(callback)
  const [row] = await db.query<PressedButton>(
    `select p.person_id as person, p.chat_id as chat, c.native, p.message_id as message,
       ${LIFETIME_SECONDS} - extract(epoch from p.expires_at - now())::float8 as "ageSeconds"
     from sandbox_callback p join sandbox_chat c on c.id = p.chat_id
     where p.id = $1 and p.owner_id = $2 and p.expires_at > now()`,
    [isId ? callback : null, owner],
  )
  if (!row) throw failed('bad_request', TOO_OLD)
  return row
}

export async function findAnswer(db: Queryable, callback: number): Promise<CallbackAnswer | null> {
  const [row] = await db.query<{ answer: CallbackAnswer | null }>(
    'select answer from sandbox_callback where id = $1',
    [callback],
  )
  return row?.answer ?? null
}
