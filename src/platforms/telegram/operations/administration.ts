/** General topics, titles and tags of members, channels that may not write, boosts, suggested posts, and the account's emoji status. */
import { Long, PeersIndex, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { badRequest } from '../../../../machines/model/failure.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import type { OperationOf, OperationResult } from '../../../../machines/model/operation.ts'
import type { GeneralTopicChange } from '../../../../machines/model/operation-administration.ts'
import { PERMISSIONS } from '../../../../machines/model/rights.ts'
import { refusalOf } from '../failures.ts'
import { messageId } from '../natives.ts'
import { bannedRights, shutOut } from '../reading/memberships.ts'
import { personById } from '../reading/peers.ts'
import { type Context, done, readOptions } from './context.ts'
import { memberIn } from './members.ts'
import { missing } from './messages.ts'
import { topicId } from './send.ts'

/** The network's number of every general topic. */
const GENERAL = 1

export const administration: Handlers<Context> = {
  async edit_general_topic({ calls, signal }, { chat, change }) {
    const peer = await calls.peer(chat, signal)
    const request = { _: 'messages.editForumTopic', peer, topicId: GENERAL } as const
    calls.take(await calls.call({ ...request, ...changed(change) }, { signal }))
    return done
  },

  async unpin_topic({ calls, signal }, { chat, topic }) {
    const peer = await calls.peer(chat, signal)
    const topMsgId = topic === undefined ? GENERAL : topicId(topic)
    const request = { _: 'messages.unpinAllMessages', peer, topMsgId } as const
    const { pts, ptsCount } = await calls.call(request, { signal })
    calls.count(pts, ptsCount, peer._ === 'inputPeerChannel' ? peer.channelId : 0)
    return done
  },

  async set_member_title(context, { title, ...member }) {
    const { status } = await memberIn(context, member)
    if (status === 'creator' && member.person !== context.self) {
      throw badRequest('only the owner can edit their custom title')
    }
    if (status !== 'administrator' && status !== 'creator') {
      throw badRequest('user is not an administrator')
    }
    return name(context, member, title, 'CUSTOM_TITLE')
  },

  async set_member_tag(context, { tag, ...member }) {
    const { status } = await memberIn(context, member)
    if (status === 'administrator' || status === 'creator')
      throw badRequest('USER_IS_ADMINISTRATOR')
    if (!ORDINARY.includes(status)) throw badRequest('USER_NOT_PARTICIPANT')
    return name(context, member, tag, 'TAG')
  },

  ban_sender: (context, operation) => confineSender(context, operation, shutOut()),

  unban_sender: (context, operation) =>
    confineSender(context, operation, bannedRights(PERMISSIONS)),

  async boosts(context, { chat, person }) {
    const { calls, self, signal } = context
    const peer = await calls.peer(chat, signal)
    const userId = await calls.user(person, signal)
    const found = await calls.call(
      { _: 'premium.getUserBoosts', peer, userId },
      readOptions(context),
    )
    const booster = personById(Number(person), { self, peers: PeersIndex.from(found) })
    const boosts = found.boosts.map(({ id, date: at, expires: expiresAt }) => ({
      id,
      person: booster,
      at,
      expiresAt,
    }))
    return { kind: 'boosts', boosts }
  },

  approve_post: (context, { sendAt, ...post }) =>
    answerPost(context, post, { ...(sendAt !== undefined && { scheduleDate: sendAt }) }),

  decline_post: (context, { comment, ...post }) =>
    answerPost(context, post, { reject: true, ...(comment && { rejectComment: comment }) }),

  async set_emoji_status({ calls, self, signal }, { person, customEmojiId, until }) {
    if (person !== self)
      throw badRequest('the emoji status of other people is not supported on Telegram')
    const emojiStatus = statusOf(customEmojiId, until)
    await calls.call({ _: 'account.updateEmojiStatus', emojiStatus }, { signal })
    return done
  },
}

/** The network publishes an approved post and pays for it. */
async function answerPost(
  { calls, signal }: Context,
  { kind, chat, message }: OperationOf<'approve_post' | 'decline_post'>,
  answer: Pick<
    tl.messages.RawToggleSuggestedPostApprovalRequest,
    'reject' | 'rejectComment' | 'scheduleDate'
  >,
): Promise<OperationResult> {
  const purpose = kind === 'approve_post' ? 'message to approve' : 'message to decline'
  const msgId = messageId(message, purpose)
  const peer = await calls.peer(chat, signal)
  const request = { _: 'messages.toggleSuggestedPostApproval', peer, msgId } as const
  calls.take(await calls.call({ ...request, ...answer }, { signal }).catch(missing(purpose)))
  return done
}

const ORDINARY: readonly Member['status'][] = ['member', 'restricted']

function changed(change: GeneralTopicChange) {
  switch (change.do) {
    case 'rename':
      return { title: change.name }
    case 'close':
      return { closed: true }
    case 'reopen':
      return { closed: false }
    default:
      return { hidden: change.do === 'hide' }
  }
}

/**
 * The network stores an administrator's title and a member's tag in the same field. Its refusals call both a rank; the
 * reference says `called`.
 */
async function name(
  { calls, signal }: Context,
  { chat, person }: Pick<OperationOf<'member'>, 'chat' | 'person'>,
  rank: string,
  called: 'CUSTOM_TITLE' | 'TAG',
): Promise<OperationResult> {
  const peer = await calls.peer(chat, signal)
  const participant = await calls.person(person, signal)
  const request = { _: 'messages.editChatParticipantRank', peer, participant, rank } as const
  const named = await calls.call(request, { signal }).catch((cause) => {
    const word = refusalOf(cause)
    throw word?.startsWith('RANK_') ? badRequest(word.replace('RANK', called)) : cause
  })
  calls.take(named)
  return done
}

async function confineSender(
  { calls, signal }: Context,
  { chat, from }: Pick<OperationOf<'ban_sender'>, 'chat' | 'from'>,
  rights: tl.RawChatBannedRights,
): Promise<OperationResult> {
  const channel = await calls.channel(chat, signal)
  const participant = await calls.peer(from, signal)
  if (participant._ !== 'inputPeerChannel') throw badRequest('sender_chat_id must be a channel')
  const request = { _: 'channels.editBanned', channel, participant } as const
  calls.take(await calls.call({ ...request, bannedRights: rights }, { signal }))
  return done
}

function statusOf(emoji: string | undefined, until: number | undefined): tl.TypeEmojiStatus {
  if (emoji === undefined) return { _: 'emojiStatusEmpty' }
  if (!/^\d{1,20}$/.test(emoji)) throw badRequest('DOCUMENT_INVALID')
  const documentId = Long.fromString(emoji)
  return { _: 'emojiStatus', documentId, ...(until !== undefined && { until }) }
}
