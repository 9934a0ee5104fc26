/** Polls: opened with a message, changed by one vote after another, closed once. */

import type { Poll } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Database, Queryable } from '../../database/database.ts'
import type { World } from '../../platforms/sandbox/operations.ts'

/** A poll as it is stored, held against other changes while it is changed. */
export interface HeldPoll {
  readonly id: string
  readonly owner: number
  readonly poll: Poll
}

/** The same request opens the same poll. */
export async function openPoll(
  { db, now, closing }: World,
  owner: number,
  request: string,
  given: Poll,
): Promise<Poll> {
  const closesAt =
    given.closesAt ?? (given.openSeconds && Math.floor(now() / 1000) + given.openSeconds)
  const unused: Poll = {
    ...given,
    options: given.options.map(({ text }) => ({ text, voters: 0 })),
    voters: 0,
    ...(closesAt && { closesAt }),
  }
  const [row] = await db.query<{ id: number }>(
    `insert into sandbox_poll (owner_id, request_id, poll, is_closed, closes_at)
     values ($1, $2, $3, $4, to_timestamp($5))
     on conflict (owner_id, request_id) do update set owner_id = excluded.owner_id returning id`,
    [owner, request, JSON.stringify(unused), unused.isClosed, closesAt ?? null],
  )
  if (closesAt && !unused.isClosed) closing.note(closesAt * 1000)
  return { ...unused, id: `${row!.id}` }
}

/** Changes a poll and every message that carries it, then tells; all or nothing. */
export async function changePoll(
  { db, wake }: { readonly db: Database; readonly wake: World['wake'] },
  id: string,
  change: (held: HeldPoll, tx: Queryable) => Promise<Poll>,
  tell: (
    changed: HeldPoll,
    on: { readonly db: Queryable; readonly wake: World['wake'] },
  ) => Promise<void>,
): Promise<Poll> {
  const woken: number[] = []
  const changed = await db.transaction(async (tx) => {
    const [row] = await tx.query<{ owner_id: number; poll: Poll }>(
      'select owner_id, poll from sandbox_poll where id = $1 for update',
      [id],
    )
    if (!row) throw failed('bad_request', 'message is not a poll')
    const held = { id, owner: row.owner_id, poll: { ...row.poll, id } }
    const poll = await change(held, tx)
    await tx.query('update sandbox_poll set poll = $2, is_closed = $3 where id = $1', [
      id,
      JSON.stringify(poll),
      poll.isClosed,
    ])
    await tx.query(
      `update sandbox_message set content = jsonb_set(content, '{poll}', $2), version = version + 1
       where content ->> 'kind' = 'poll' and content #>> '{poll,id}' = $1`,
      [id, JSON.stringify(poll)],
    )
    await tell({ ...held, poll }, { db: tx, wake: (people) => woken.push(...people) })
    return poll
  })
  wake(woken)
  return changed
}
