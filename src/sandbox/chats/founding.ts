/** Tells those whom somebody put into a new chat that they are in it. */

import { tell } from '../delivery/telling.ts'
import { memberOf } from './membership.ts'
import type { Turn } from './turn.ts'

export async function tellMembers(turn: Turn, chat: number, founder: number): Promise<void> {
  const { db } = turn
  const by = await memberOf(db, chat, founder)
  const listeners = await db.query<{ id: number }>(
    `select p.id from sandbox_member m join sandbox_person p on p.id = m.person_id
     where m.chat_id = $1 and p.id <> $2 and p.sessions > 0 order by p.id`,
    [chat, founder],
  )
  for (const { id } of listeners) {
    const after = await memberOf(db, chat, id)
    if (!by || !after) continue
    const facts = {
      by: by.person,
      before: { person: after.person, status: 'left' as const },
      after,
    }
    await tell(turn, { kind: 'member', chat, actor: founder, facts }, { people: [id] })
  }
}
