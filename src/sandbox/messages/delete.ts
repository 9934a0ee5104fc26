/** Deletes a message for all members of its chat. */
import type { Surface } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import { findMessage } from '../chats/find-message.ts'
import { parseChatId, parseMessageId } from '../delivery/mapping.ts'
import { messageChange, queueing, woken } from '../delivery/queue.ts'
import { chatCondition } from '../delivery/rows.ts'
import { holderOf, releaseFiles } from '../files/files.ts'
import type { Call } from '../network/context.ts'

const target = `
  target as (
    select t.chat_id, t.id, c.kind, m.role
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $2 and m.role not in ('left', 'kicked')
    join sandbox_message t on t.chat_id = c.id and t.id = $4 and t.deleted_at is null
    where ${chatCondition('$2', '$3')}
  )`

const deleting = {
  name: 'sandbox_delete',
  text: `with ${target},
    message as (
      update sandbox_message e set deleted_at = now()
      from target
      where e.chat_id = target.chat_id and e.id = target.id and e.deleted_at is null
        and e.topic is distinct from e.id
        and (e.sender_id = $2 or target.kind = 'private' or target.role in ('owner', 'admin'))
      returning e.*
    ),
    change as (${messageChange('1', '$1::bigint', '$2::bigint')}), ${queueing('deleted')}
    select ${woken}, sender_id as sender, request_id as request,
      content ->> 'kind' = 'media' as "hasFiles",
      (select kind from target) as surface
    from message`,
}

interface Row {
  readonly woken: number[]
  readonly sender: number
  readonly request: string
  readonly hasFiles: boolean
  readonly surface: Surface
}

export async function deleteMessage(
  { context, by: { person, session } }: Call,
  operation: OperationOf<'delete'>,
): Promise<OperationResult> {
  const { db, wake } = context
  const ref = {
    chat: parseChatId(operation.chat),
    message: parseMessageId(operation.message, 'delete'),
  }
  const [row] = await db.query<Row>(deleting, [session ?? null, person, ref.chat, ref.message])
  if (!row) {
    const found = await findMessage(db, person, ref)
    const refusal = found ? "message can't be deleted" : 'message to delete not found'
    throw failed('bad_request', refusal)
  }
  wake(row.woken)
  if (row.hasFiles) await releaseFiles(context, holderOf(row.sender, row.request))
  return { kind: 'done', surface: row.surface }
}
