/** Who belongs to a chat and may do what there; the words for rights are the reference's. */
import type { Person } from './content.ts'

/** What ordinary members may do, without its `can_`. */
export const PERMISSIONS = [
  'send_messages',
  'send_audios',
  'send_documents',
  'send_photos',
  'send_videos',
  'send_video_notes',
  'send_voice_notes',
  'send_polls',
  'send_other_messages',
  'add_web_page_previews',
  'change_info',
  'invite_users',
  'pin_messages',
  'manage_topics',
  'react_to_messages',
  'edit_tag',
] as const

export type Permission = (typeof PERMISSIONS)[number]

/** What administrators may do, without its `can_`. */
export const RIGHTS = [
  'manage_chat',
  'delete_messages',
  'manage_video_chats',
  'restrict_members',
  'promote_members',
  'change_info',
  'invite_users',
  'post_stories',
  'edit_stories',
  'delete_stories',
  'post_messages',
  'edit_messages',
  'pin_messages',
  'manage_topics',
  'manage_direct_messages',
  'manage_tags',
] as const

export type Right = (typeof RIGHTS)[number]

export interface Member {
  readonly person: Person
  readonly status: 'creator' | 'administrator' | 'member' | 'restricted' | 'left' | 'kicked'
  /** Of an administrator. */
  readonly rights?: readonly Right[]
  readonly title?: string
  readonly isAnonymous?: boolean
  /** Whether this account may change the administrator's rights. */
  readonly isEditable?: boolean
  /** Of somebody restricted. */
  readonly permissions?: readonly Permission[]
  /** Of somebody restricted: not there at present, and restricted again once they come in. */
  readonly isOutside?: boolean
  /** Unix time in seconds; absent: for ever. */
  readonly until?: number
}

export interface Invite {
  readonly link: string
  readonly creator: Person
  readonly name?: string
  readonly isPrimary: boolean
  readonly isRevoked: boolean
  readonly needsApproval: boolean
  /** Unix time in seconds. */
  readonly expiresAt?: number
  readonly memberLimit?: number
  readonly pendingRequests?: number
}
