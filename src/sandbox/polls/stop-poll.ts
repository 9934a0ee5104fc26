/** Ends the voting of a poll: by whoever asked, or because its time is over. */

import type { Poll } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import { lookAt } from '../chats/look.ts'
import { membersOf } from '../chats/members.ts'
import { SERVICE_PERSON } from '../delivery/natives.ts'
import { tell } from '../delivery/telling.ts'
import type { Place, Revision } from '../messages/revise.ts'
import { changePoll, type HeldPoll } from './poll.ts'

const bad = (description: string) => failed('bad_request', description)

export async function stopPoll(
  world: World,
  { person, session }: Doer,
  place: Place,
  buttons: Revision['buttons'],
): Promise<Poll> {
  const target = await lookAt(world.db, person, place)
  if (!target) throw bad('message with poll to stop not found')
  const { content, sender, isForwarded, chat } = target
  if (content.kind !== 'poll') throw bad('message is not a poll')
  if (sender !== person || isForwarded) throw bad("poll can't be stopped")
  return changePoll(
    world,
    content.poll.id ?? '',
    async ({ poll }, tx) => {
      if (poll.isClosed) throw bad('poll has already been closed')
      await tx.query('update sandbox_message set buttons = $3 where chat_id = $1 and id = $2', [
        ...[chat, target.id],
        buttons ? JSON.stringify(buttons) : null,
      ])
      return { ...poll, isClosed: true }
    },
    (closed, on) =>
      tellAll(on, closed, { chat, actor: person, ...(session !== undefined && { session }) }),
  )
}

/** Two processes may find the same poll due; the second leaves it as it is. */
export async function closePoll(world: Pick<World, 'db' | 'wake'>, id: string): Promise<void> {
  let wasOpen = false
  await changePoll(
    world,
    id,
    async ({ poll }) => {
      wasOpen = !poll.isClosed
      return { ...poll, isClosed: true }
    },
    async (closed, on) => {
      const [first] = await on.db.query<{ chat_id: number }>(
        `select chat_id from sandbox_message
         where content ->> 'kind' = 'poll' and content #>> '{poll,id}' = $1 and forward is null
           and deleted_at is null limit 1`,
        [id],
      )
      if (wasOpen && first)
        await tellAll(on, closed, { chat: first.chat_id, actor: SERVICE_PERSON })
    },
  )
}

async function tellAll(
  on: { readonly db: Queryable; readonly wake: World['wake'] },
  { poll }: HeldPoll,
  about: { readonly chat: number; readonly actor: number; readonly session?: number },
): Promise<void> {
  const people = await membersOf(on.db, about.chat)
  await tell(on, { kind: 'poll', ...about, facts: { poll } }, { people })
}
