/** Reactions of people to messages, at most one of each person. */
import type { Reaction } from '../../../machines/model/content.ts'
import { badRequest, messageNotFound, notFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { accessOf, assertMay, may } from '../chats/access.ts'
import {
  type FoundMessage,
  findMessage,
  type MessageRef,
  whyMissing,
} from '../chats/find-message.ts'
import { memberOf, membersOf } from '../chats/members.ts'
import { parseChatId, parseMessageId, personOf } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import { queueing, woken } from '../delivery/queue.ts'
import type { ActingPerson, Call, Wake } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'

/** The emoji that the reference lists as reactions. */
const LISTED = (
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 ' +
  '😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 ' +
  '👾 🤷‍♂ 🤷 🤷‍♀ 😡'
).split(' ')

/** Custom emoji are not checked. */
const isReaction = (reaction: Reaction): boolean =>
  !('emoji' in reaction) || LISTED.includes(reaction.emoji.replaceAll('\ufe0f', ''))

/** Replaces the reactions of the person; none takes them back. */
export async function react(
  { context: { db, wake }, by }: Call,
  operation: OperationOf<'react'>,
): Promise<OperationResult> {
  const ref = {
    chat: parseChatId(operation.chat),
    message: parseMessageId(operation.message, 'react'),
  }
  const { reactions } = operation
  if (reactions.length > 1) throw badRequest('REACTIONS_TOO_MANY')
  if (!reactions.every(isReaction)) throw badRequest('REACTION_INVALID')
  const woken: number[] = []
  await db.transaction(async (tx) => {
    const target = await findMessage(tx, by.person, ref)
    if (!target) {
      throw await whyMissing(tx, by.person, ref.chat, messageNotFound('message to react'))
    }
    if (target.content.kind === 'service') throw badRequest('REACTION_INVALID')
    if (reactions.length > 0) await assertMayReact(tx, by, target, ref)
    const before = await exchange(tx, target, by.person, reactions)
    if (JSON.stringify(before) === JSON.stringify(reactions)) return
    await notifyMembers(tx, (people) => woken.push(...people), target, by, before, reactions)
  })
  wake(woken)
  return { kind: 'done' }
}

/** An administrator removes the reactions of a member. Everybody is notified of it as a change by that member. */
export async function removeReaction(
  { context: { db, wake }, by }: Call,
  { chat, message, person }: OperationOf<'remove_reaction'>,
): Promise<OperationResult> {
  const ref = { chat: parseChatId(chat), message: parseMessageId(message, 'react') }
  const giver = parseChatId(person)
  const woken: number[] = []
  await db.transaction(async (tx) => {
    const id = await chatToClear(tx, by, ref.chat)
    const target = await findMessage(tx, by.person, ref)
    if (!target) throw messageNotFound('message to react')
    if (!(await memberOf(tx, id, giver))) throw notFound('user')
    const before = await exchange(tx, target, giver, [])
    if (before.length === 0) return
    await notifyMembers(
      tx,
      (people) => woken.push(...people),
      target,
      { person: giver },
      before,
      [],
    )
  })
  wake(woken)
  return { kind: 'done' }
}

/** The id of the group's row. Rejects for a person who may not remove the reactions of others there. */
async function chatToClear(tx: Queryable, { person }: ActingPerson, chat: number): Promise<number> {
  const access = await accessOf(tx, person, chat)
  const { kind, id } = access.chat
  if (kind !== 'group' && kind !== 'supergroup') {
    throw badRequest('method is available only for groups and supergroups')
  }
  if (!may(access, 'delete_messages')) throw badRequest('CHAT_ADMIN_REQUIRED')
  return id
}

/** As many of the newest reactions as the reference removes at once. */
const MOST_REMOVED = 10_000

/** Locks the messages as `exchange` does, always in the same order. */
const LOCK_REACTED = `
  select m.id from sandbox_message m
  where m.chat_id = $1 and m.id in (
    select message_id from sandbox_reaction where chat_id = $1 and person_id = $2
    order by at desc limit ${MOST_REMOVED})
  order by m.id for no key update`

const removing = {
  name: 'sandbox_remove_reactions',
  text: `with gone as (
      delete from sandbox_reaction
      where chat_id = $1 and person_id = $2 and message_id = any($3::bigint[])
      returning message_id, reactions
    ),
    change as (
      select row_number() over (order by message_id) as ord, $1::bigint as chat_id,
        $2::bigint as actor_id, null::bigint as session_id,
        jsonb_build_object('chat_id', $1::bigint, 'sender_id', $2::bigint,
          'facts', jsonb_build_object('target', message_id::text, 'before', reactions,
            'after', '[]'::jsonb, 'person', $4::jsonb)) as detail
      from gone
    ), ${queueing('reaction')}
    select ${woken}`,
}

/** An administrator removes the newest reactions of a member. Each removal is reported as a change by that member. */
export async function removeAllReactions(
  { context: { db, wake }, by }: Call,
  { chat, person }: OperationOf<'remove_all_reactions'>,
): Promise<OperationResult> {
  const giver = parseChatId(person)
  const people = await db.transaction(async (tx) => {
    const id = await chatToClear(tx, by, parseChatId(chat))
    const member = await memberOf(tx, id, giver)
    if (!member) throw notFound('user')
    const messages = await tx.query<{ id: number }>(LOCK_REACTED, [id, giver])
    const [row] = await tx.query<{ woken: number[] }>(removing, [
      ...[id, giver, messages.map((message) => message.id)],
      JSON.stringify(member.person),
    ])
    return row?.woken ?? []
  })
  wake(people)
  return { kind: 'done' }
}

/** Groups can forbid reactions to their members. */
async function assertMayReact(
  tx: Queryable,
  { person }: ActingPerson,
  { kind }: FoundMessage,
  { chat }: MessageRef,
): Promise<void> {
  if (kind === 'private' || kind === 'channel') return
  const access = await accessOf(tx, person, chat)
  assertMay(access, 'react to messages in the chat', 'manage_chat', 'react_to_messages')
}

/** Resolves with the reactions before. Locks the message, so that changes come one after the other. */
async function exchange(
  tx: Queryable,
  { chat, id }: FoundMessage,
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

/** A channel shows only counts, not the people who react. */
async function notifyMembers(
  tx: Queryable,
  wake: Wake,
  { chat, kind, id }: FoundMessage,
  { person, session }: ActingPerson,
  before: readonly Reaction[],
  after: readonly Reaction[],
): Promise<void> {
  const on = { db: tx, wake }
  const about = { chat, actor: person, ...(session !== undefined && { session }) }
  const people = await membersOf(tx, chat)
  const target = `${id}`
  if (kind === 'channel') {
    const facts = { target, counts: await countsOf(tx, chat, id) }
    return notify(on, { kind: 'reaction_count', ...about, facts }, { people })
  }
  const [row] = await tx.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where p.id = $1`,
    [person],
  )
  const facts = { target, person: personOf(row!.person), before, after }
  await notify(on, { kind: 'reaction', ...about, facts }, { people })
}

interface ReactionCount {
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
