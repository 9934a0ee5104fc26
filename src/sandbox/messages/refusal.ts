/** Explains why a message was not admitted. The statement that sends does not say it, to stay cheap when all is well. */
import { failed, messageNotFound, notFound } from '../../../machines/model/failure.ts'
import type { Permission } from '../../../machines/model/rights.ts'
import type { Queryable } from '../../database/database.ts'
import {
  hasRight,
  keepsOut,
  lastInSlowMode,
  MAY_WRITE_WHEN_CLOSED,
  MEMBER_PERMISSIONS,
} from '../chats/access.ts'
import type { OutgoingMessage } from '../network/context.ts'
import { chatCondition } from '../network/rows.ts'
import { allows, sendingWords } from './content.ts'

interface Circumstances {
  readonly kind: string
  readonly role: string | null
  readonly is_ended: boolean
  readonly is_gone: boolean
  readonly is_blocked: boolean
  readonly is_kept_out: boolean
  /** The permissions of this member, and those of ordinary members; null: everything. */
  readonly ownLimits: readonly Permission[] | null
  readonly chatLimits: readonly Permission[] | null
  readonly is_topic_known: boolean
  readonly may_write_there: boolean
  /** Only for a channel. */
  readonly may_post: boolean
  readonly is_slow: boolean
  /** Seconds until slow mode lets the member write again. */
  readonly wait: number | null
}

/** The reason why these messages of one sender to one chat were not admitted. */
export async function refusalOf(db: Queryable, messages: readonly OutgoingMessage[]) {
  const message = messages[0]!
  const [found] = await db.query<Circumstances>(
    `select c.kind, m.role, me.deactivated or me.banned as is_ended,
       coalesce(o.deactivated, false) as is_gone,
       exists (select from sandbox_block where person_id = $2 and blocked_id = $1) as is_blocked,
       ${keepsOut('$2::bigint', '$1::bigint')} as is_kept_out,
       ${MEMBER_PERMISSIONS} as "ownLimits", c.permissions as "chatLimits",
       $3::bigint is null or tp.id is not null as is_topic_known,
       (case when tp.id is null then c.general_closed else tp.is_closed end) is not true
         or coalesce(${MAY_WRITE_WHEN_CLOSED}, false) as may_write_there,
       coalesce(${hasRight('post_messages')}, false) as may_post,
       c.slow_mode > 0 as is_slow, ceil(extract(epoch from (${lastInSlowMode('$1')})
         + make_interval(secs => c.slow_mode) - now()))::int as wait
     from sandbox_chat c
     join sandbox_person me on me.id = $1
     left join sandbox_member m on m.chat_id = c.id and m.person_id = $1
     left join sandbox_person o on o.id = $2
     left join sandbox_message t on t.chat_id = c.id and t.id = $4 and t.deleted_at is null
     left join sandbox_topic tp on tp.chat_id = c.id and tp.id = coalesce($3, t.topic)
     where ${chatCondition('$1', '$2')}`,
    [message.sender, message.native, message.topic ?? null, message.reply ?? null],
  )
  if (!found) return notFound('chat')
  const { kind, role } = found
  if (found.is_ended || found.is_gone)
    return failed('forbidden', 'user is deactivated', { reason: 'user_deactivated' })
  if (found.is_blocked) return failed('forbidden', 'bot was blocked by the user')
  if (found.is_kept_out) return failed('forbidden', 'BOT_ACCESS_FORBIDDEN')
  if (role === 'kicked') return failed('forbidden', `bot was kicked from the ${chatWord(kind)}`)
  if (role === null || role === 'left')
    return failed('forbidden', `bot is not a member of the ${chatWord(kind)}`)
  if (kind === 'channel' && !found.may_post)
    return failed('bad_request', 'need administrator rights in the channel chat', {
      reason: 'channel_admin_needed',
    })
  if (kind === 'channel' && messages.some(({ keyboard }) => keyboard)) {
    return failed('bad_request', 'inline keyboard expected')
  }
  if (role === 'member') {
    const limits = [found.ownLimits, found.chatLimits]
    const unfit = messages.find((one) => !allows(limits, one))
    if (unfit) return failed('bad_request', `not enough rights to ${sendingWords(unfit)}`)
  }
  const slowed = role === 'member' && slowModeRefusal(found, messages)
  if (slowed) return slowed
  if (!found.is_topic_known) return notFound('message thread')
  if (!found.may_write_there) return failed('bad_request', 'TOPIC_CLOSED')
  if (message.reply !== undefined) return messageNotFound('message to be replied')
  return failed('unavailable', 'the chat was changed meanwhile', { retryAfterSeconds: 1 })
}

function slowModeRefusal({ is_slow, wait }: Circumstances, messages: readonly OutgoingMessage[]) {
  if (is_slow && messages.length > 1) return failed('bad_request', 'SLOWMODE_MULTI_MSGS_DISABLED')
  return wait !== null && failed('rate_limited', '', { retryAfterSeconds: Math.max(1, wait) })
}

const chatWord = (kind: string) => `${kind} chat`
