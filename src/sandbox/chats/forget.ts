/** Deletes all that somebody wrote in a chat, when they are put out of it. */
import { messageChange, queueing, woken } from '../delivery/queue.ts'
import type { Turn } from './turn.ts'

const forgetting = {
  name: 'sandbox_forget',
  text: `with message as (
      update sandbox_message e set deleted_at = now()
      where e.chat_id = $2 and e.sender_id = $3 and e.deleted_at is null
        and e.content ->> 'kind' <> 'service'
      returning e.*
    ),
    change as (${messageChange('message.id', 'null::bigint', '$1::bigint')}), ${queueing('deleted')}
    select ${woken}, coalesce(
      (select jsonb_agg(request_id) from message where content ->> 'kind' = 'media'), '[]'
    ) as requests`,
}

/** Resolves with the requests of those messages that had files. */
export async function forgetMessages(
  { db, wake }: Turn,
  actor: number,
  chat: number,
  person: number,
): Promise<readonly string[]> {
  const [row] = await db.query<{ woken: number[]; requests: string[] }>(forgetting, [
    ...[actor, chat, person],
  ])
  wake(row?.woken ?? [])
  return row?.requests ?? []
}
