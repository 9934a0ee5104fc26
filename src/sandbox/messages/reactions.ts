/** What people think of a message: one reaction each, told to the others. */

import type { Reaction } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Operation } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import { lookAt, type Target } from '../chats/look.ts'
import { membersOf } from '../chats/members.ts'
import { memberOf } from '../chats/membership.ts'
import { assertMay, may, standingOf } from '../chats/standing.ts'
import { type PersonCard, personCard } from '../delivery/cards.ts'
import { chatNative, messageNative } from '../delivery/natives.ts'
import { personOf } from '../delivery/neutral.ts'
import { tell } from '../delivery/telling.ts'
import { isReaction } from './reaction-emoji.ts'
import type { Place } from './revise.ts'

const bad = (description: string) => failed('bad_request', description)

/** Instead of those given before; none takes them back. */
export async function react(
  { db, wake }: World,
  doer: Doer,
  place: Place,
  reactions: readonly Reaction[],
): Promise<void> {
  if (reactions.length > 1) throw bad('REACTIONS_TOO_MANY')
  if (!reactions.every(isReaction)) throw bad('REACTION_INVALID')
  const woken: number[] = []
  await db.transaction(async (tx) => {
    const target = await lookAt(tx, doer.person, place)
    if (!target) throw bad('message to react not found')
    if (target.content.kind === 'service') throw bad('REACTION_INVALID')
    if (reactions.length > 0) await assertMayReact(tx, doer, target, place)
    const before = await exchange(tx, target, doer.person, reactions)
    if (JSON.stringify(before) === JSON.stringify(reactions)) return
    await announce(tx, (people) => woken.push(...people), target, doer, before, reactions)
  })
  wake(woken)
}

/** An administrator takes it back for somebody: told as a change of theirs, to the account that did it as well. */
export async function removeReaction(
  { db, wake }: World,
  doer: Doer,
  { chat, message, person }: Extract<Operation, { kind: 'remove_reaction' }>,
): Promise<void> {
  const place = { chat: chatNative(chat), message: messageNative(message, 'react') }
  const giver = chatNative(person)
  const woken: number[] = []
  await db.transaction(async (tx) => {
    const standing = await standingOf(tx, doer.person, place.chat)
    const { kind, id } = standing.chat
    if (kind !== 'group' && kind !== 'supergroup') {
      throw bad('method is available only for groups and supergroups')
    }
    if (!may(standing, 'delete_messages')) throw bad('CHAT_ADMIN_REQUIRED')
    const target = await lookAt(tx, doer.person, place)
    if (!target) throw bad('message to react not found')
    if (!(await memberOf(tx, id, giver))) throw bad('user not found')
    const before = await exchange(tx, target, giver, [])
    if (before.length === 0) return
    await announce(tx, (people) => woken.push(...people), target, { person: giver }, before, [])
  })
  wake(woken)
}

/** In a group members may react as far as they are let. */
async function assertMayReact(
  tx: Queryable,
  { person }: Doer,
  { kind }: Target,
  { chat }: Place,
): Promise<void> {
  if (kind === 'private' || kind === 'channel') return
  const standing = await standingOf(tx, person, chat)
  assertMay(standing, 'react to messages in the chat', 'manage_chat', 'react_to_messages')
}

/** Resolves with what it was before. One at a time: the message is held meanwhile. */
async function exchange(
  tx: Queryable,
  { chat, id }: Target,
  person: number,
  reactions: readonly Reaction[],
): Promise<readonly Reaction[]> {
  await tx.query('select from sandbox_message where chat_id = $1 and id = $2 for no key update', [
    chat,
    id,
  ])
  const at = [chat, id, person]
  const [row] = await tx.query<{ reactions: Reaction[] }>(
    `select reactions from sandbox_reaction
     where chat_id = $1 and message_id = $2 and person_id = $3`,
    at,
  )
  if (reactions.length === 0) {
    await tx.query(
      'delete from sandbox_reaction where chat_id = $1 and message_id = $2 and person_id = $3',
      at,
    )
  } else {
    await tx.query(
      `insert into sandbox_reaction (chat_id, message_id, person_id, reactions)
       values ($1, $2, $3, $4)
       on conflict (chat_id, message_id, person_id) do update
       set reactions = excluded.reactions, at = now()`,
      [...at, JSON.stringify(reactions)],
    )
  }
  return row?.reactions ?? []
}

/** Whoever reacts in a channel is not named: there only the counts are told. */
async function announce(
  tx: Queryable,
  wake: World['wake'],
  { chat, kind, id }: Target,
  { person, session }: Doer,
  before: readonly Reaction[],
  after: readonly Reaction[],
): Promise<void> {
  const on = { db: tx, wake }
  const about = { chat, actor: person, ...(session !== undefined && { session }) }
  const people = await membersOf(tx, chat)
  const target = `${id}`
  if (kind === 'channel') {
    const facts = { target, counts: await countsOf(tx, chat, id) }
    return tell(on, { kind: 'reaction_count', ...about, facts }, { people })
  }
  const [row] = await tx.query<{ person: PersonCard }>(
    `select ${personCard('p')} as person from sandbox_person p where p.id = $1`,
    [person],
  )
  const facts = { target, person: personOf(row!.person), before, after }
  await tell(on, { kind: 'reaction', ...about, facts }, { people })
}

export interface ReactionCount {
  readonly reaction: Reaction
  readonly count: number
}

function countsOf(db: Queryable, chat: number, message: number): Promise<ReactionCount[]> {
  return db.query<ReactionCount>(
    `select reaction, count(*)::int as count
     from sandbox_reaction r, jsonb_array_elements(r.reactions) reaction
     where r.chat_id = $1 and r.message_id = $2
     group by reaction order by count desc, reaction::text`,
    [chat, message],
  )
}
