/** Rights and permissions: the network lists what is forbidden to members and what is allowed to administrators. */
import type { tl } from '@mtcute/node'
import {
  PERMISSIONS,
  type Permission,
  RIGHTS,
  type Right,
} from '../../../../machines/model/rights.ts'

type Ban = Exclude<keyof tl.RawChatBannedRights, '_' | 'untilDate'>
type Grant = Exclude<keyof tl.RawChatAdminRights, '_'>

/** What takes each permission away. */
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
