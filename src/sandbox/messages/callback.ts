/** Callback queries: a person presses a button, and the sender of the message answers once, within a minute. */

import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import type { MessageRef } from '../chats/find-message.ts'
import { oneRecipient, queueing, woken } from '../delivery/queue.ts'
import { chatCondition, messageJson } from '../delivery/rows.ts'
import type { Call, Wake } from '../network/context.ts'

const LIFETIME_SECONDS = 60

export interface CallbackAnswer {
  readonly text?: string
  readonly alert?: boolean
  readonly url?: string
}

const pressing = {
  name: 'sandbox_press',
  text: `with message as (
      select t.* from sandbox_chat c
      join sandbox_member m on m.chat_id = c.id and m.person_id = $1 and m.role not in ('left', 'kicked')
      join sandbox_message t on t.chat_id = c.id and t.id = $3 and t.deleted_at is null
      where ${chatCondition('$1', '$2')}
        and jsonb_path_exists(t.buttons, '$[*][*] ? (@.data == $data)', jsonb_build_object('data', $4::text))
    ),
    callback as (
      insert into sandbox_callback (person_id, owner_id, data, expires_at)
      select $1, coalesce((attributes #>> '{via,native}')::bigint, sender_id), $4, now() + make_interval(secs => ${LIFETIME_SECONDS}) from message
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
}

/** Resolves with the callback's id. */
export async function press(
  db: Queryable,
  wake: Wake,
  person: number,
  { chat, message }: MessageRef,
  data: string,
): Promise<number> {
  const values = [person, chat, message, data]
  const [row] = await db.query<{ id: number; woken: number[] }>(pressing, values)
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
    const refusal = 'query is too old and response timeout expired or query ID is invalid'
    throw failed('bad_request', refusal)
  }
  wake([])
  return { kind: 'done' }
}

export async function findAnswer(db: Queryable, callback: number): Promise<CallbackAnswer | null> {
  const [row] = await db.query<{ answer: CallbackAnswer | null }>(
    'select answer from sandbox_callback where id = $1',
    [callback],
  )
  return row?.answer ?? null
}
