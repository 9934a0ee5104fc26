/** Permissions of members and rights of administrators, in the reference's words. */

/** Permissions of ordinary members: the reference's names without `can_`. */
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

/** Rights of administrators: the reference's names without `can_`. */
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

const ONLY_IN_CHANNELS: readonly Right[] = [
  'post_messages',
  'edit_messages',
  'manage_direct_messages',
]
const ONLY_IN_GROUPS: readonly Right[] = ['pin_messages', 'manage_topics', 'manage_tags']

/** The rights that a channel or a group knows. The reference drops all others. */
export function rightsIn(kind: 'channel' | 'group'): readonly Right[] {
  const unknown = kind === 'channel' ? ONLY_IN_GROUPS : ONLY_IN_CHANNELS
  return RIGHTS.filter((right) => !unknown.includes(right))
}

/** Every administrator may manage the chat. */
export const withManaging = (rights: readonly Right[]): readonly Right[] => [
  ...new Set<Right>(['manage_chat', ...rights]),
]
