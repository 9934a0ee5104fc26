/** Who shuts whom out: the other hears of it as a change of their membership in the chat of the two. */
import type { Member } from '../../../machines/model/membership.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { type PersonCard, personCard } from '../delivery/cards.ts'
import { personOf } from '../delivery/neutral.ts'
import { tell } from '../delivery/telling.ts'

interface Both {
  readonly chat: number
  readonly me: PersonCard
  readonly other: PersonCard
}

const LOOKING = `
  select c.id as chat, ${personCard('me')} as me, ${personCard('o')} as other
  from sandbox_chat c
  join sandbox_person me on me.id = $1
  join sandbox_person o on o.id = $2
  where c.low_id = least($1::bigint, $2::bigint) and c.high_id = greatest($1::bigint, $2::bigint)`

/** What was so before is no news. */
export async function block(
  { db, wake }: Pick<World, 'db' | 'wake'>,
  person: number,
  blocked: number,
  isBlocked: boolean,
): Promise<void> {
  const woken: number[] = []
  await db.transaction(async (tx) => {
    const changed = await tx.query(
      isBlocked
        ? 'insert into sandbox_block values ($1, $2) on conflict do nothing returning person_id'
        : 'delete from sandbox_block where person_id = $1 and blocked_id = $2 returning person_id',
      [person, blocked],
    )
    if (changed.length === 0 || person === blocked) return
    await openPrivateChat(tx, person, blocked)
    const [both] = await tx.query<Both>(LOOKING, [person, blocked])
    if (!both) return
    const at = (status: Member['status']) => ({ person: personOf(both.other), status })
    const [before, after] = isBlocked ? [at('member'), at('kicked')] : [at('kicked'), at('member')]
    await tell(
      { db: tx, wake: (people) => woken.push(...people) },
      {
        kind: 'member',
        chat: both.chat,
        actor: person,
        facts: { by: personOf(both.me), before, after },
      },
      { people: [blocked] },
    )
  })
  wake(woken)
}
