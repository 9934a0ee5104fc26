/** Who is to be told what happens in a chat. */
import type { Queryable } from '../../database/database.ts'

export async function membersOf(db: Queryable, chat: number): Promise<number[]> {
  const rows = await db.query<{ person_id: number }>(
    `select person_id from sandbox_member where chat_id = $1 and role not in ('left', 'kicked')`,
    [chat],
  )
  return rows.map(({ person_id }) => person_id)
}
