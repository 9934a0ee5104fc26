/** Deletes a topic of a forum with all that was written in it; the device that did it is told, too. */

import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import { inTurn } from '../chats/turn.ts'
import { messageChange, queueing, woken } from '../delivery/queue.ts'
import { holderOf, letGo } from '../files/holding.ts'

const deleting = {
  name: 'sandbox_delete_topic',
  text: `with topic as (
      delete from sandbox_topic where chat_id = $2 and id = $3 returning chat_id, id
    ),
    message as (
      update sandbox_message e set deleted_at = now() from topic
      where e.chat_id = topic.chat_id and e.topic = topic.id and e.deleted_at is null
      returning e.*
    ),
    change as (${messageChange('message.id', 'null::bigint', '$1::bigint')}), ${queueing('deleted')}
    select ${woken}, coalesce(
      (select jsonb_agg(jsonb_build_object('sender', sender_id, 'request', request_id))
       from message where content ->> 'kind' = 'media'), '[]'
    ) as files`,
}

interface Row {
  readonly woken: readonly number[]
  readonly files: readonly { readonly sender: number; readonly request: string }[]
}

export async function deleteTopic(
  world: World,
  { person }: Doer,
  chat: number,
  topic: number,
): Promise<void> {
  const files = await inTurn(world, { chat, person }, async ({ db, wake }) => {
    const [row] = await db.query<Row>(deleting, [person, chat, topic])
    wake(row?.woken ?? [])
    return row?.files ?? []
  })
  for (const { sender, request } of files) await letGo(world, holderOf(sender, request))
}
