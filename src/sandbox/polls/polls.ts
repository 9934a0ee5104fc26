/** Polls: a message opens one, votes change it, and it is closed once, by its sender or when its time is over. */

import { badRequest, failed, messageNotFound } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Poll } from '../../../machines/model/poll.ts'
import type { Text } from '../../../machines/model/text.ts'
import { countriesOf } from '../../accounts/phone.ts'
import type { Database, Queryable } from '../../database/database.ts'
import { findMessage, type MessageRef, whyMissing } from '../chats/find-message.ts'
import { membersOf } from '../chats/members.ts'
import { parseChatId, parseMessageId, personOf, withoutVotes } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { ActingPerson, Call, NetworkContext, Wake } from '../network/context.ts'
import { type PersonRow, personJson, SERVICE_PERSON } from '../network/rows.ts'

/** As many as a poll may be sent with. */
const MOST_OPTIONS = 12
const OPTION_LENGTH = 100
/** The code for anonymous numbers in a list of countries, and how these begin. */
const ANONYMOUS = { code: 'FT', prefix: '+888' }

/** A stored poll, locked while it is changed. */
interface LockedPoll {
  readonly id: string
  readonly owner: number
  readonly poll: Poll
}

/** The transaction that notifies people of a change. */
interface Announcing {
  readonly db: Queryable
  readonly wake: Wake
}

/** Opens a poll for a message that is sent next. A repeated request finds the poll of the first one. */
export async function openPoll(
  { db, now, pollTimer }: Pick<NetworkContext, 'db' | 'now' | 'pollTimer'>,
  owner: number,
  request: string,
  given: Poll,
): Promise<Poll> {
  const closesAt =
    given.closesAt ?? (given.openSeconds && Math.floor(now() / 1000) + given.openSeconds)
  const left = (closesAt ?? 0) - Math.floor(now() / 1000)
  const unused: Poll = {
    ...given,
    // A poll that ends at a time says for how long, too.
    ...(given.openSeconds === undefined && left > 0 && { openSeconds: left }),
    options: given.options.map(({ text, media }) => ({ text, voters: 0, ...(media && { media }) })),
    voters: 0,
    ...(closesAt && { closesAt }),
  }
  const [row] = await db.query<{ id: number }>(
    `insert into sandbox_poll (owner_id, request_id, poll, is_closed, closes_at)
     values ($1, $2, $3, $4, to_timestamp($5))
     on conflict (owner_id, request_id) do update set owner_id = excluded.owner_id returning id`,
    [owner, request, JSON.stringify(unused), unused.isClosed, closesAt ?? null],
  )
  if (closesAt && !unused.isClosed) pollTimer.schedule(closesAt * 1000)
  return { ...unused, id: `${row!.id}` }
}

/** Changes a poll in every message that carries it and notifies people, all in one transaction. */
async function changePoll(
  { db, wake }: { readonly db: Database; readonly wake: Wake },
  id: string,
  change: (locked: LockedPoll, tx: Queryable) => Promise<Poll>,
  announce: (changed: LockedPoll, on: Announcing) => Promise<void>,
): Promise<LockedPoll> {
  const woken: number[] = []
  const changed = await db.transaction(async (tx) => {
    const [row] = await tx.query<{ owner_id: number; poll: Poll }>(
      'select owner_id, poll from sandbox_poll where id = $1 for update',
      [id],
    )
    if (!row) throw failed('bad_request', 'message is not a poll')
    const locked = { id, owner: row.owner_id, poll: { ...row.poll, id } }
    const poll = await change(locked, tx)
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
    const after = { ...locked, poll }
    await announce(after, { db: tx, wake: (people) => woken.push(...people) })
    return after
  })
  wake(woken)
  return changed
}

/** Changes the poll of a message as one of its readers. Resolves with the poll as this reader sees it. */
async function changeAsReader(
  context: NetworkContext,
  person: number,
  place: MessageRef,
  change: (locked: LockedPoll, tx: Queryable) => Promise<Poll>,
  announce: (changed: LockedPoll, chat: number, on: Announcing) => Promise<void>,
): Promise<Poll> {
  const { chat, poll: id } = await findPoll(context.db, person, place)
  const { owner, poll } = await changePoll(context, id, change, (changed, on) =>
    announce(changed, chat, on),
  )
  return owner === person ? poll : withoutVotes(poll)
}

/** Replaces the person's vote by these places of options; none takes the vote back. */
export async function vote(
  context: NetworkContext,
  { person }: ActingPerson,
  place: MessageRef,
  options: readonly number[],
): Promise<Poll> {
  const chosen = [...new Set(options)].toSorted((a, b) => a - b)
  return changeAsReader(
    context,
    person,
    place,
    async ({ id, poll }, tx) => {
      await assertMayVote(tx, { id, poll }, person)
      const before = await votesOf(tx, id, person)
      assertVote(poll, before, chosen, context.now() / 1000)
      await store(tx, id, person, chosen)
      return counted(tx, poll, id)
    },
    async ({ id, owner, poll }, chat, on) => {
      const about = { chat, actor: person }
      const to = { people: [owner] }
      if (!poll.isAnonymous) {
        const facts = { poll: id, person: await personBy(on.db, person), options: chosen }
        await notify(on, { kind: 'poll_answer', ...about, facts }, to)
      }
      await notify(on, { kind: 'poll', ...about, facts: { poll } }, to)
    },
  )
}

/** Adds an option as a person who may vote, and says so in the chat of the message. */
export async function addOption(
  context: NetworkContext,
  person: number,
  place: MessageRef,
  text: Text,
): Promise<Poll> {
  if (text.text.trim() === '') throw badRequest('poll option text must be non-empty')
  if ([...text.text].length > OPTION_LENGTH) {
    throw badRequest(`poll option length must not exceed ${OPTION_LENGTH}`)
  }
  return changeAsReader(
    context,
    person,
    place,
    async ({ id, poll }, tx) => {
      assertOpen(poll, context.now() / 1000)
      if (!poll.isOpenToOptions) throw badRequest("options can't be added to the poll")
      await assertMayVote(tx, { id, poll }, person)
      if (poll.options.length >= MOST_OPTIONS) {
        throw badRequest(`poll can't have more than ${MOST_OPTIONS} answer options`)
      }
      if (poll.options.some((option) => option.text.text === text.text)) {
        throw badRequest('POLL_OPTION_DUPLICATE')
      }
      const by = await personBy(tx, person)
      const added = { by, at: Math.floor(context.now() / 1000) }
      return { ...poll, options: [...poll.options, { text, voters: 0, added }] }
    },
    async ({ owner, poll }, chat, on) => {
      const about = { chat, actor: person }
      await notify(on, { kind: 'poll', ...about, facts: { poll } }, { people: [owner] })
      await context.outbox.within(on.db, on.wake).send({
        sender: person,
        native: place.chat,
        request: crypto.randomUUID(),
        content: {
          kind: 'service',
          fact: 'option_added',
          message: String(place.message),
          option: poll.options.length - 1,
          text,
        },
      })
    },
  )
}

/** The chat and the poll of a message that the person sees. */
async function findPoll(db: Queryable, person: number, place: MessageRef) {
  const target = await findMessage(db, person, place)
  if (!target) throw messageNotFound('message with poll')
  const { content, chat } = target
  if (content.kind !== 'poll' || content.poll.id === undefined)
    throw badRequest('message is not a poll')
  return { chat, poll: content.poll.id }
}

async function personBy(db: Queryable, id: number): Promise<Person> {
  const [row] = await db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where id = $1`,
    [id],
  )
  return personOf(row!.person)
}

/** Throws where the poll is for others: members of the chat that it was sent to first, or people of some countries. */
async function assertMayVote(
  db: Queryable,
  { id, poll }: { readonly id: string; readonly poll: Poll },
  person: number,
): Promise<void> {
  if (!poll.isForMembers && !poll.countries) return
  const [voter] = await db.query<{ phone: string | null; is_member: boolean }>(
    `select p.phone, exists (
       select from sandbox_message t
       join sandbox_member m on m.chat_id = t.chat_id and m.person_id = p.id
         and m.role not in ('left', 'kicked')
       where t.content ->> 'kind' = 'poll' and t.content #>> '{poll,id}' = $2
         and t.forward is null) as is_member
     from sandbox_person p where p.id = $1`,
    [person, id],
  )
  if (poll.isForMembers && !voter?.is_member) throw badRequest('POLL_MEMBERS_ONLY')
  if (poll.countries && !isOfCountry(voter?.phone ?? '', poll.countries)) {
    throw badRequest('POLL_COUNTRY_RESTRICTED')
  }
}

const isOfCountry = (phone: string, countries: readonly string[]): boolean =>
  phone.startsWith(ANONYMOUS.prefix)
    ? countries.includes(ANONYMOUS.code)
    : countriesOf(phone).some((country) => countries.includes(country))

function assertOpen(poll: Poll, now: number): void {
  const isOver = poll.isClosed || (poll.closesAt !== undefined && poll.closesAt <= now)
  if (isOver) throw badRequest("can't answer closed poll")
}

function assertVote(
  poll: Poll,
  before: readonly number[],
  chosen: readonly number[],
  now: number,
): void {
  assertOpen(poll, now)
  if (chosen.some((place) => poll.options[place] === undefined)) {
    throw badRequest('invalid option ID specified')
  }
  if (chosen.length > 1 && !poll.isMultiple) {
    throw badRequest("can't choose more than 1 option in the poll")
  }
  if (!(poll.isRevotable ?? !poll.isQuiz) && before.length > 0)
    throw badRequest('REVOTE_NOT_ALLOWED')
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
    options: poll.options.map((option, place) => ({ ...option, voters: votersOf(place) })),
  }
}

export async function stopPoll(
  { context, by }: Call,
  operation: OperationOf<'stop_poll'>,
): Promise<OperationResult> {
  const { person, session } = by
  const ref = {
    chat: parseChatId(operation.chat),
    message: parseMessageId(operation.message, 'edit'),
  }
  const target = await findMessage(context.db, person, ref)
  if (!target) {
    const otherwise = messageNotFound('message with poll to stop')
    throw await whyMissing(context.db, person, ref.chat, otherwise)
  }
  const { content, sender, isForwarded, chat } = target
  if (content.kind !== 'poll') throw badRequest('message is not a poll')
  if (sender !== person || isForwarded) throw badRequest("poll can't be stopped")
  const { buttons } = operation
  const { poll } = await changePoll(
    context,
    content.poll.id ?? '',
    async ({ poll }, tx) => {
      if (poll.isClosed) throw badRequest('poll has already been closed')
      await tx.query('update sandbox_message set buttons = $3 where chat_id = $1 and id = $2', [
        ...[chat, target.id],
        buttons ? JSON.stringify(buttons) : null,
      ])
      return { ...poll, isClosed: true }
    },
    (closed, on) =>
      notifyMembers(on, closed, { chat, actor: person, ...(session !== undefined && { session }) }),
  )
  return { kind: 'poll', poll }
}

/** Closes a poll whose time is over. Two processes may find it due: the second changes nothing. */
export async function closePoll(
  context: Pick<NetworkContext, 'db' | 'wake'>,
  id: string,
): Promise<void> {
  let wasOpen = false
  await changePoll(
    context,
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
        await notifyMembers(on, closed, { chat: first.chat_id, actor: SERVICE_PERSON })
    },
  )
}

async function notifyMembers(
  on: Announcing,
  { poll }: LockedPoll,
  about: { readonly chat: number; readonly actor: number; readonly session?: number },
): Promise<void> {
  const people = await membersOf(on.db, about.chat)
  await notify(on, { kind: 'poll', ...about, facts: { poll } }, { people })
}
