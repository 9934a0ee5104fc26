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

/** The rights that a chat of this kind knows. The reference neither gives nor shows the others. */
export function rightsIn(kind: string): readonly Right[] {
  const unknown = kind === 'channel' ? ONLY_IN_GROUPS : ONLY_IN_CHANNELS
  const hasTopics = kind !== 'group'
  return RIGHTS.filter(
    (right) => !unknown.includes(right) && (hasTopics || right !== 'manage_topics'),
  )
}

/** Every administrator may manage the chat. */
export const withManaging = (rights: readonly Right[]): readonly Right[] => [
  ...new Set<Right>(['manage_chat', ...rights]),
]

interface Given {
  readonly rights: readonly Right[]
  readonly isAnonymous: boolean
}

/** What is left of these rights in a chat of this kind; none where it knows none of them. In channels nobody is anonymous. */
export function rightsGiven(
  kind: string,
  { rights, isAnonymous = false }: Partial<Given> & Pick<Given, 'rights'>,
): Given {
  const known = rightsIn(kind)
  const given = {
    rights: rights.filter((right) => known.includes(right)),
    isAnonymous: isAnonymous && kind !== 'channel',
  }
  const isGiven = given.rights.length > 0 || given.isAnonymous
  return { ...given, rights: isGiven ? withManaging(given.rights) : [] }
}
