/** Members of chats in neutral terms. */
import type { tl } from '@mtcute/node'
import type { Person } from '../../../../machines/model/content.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import { RIGHTS, type Right } from '../../../../machines/model/rights.ts'
import { nativeOf } from '../natives.ts'
import { personById, type View } from './peers.ts'
import { permissionsOf, rightsOf } from './rights.ts'

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
    default:
      return { person: personById(participant.userId, view), status: 'member' }
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
