/** One page of a person's queue, as the happenings that a session reports. */

import type { Message } from '../../../machines/model/content.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { Invite, Member } from '../../../machines/model/membership.ts'
import type { Queryable } from '../../database/database.ts'
import {
  aboutColumns,
  aboutJoins,
  byKey,
  type MessageRow,
  type MessageView,
  type PersonRow,
  personJson,
  type QueuedMessage,
  viewColumns,
  viewJoins,
} from '../network/rows.ts'
import {
  chatOf,
  inlineId,
  type MessageAttributes,
  messageOf,
  personOf,
  viaOf,
  withoutAnswer,
  withoutHiddenVotes,
} from './mapping.ts'
import type { NewsFields } from './notify.ts'
import { openPaid } from './paid-media.ts'

const PAGE_SIZE = 500

interface Row extends Omit<MessageView, 'message'> {
  readonly seq: number
  readonly kind: Happening['kind']
  readonly actor_id: number
  readonly actor: PersonRow
  readonly caused_by: number | null
  readonly at: number
  readonly detail: MessageRow & {
    readonly callback?: number
    readonly data?: string
    readonly facts?: NewsFields
  }
}

export interface EventPage {
  /** The number of the last event read, also of one that the session made itself and that is left out. */
  readonly last: number
  readonly isFull: boolean
  readonly happenings: readonly Happening[]
}

export interface EventReader {
  readonly person: number
  readonly session: number
  /** The number of the last event that was queued before the session was opened. */
  readonly openedAt: number
  recoversChannels(): boolean
}

const page = {
  name: 'sandbox_page',
  text: `select e.seq, e.kind, e.actor_id, e.caused_by, e.detail, ${viewColumns}, ${aboutColumns},
      ${personJson('a')} as actor, floor(extract(epoch from e.at))::bigint as at
    from sandbox_event e
    cross join lateral jsonb_to_record(e.detail)
      as detail (chat_id bigint, sender_id bigint, reply_to bigint, topic bigint)
    ${viewJoins('detail', 'e.person_id')}
    ${aboutJoins('detail.chat_id', "(e.detail -> 'content')")}
    cross join ${byKey('sandbox_person', 'x.id = e.actor_id')} a
    where e.person_id = $1 and e.seq > $2
    order by e.seq limit ${PAGE_SIZE}`,
}

export async function readEventPage(
  db: Queryable,
  reader: EventReader,
  after: number,
): Promise<EventPage> {
  const rows = await db.query<Row>(page, [reader.person, after])
  return {
    last: rows.at(-1)?.seq ?? after,
    isFull: rows.length === PAGE_SIZE,
    happenings: await withPaid(
      db,
      reader,
      rows.filter((row) => isFor(reader, row)).map((row) => happeningOf(reader, row)),
    ),
  }
}

/** A page of messages that nobody needs to read: whoever sent them had them at hand. */
export const pageOf = (reader: EventReader, messages: readonly QueuedMessage[]): EventPage => ({
  last: messages.at(-1)!.seq,
  isFull: false,
  happenings: messages
    .map(rowOf)
    .filter((row) => isFor(reader, row))
    .map((row) => happeningOf(reader, row)),
})

const rowOf = ({ message, session, person: _, ...view }: QueuedMessage): Row => ({
  ...view,
  kind: 'message',
  actor_id: message.sender_id,
  actor: view.sender,
  caused_by: session,
  at: message.at,
  detail: message,
})

/** With the paid media that the reader may see. */
async function withPaid(db: Queryable, { person }: EventReader, happenings: readonly Happening[]) {
  const told = happenings.flatMap((happening) => ('message' in happening ? happening.message : []))
  const opened = await openPaid(db, person, told)
  if (opened === told) return happenings
  const messages = opened.values()
  return happenings.map((happening) =>
    'message' in happening ? { ...happening, message: messages.next().value! } : happening,
  )
}

function isFor({ session, openedAt, recoversChannels }: EventReader, row: Row): boolean {
  const isMissedPost = row.chat.kind === 'channel' && row.seq <= openedAt
  return row.caused_by !== session && (!isMissedPost || recoversChannels())
}

function happeningOf(reader: EventReader, row: Row): Happening {
  const { kind, detail, at } = row
  const common = {
    direction: row.actor_id === reader.person ? ('own' as const) : ('incoming' as const),
    at,
    ...(row.seq <= reader.openedAt && { recovered: true }),
  }
  const { ephemeral } = (detail.attributes ?? {}) as MessageAttributes
  const place = ephemeral ? `ephemeral:${ephemeral.id}` : `${detail.chat_id}:${detail.id}`
  if (kind === 'deleted') {
    const chat = chatOf(row.chat, row.other)
    return {
      ...common,
      kind,
      sourceKey: `deleted:${place}`,
      chat: chat.native,
      surface: chat.surface,
      messages: [String(detail.id)],
    }
  }
  if (detail.facts) return eventOf(reader, row, common, detail.facts)
  const message = withoutSolution(messageOf({ ...row, message: detail }), common.direction)
  if (kind === 'callback') {
    const pressed = {
      ...common,
      sourceKey: `callback:${detail.callback}`,
      callback: String(detail.callback),
      ...(message.content.kind === 'game' && detail.data === ''
        ? { game: message.content.game.name }
        : { data: detail.data! }),
    }
    if (viaOf(detail)) {
      const inline = inlineId({ chat: detail.chat_id, message: detail.id })
      const place = String(detail.chat_id)
      return { ...pressed, kind: 'inline_callback', person: personOf(row.actor), inline, place }
    }
    return {
      ...pressed,
      kind,
      from: personOf(row.actor),
      message,
      ...(message.buttons && { buttons: message.buttons }),
    }
  }
  const shown = kind === 'edited' ? 'edited' : 'message'
  return { ...common, kind: shown, sourceKey: `${shown}:${place}:${detail.version}`, message }
}

/** Events that tell nothing of the chat where they happened. */
const WITHOUT_CHAT: readonly Happening['kind'][] = [
  'poll',
  'poll_answer',
  'inline_query',
  'inline_choice',
  'guest_message',
  'shipping_query',
  'checkout_query',
  'subscription',
  'media_purchase',
  'managed_bot',
]

/** An event that is no message: its facts as they were queued, in the chat as this reader sees it. */
function eventOf({ person }: EventReader, row: Row, common: object, facts: NewsFields): Happening {
  return {
    ...common,
    ...facts,
    ...('invite' in facts && facts.invite && { invite: inviteSeenBy(person, facts.invite) }),
    kind: row.kind,
    sourceKey: `${row.kind}:${row.seq}`,
    ...(!WITHOUT_CHAT.includes(row.kind) && { chat: chatOf(row.chat, row.other) }),
    ...memberFacts(person, facts),
  } as unknown as Happening
}

/** A change of a member: whose it is, and whether the reader may change the administrator's rights. */
function memberFacts(person: number, facts: NewsFields): object {
  if (!('after' in facts) || !('person' in facts.after)) return {}
  const { before, after } = facts as NewsFields<'member'>
  const seen = (member: Member): Member =>
    member.promotedBy === `${person}` ? { ...member, isEditable: true } : member
  return { isSelf: after.person.native === `${person}`, before: seen(before), after: seen(after) }
}

/** Hides the right answers of an open quiz from the people who may vote in a group, and votes that nobody may see yet. */
export function withoutSolution(given: Message, direction: Happening['direction']): Message {
  const message = withoutHiddenVotes(given, direction === 'own')
  const isSecret = direction === 'incoming' && message.chat.surface !== 'private'
  return isSecret ? withoutAnswer(message) : message
}

export const INVITE_ADDRESS = 'https://sandbox.invalid/+'
const SHOWN_LENGTH = INVITE_ADDRESS.length + 8

/** The link of another administrator is shortened, so that the reader cannot pass it on. */
const inviteSeenBy = (person: number, invite: Invite): Invite =>
  invite.creator.native === `${person}`
    ? invite
    : { ...invite, link: `${invite.link.slice(0, SHOWN_LENGTH)}...` }
