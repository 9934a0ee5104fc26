/** Members of chats, their rights, invite links and changes of membership in neutral terms. */

import type { tl } from '@mtcute/node'
import type { Message } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Invite, Member } from '../../../../machines/model/membership.ts'
import type { Person } from '../../../../machines/model/person.ts'
import {
  PERMISSIONS,
  type Permission,
  RIGHTS,
  type Right,
} from '../../../../machines/model/rights.ts'
import { nativeOf } from '../natives.ts'
import { chatOf, personById, type View } from './peers.ts'

type Ban = Exclude<keyof tl.RawChatBannedRights, '_' | 'untilDate'>
type Grant = Exclude<keyof tl.RawChatAdminRights, '_'>

/** The network's bans for each permission. */
export const bans: Readonly<Record<Permission, readonly Ban[]>> = {
  send_messages: ['sendPlain'],
  send_audios: ['sendAudios'],
  send_documents: ['sendDocs'],
  send_photos: ['sendPhotos'],
  send_videos: ['sendVideos'],
  send_video_notes: ['sendRoundvideos'],
  send_voice_notes: ['sendVoices'],
  send_polls: ['sendPolls'],
  send_other_messages: ['sendStickers', 'sendGifs', 'sendGames', 'sendInline'],
  add_web_page_previews: ['embedLinks'],
  change_info: ['changeInfo'],
  invite_users: ['inviteUsers'],
  pin_messages: ['pinMessages'],
  manage_topics: ['manageTopics'],
  react_to_messages: ['sendReactions'],
  edit_tag: ['editRank'],
}

export const grants: Readonly<Record<Right, Grant>> = {
  manage_chat: 'other',
  delete_messages: 'deleteMessages',
  manage_video_chats: 'manageCall',
  restrict_members: 'banUsers',
  promote_members: 'addAdmins',
  change_info: 'changeInfo',
  invite_users: 'inviteUsers',
  post_stories: 'postStories',
  edit_stories: 'editStories',
  delete_stories: 'deleteStories',
  post_messages: 'postMessages',
  edit_messages: 'editMessages',
  pin_messages: 'pinMessages',
  manage_topics: 'manageTopics',
  manage_direct_messages: 'manageDirectMessages',
  manage_tags: 'manageRanks',
}

export const permissionsOf = (rights: tl.RawChatBannedRights): Permission[] =>
  PERMISSIONS.filter((permission) => !bans[permission].some((ban) => rights[ban] === true))

export const rightsOf = (rights: tl.RawChatAdminRights): Right[] =>
  RIGHTS.filter((right) => rights[grants[right]] === true)

/** Members of chats in neutral terms. */
export function memberOf(participant: tl.TypeChannelParticipant, view: View): Member {
  switch (participant._) {
    case 'channelParticipantCreator': {
      const { userId, adminRights, rank } = participant
      const anonymous = adminRights.anonymous && { isAnonymous: true }
      const person = personById(userId, view)
      return { person, status: 'creator', rights: RIGHTS, ...anonymous, ...titleOf(rank) }
    }
    case 'channelParticipantAdmin': {
      const { userId, adminRights, rank, canEdit } = participant
      return {
        person: personById(userId, view),
        status: 'administrator',
        rights: rightsOf(adminRights),
        isEditable: canEdit === true,
        ...(adminRights.anonymous && { isAnonymous: true }),
        ...titleOf(rank),
      }
    }
    case 'channelParticipantBanned': {
      const { peer, bannedRights, left } = participant
      const person = personOf(peer, view)
      const until = bannedRights.untilDate > 0 && { until: bannedRights.untilDate }
      if (bannedRights.viewMessages) return { person, status: 'kicked', ...until }
      const permissions = permissionsOf(bannedRights)
      const outside = left && { isOutside: true }
      return { person, status: 'restricted', permissions, ...outside, ...until }
    }
    case 'channelParticipantLeft':
      return { person: personOf(participant.peer, view), status: 'left' }
    default: {
      const { userId, rank } = participant
      return { person: personById(userId, view), status: 'member', ...(rank && { tag: rank }) }
    }
  }
}

/** In a small group all administrators may do the same. */
const OF_GROUPS: readonly Right[] = [
  'manage_chat',
  'delete_messages',
  'manage_video_chats',
  'restrict_members',
  'change_info',
  'invite_users',
  'pin_messages',
]

export function memberOfGroup(participant: tl.TypeChatParticipant, view: View): Member {
  const person = personById(participant.userId, view)
  switch (participant._) {
    case 'chatParticipantCreator':
      return { person, status: 'creator', rights: RIGHTS }
    case 'chatParticipantAdmin':
      return { person, status: 'administrator', rights: OF_GROUPS }
    default:
      return { person, status: 'member' }
  }
}

const titleOf = (rank: string | undefined) => (rank ? { title: rank } : {})

const personOf = (peer: tl.TypePeer, view: View): Person =>
  peer._ === 'peerUser' ? personById(peer.userId, view) : { native: nativeOf(peer), firstName: '' }

/** Undefined for chats that need no link for a request to join. */
export function inviteOf(
  invite: tl.TypeExportedChatInvite | undefined,
  view: View,
): Invite | undefined {
  if (invite?._ !== 'chatInviteExported') return undefined
  const { link, adminId, title, expireDate, usageLimit, requested, subscriptionPricing } = invite
  return {
    link,
    creator: personById(adminId, view),
    isPrimary: invite.permanent === true,
    isRevoked: invite.revoked === true,
    needsApproval: invite.requestNeeded === true,
    ...(title && { name: title }),
    ...(expireDate !== undefined && { expiresAt: expireDate }),
    ...(usageLimit !== undefined && { memberLimit: usageLimit }),
    ...(requested !== undefined && { pendingRequests: requested }),
    ...(subscriptionPricing && {
      subscription: {
        seconds: subscriptionPricing.period,
        stars: subscriptionPricing.amount.toNumber(),
      },
    }),
  }
}

type Told = tl.RawUpdateChannelParticipant | tl.RawUpdateChatParticipant

export function membershipOf(update: Told, view: View): Happening {
  const { userId, actorId, qts } = update
  const person = personById(userId, view)
  const [chat, before, after] =
    update._ === 'updateChannelParticipant'
      ? ([
          chatOf({ _: 'peerChannel', channelId: update.channelId }, view),
          update.prevParticipant && memberOf(update.prevParticipant, view),
          update.newParticipant && memberOf(update.newParticipant, view),
        ] as const)
      : ([
          chatOf({ _: 'peerChat', chatId: update.chatId }, view),
          update.prevParticipant && memberOfGroup(update.prevParticipant, view),
          update.newParticipant && memberOfGroup(update.newParticipant, view),
        ] as const)
  const invite = inviteOf(update.invite, view)
  const by = personById(actorId, view)
  return {
    ...facts(person, by, view),
    sourceKey: `mb:${chat.native}:${userId}:${qts}`,
    at: update.date,
    chat,
    before: before ?? outside(person),
    after: after ?? outside(person),
    ...(invite && { invite }),
  }
}

/** The network reports changes of other members only by service messages. */
export function membershipsIn(
  { action }: tl.RawMessageService,
  { native, chat, at, from: by, content }: Message,
  view: View,
): Happening[] {
  if (!by || content.kind !== 'service') return []
  const change = (person: Person, before: Member, after: Member): Happening => ({
    ...facts(person, by, view),
    sourceKey: `mb:${chat.native}:${native}:${person.native}`,
    at,
    chat,
    before,
    after,
  })
  const joins = (person: Person) => change(person, outside(person), inside(person))
  if (content.fact === 'joined') return content.people.map(joins)
  if (content.fact === 'left') {
    const { person } = content
    // A member removed from a supergroup is banned.
    const isKicked = by.native !== person.native && chat.surface !== 'group'
    return [
      change(person, inside(person), isKicked ? { person, status: 'kicked' } : outside(person)),
    ]
  }
  const isNew = action._ === 'messageActionChatCreate' && by.native !== view.self
  return isNew ? [joins(personById(Number(view.self), view))] : []
}

const facts = (person: Person, by: Person, { self }: View) => ({
  kind: 'member' as const,
  direction: by.native === self ? ('own' as const) : ('incoming' as const),
  isSelf: person.native === self,
  by,
})

const outside = (person: Person): Member => ({ person, status: 'left' })
const inside = (person: Person): Member => ({ person, status: 'member' })

/** Bans everything that is not permitted; `until` 0: for ever. */
export function bannedRights(
  permissions: readonly Permission[],
  until = 0,
): tl.RawChatBannedRights {
  const taken = PERMISSIONS.filter((permission) => !permissions.includes(permission))
  const named = taken.flatMap((permission) => bans[permission].map((ban) => [ban, true] as const))
  return { _: 'chatBannedRights', untilDate: until, ...Object.fromEntries(named) }
}

/** A full ban: the person cannot see the chat. */
export const shutOut = (until = 0): tl.RawChatBannedRights => ({
  ...bannedRights([], until),
  viewMessages: true,
})

export function adminRights(rights: readonly Right[], isAnonymous: boolean): tl.RawChatAdminRights {
  const named = RIGHTS.filter((right) => rights.includes(right)).map(
    (right) => [grants[right], true] as const,
  )
  const anonymous = isAnonymous && { anonymous: true }
  return { _: 'chatAdminRights', ...Object.fromEntries(named), ...anonymous }
}
