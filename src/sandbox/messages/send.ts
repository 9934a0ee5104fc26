/** Sending: one round trip when all is well, else a closer look at what stands in the way. */

import type { Message } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Permission } from '../../../machines/model/membership.ts'
import type { Queryable } from '../../database/database.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { messageCard, type View, viewColumns, viewJoins } from '../delivery/cards.ts'
import { chatCondition } from '../delivery/natives.ts'
import { messageOf } from '../delivery/neutral.ts'
import type { Draft, Outbox } from './outbox.ts'
import {
  MAY_WRITE_WHEN_CLOSED,
  MEMBER_PERMISSIONS,
  mayCarry,
  sendingWords,
} from './sending-rights.ts'

export async function send(db: Queryable, outbox: Outbox, draft: Draft): Promise<Message> {
  const [message] = await sendTogether(db, outbox, [draft])
  return message!
}

/** Drafts of one sender for one chat: all are sent or none. */
export async function sendTogether(
  db: Queryable,
  outbox: Outbox,
  drafts: readonly Draft[],
): Promise<Message[]> {
  const views =
    (await outbox.send(drafts)) ??
    (await allSentBefore(db, drafts)) ??
    (await sendAfterOpening(db, outbox, drafts))
  return views.map(messageOf)
}

async function allSentBefore(db: Queryable, drafts: readonly Draft[]) {
  const views = await Promise.all(drafts.map((draft) => sentBefore(db, draft)))
  return views.every((view) => view !== undefined) ? views : undefined
}

/** A repeated request is the message it was the first time. */
export async function sentBefore(
  db: Queryable,
  { sender, request }: Pick<Draft, 'sender' | 'request'>,
): Promise<View | undefined> {
  const [view] = await db.query<View>(
    `select ${messageCard('m')} as message, ${viewColumns}
     from sandbox_message m ${viewJoins('m', 'm.sender_id')}
     where m.sender_id = $1 and m.request_id = $2`,
    [sender, request],
  )
  return view
}

async function sendAfterOpening(db: Queryable, outbox: Outbox, drafts: readonly Draft[]) {
  const [first] = drafts
  await openPrivateChat(db, first!.sender, first!.native)
  const views = await outbox.send(drafts)
  if (views) return views
  throw await refusalOf(db, drafts)
}

interface Circumstances {
  readonly kind: string
  readonly role: string | null
  readonly is_ended: boolean
  readonly is_gone: boolean
  readonly is_blocked: boolean
  /** What this member may do, and what ordinary members may; null: everything. */
  readonly ownLimits: readonly Permission[] | null
  readonly chatLimits: readonly Permission[] | null
  readonly is_topic_known: boolean
  readonly may_write_there: boolean
}

/** Why the first of these cannot be sent. */
export async function refusalOf(db: Queryable, drafts: readonly Draft[]) {
  const draft = drafts[0]!
  const [found] = await db.query<Circumstances>(
    `select c.kind, m.role, me.deactivated or me.banned as is_ended,
       coalesce(o.deactivated, false) as is_gone,
       exists (select from sandbox_block where person_id = $2 and blocked_id = $1) as is_blocked,
       ${MEMBER_PERMISSIONS} as "ownLimits", c.permissions as "chatLimits",
       $3::bigint is null or tp.id is not null as is_topic_known,
       tp.is_closed is not true or ${MAY_WRITE_WHEN_CLOSED} as may_write_there
     from sandbox_chat c
     join sandbox_person me on me.id = $1
     left join sandbox_member m on m.chat_id = c.id and m.person_id = $1
     left join sandbox_person o on o.id = $2
     left join sandbox_message t on t.chat_id = c.id and t.id = $4 and t.deleted_at is null
     left join sandbox_topic tp on tp.chat_id = c.id and tp.id = coalesce($3, t.topic)
     where ${chatCondition('$1', '$2')}`,
    [draft.sender, draft.native, draft.topic ?? null, draft.reply ?? null],
  )
  if (!found) return failed('bad_request', 'chat not found')
  const { kind, role } = found
  if (found.is_ended || found.is_gone) return failed('forbidden', 'user is deactivated')
  if (found.is_blocked) return failed('forbidden', 'bot was blocked by the user')
  if (role === 'kicked') return failed('forbidden', `bot was kicked from the ${chatWord(kind)}`)
  if (role === null || role === 'left')
    return failed('forbidden', `bot is not a member of the ${chatWord(kind)}`)
  if (kind === 'channel' && role === 'member')
    return failed('bad_request', 'need administrator rights in the channel chat')
  if (kind === 'channel' && drafts.some(({ keyboard }) => keyboard)) {
    return failed('bad_request', 'inline keyboard expected')
  }
  if (role === 'member') {
    const limits = [found.ownLimits, found.chatLimits]
    const unfit = drafts.find(({ content }) => !mayCarry(limits, content))
    if (unfit) return failed('bad_request', `not enough rights to ${sendingWords(unfit.content)}`)
  }
  if (!found.is_topic_known) return failed('bad_request', 'message thread not found')
  if (!found.may_write_there) return failed('bad_request', 'TOPIC_CLOSED')
  return failed('bad_request', 'message to be replied not found')
}

const chatWord = (kind: string) => `${kind} chat`
