/** Votes: counted while a poll is open, told to whoever asked. */

import type { Poll } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import { lookAt } from '../chats/look.ts'
import { type PersonCard, personCard } from '../delivery/cards.ts'
import { personOf } from '../delivery/neutral.ts'
import { tell } from '../delivery/telling.ts'
import type { Place } from '../messages/revise.ts'
import { changePoll } from './poll.ts'

const bad = (description: string) => failed('bad_request', description)

/** `options` are places, instead of those chosen before; none takes the vote back. */
export async function vote(
  world: World,
  { person }: Doer,
  place: Place,
  options: readonly number[],
): Promise<Poll> {
  const target = await lookAt(world.db, person, place)
  if (!target) throw bad('message with poll not found')
  const { content } = target
  if (content.kind !== 'poll' || content.poll.id === undefined) throw bad('message is not a poll')
  const chosen = [...new Set(options)].toSorted((a, b) => a - b)
  return changePoll(
    world,
    content.poll.id,
    async ({ id, poll }, tx) => {
      const before = await votesOf(tx, id, person)
      assertVote(poll, before, chosen, world.now() / 1000)
      await store(tx, id, person, chosen)
      return counted(tx, poll, id)
    },
    async ({ id, owner, poll }, on) => {
      const about = { chat: target.chat, actor: person }
      const to = { people: [owner] }
      if (!poll.isAnonymous) {
        const [row] = await on.db.query<{ person: PersonCard }>(
          `select ${personCard('p')} as person from sandbox_person p where id = $1`,
          [person],
        )
        const facts = { poll: id, person: personOf(row!.person), options: chosen }
        await tell(on, { kind: 'poll_answer', ...about, facts }, to)
      }
      await tell(on, { kind: 'poll', ...about, facts: { poll } }, to)
    },
  )
}

function assertVote(
  poll: Poll,
  before: readonly number[],
  chosen: readonly number[],
  now: number,
): void {
  const isOver = poll.isClosed || (poll.closesAt !== undefined && poll.closesAt <= now)
  if (isOver) throw bad("can't answer closed poll")
  if (chosen.some((place) => poll.options[place] === undefined)) {
    throw bad('invalid option ID specified')
  }
  if (chosen.length > 1 && !poll.isMultiple) {
    throw bad("can't choose more than 1 option in the poll")
  }
  if (poll.isQuiz && before.length > 0) throw bad('REVOTE_NOT_ALLOWED')
}

async function votesOf(db: Queryable, poll: string, person: number): Promise<readonly number[]> {
  const [row] = await db.query<{ options: number[] }>(
    'select options from sandbox_vote where poll_id = $1 and person_id = $2',
    [poll, person],
  )
  return row?.options ?? []
}

async function store(db: Queryable, poll: string, person: number, chosen: readonly number[]) {
  await db.query(
    chosen.length > 0
      ? `insert into sandbox_vote (poll_id, person_id, options) values ($1, $2, $3)
         on conflict (poll_id, person_id) do update set options = excluded.options`
      : 'delete from sandbox_vote where poll_id = $1 and person_id = $2',
    chosen.length > 0 ? [poll, person, [...chosen]] : [poll, person],
  )
}

async function counted(db: Queryable, poll: Poll, id: string): Promise<Poll> {
  const [people] = await db.query<{ voters: number }>(
    'select count(*)::int as voters from sandbox_vote where poll_id = $1',
    [id],
  )
  const rows = await db.query<{ place: number; voters: number }>(
    `select place, count(*)::int as voters from sandbox_vote, unnest(options) place
     where poll_id = $1 group by place`,
    [id],
  )
  const votersOf = (at: number) => rows.find(({ place }) => place === at)?.voters ?? 0
  return {
    ...poll,
    voters: people?.voters ?? 0,
    options: poll.options.map(({ text }, place) => ({ text, voters: votersOf(place) })),
  }
}
