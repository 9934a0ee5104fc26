/** Methods about the members of a chat, and the permissions that they have there. */
import { PERMISSIONS, type Permission, RIGHTS } from '../../../machines/model/rights.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'

/** `permissions` of a call: what members may do, some of it implied by the rest. */
export const permissions = {
  permissions: 'json',
  use_independent_chat_permissions: 'boolean',
} as const

const MEDIA: readonly Permission[] = [
  'send_audios',
  'send_documents',
  'send_photos',
  'send_videos',
  'send_video_notes',
  'send_voice_notes',
]

/** An absent permission follows another one. */
const WITH: readonly (readonly [name: Permission, source: Permission])[] = [
  ['manage_topics', 'pin_messages'],
  ['edit_tag', 'pin_messages'],
  ['react_to_messages', 'send_messages'],
]

/** A ChatPermissions object; `can_send_media_messages` is the older name for all kinds of media. */
export function permissionsOf(args: Arguments): Permission[] {
  const wanted = args.members('permissions', 'permissions')
  const may = new Set(PERMISSIONS.filter((name) => wanted.boolean(`can_${name}`)))
  const add = (names: readonly Permission[]) => {
    for (const name of names) may.add(name)
  }
  const tellsMediaApart = MEDIA.some((name) => wanted.isGiven(`can_${name}`))
  if (!tellsMediaApart && wanted.boolean('can_send_media_messages')) add(MEDIA)
  if (!args.boolean('use_independent_chat_permissions')) {
    if (may.has('send_other_messages') || may.has('add_web_page_previews')) {
      add([...MEDIA, 'send_messages'])
    }
    if (may.has('send_polls')) add(['send_messages'])
  }
  for (const [name, source] of WITH) {
    if (!wanted.isGiven(`can_${name}`) && may.has(source)) add([name])
  }
  return PERMISSIONS.filter((name) => may.has(name))
}

const somebody = { chat_id: 'chat', user_id: 'integer' } as const
const required = ['chat_id', 'user_id']

/** The end in Unix seconds. A time that is too near or too far means for ever, as in the reference. */
const untilOf = (args: Arguments) => {
  const until = args.integer('until_date', { min: 0, max: 2 ** 31 - 1 })
  const fromNow = until - Date.now() / 1_000
  return fromNow < 30 || fromNow > 366 * 86_400 ? {} : { until }
}

const getChatAdministrators: Method = {
  name: 'getChatAdministrators',
  summary: 'Who administers a chat',
  scope: undefined,
  operation: 'administrators',
  parameters: { chat_id: 'chat', return_bots: 'boolean' },
  required: ['chat_id'],
  run: async ({ args, key, perform, world }) => {
    const administrators = await perform({ kind: 'administrators', chat: args.chat() })
    if (args.boolean('return_bots')) return result(administrators)
    const own = (await world.profile(key.facts.credentialId)) as { readonly id: number }
    const shown = administrators as readonly { readonly user: { id: number; is_bot: boolean } }[]
    return result(shown.filter(({ user }) => !user.is_bot || user.id === own.id))
  },
}

const getChatMemberCount: Method = {
  name: 'getChatMemberCount',
  summary: 'How many are in a chat',
  scope: undefined,
  operation: 'count_members',
  parameters: { chat_id: 'chat' },
  required: ['chat_id'],
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'count_members', chat: args.chat() })),
}

const getChatMember: Method = {
  name: 'getChatMember',
  summary: 'What somebody is in a chat',
  scope: undefined,
  operation: 'member',
  parameters: somebody,
  required,
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'member', chat: args.chat(), person: args.userId() })),
}

const banChatMember: Method = {
  name: 'banChatMember',
  summary: 'Puts somebody out of a chat and keeps them out',
  scope: 'bot:send',
  operation: 'ban',
  parameters: { ...somebody, until_date: 'integer', revoke_messages: 'boolean' },
  required,
  run: async ({ args, perform }) =>
    result(
      await perform({
        kind: 'ban',
        chat: args.chat(),
        person: args.userId(),
        ...untilOf(args),
        deletesMessages: args.boolean('revoke_messages'),
      }),
    ),
}

const unbanChatMember: Method = {
  name: 'unbanChatMember',
  summary: 'Lets somebody come back',
  scope: 'bot:send',
  operation: 'unban',
  parameters: { ...somebody, only_if_banned: 'boolean' },
  required,
  run: async ({ args, perform }) =>
    result(
      await perform({
        kind: 'unban',
        chat: args.chat(),
        person: args.userId(),
        onlyIfBanned: args.boolean('only_if_banned'),
      }),
    ),
}

const restrictChatMember: Method = {
  name: 'restrictChatMember',
  summary: 'Takes rights from a member of a supergroup, or gives them back',
  scope: 'bot:send',
  operation: 'restrict',
  parameters: { ...somebody, ...permissions, until_date: 'integer' },
  required: [...required, 'permissions'],
  run: async ({ args, perform }) =>
    result(
      await perform({
        kind: 'restrict',
        chat: args.chat(),
        person: args.userId(),
        permissions: permissionsOf(args),
        ...untilOf(args),
      }),
    ),
}

const promoteChatMember: Method = {
  name: 'promoteChatMember',
  summary: 'Makes somebody an administrator; without any right, an ordinary member',
  scope: 'bot:send',
  operation: 'promote',
  parameters: {
    ...somebody,
    is_anonymous: 'boolean',
    ...Object.fromEntries(RIGHTS.map((right) => [`can_${right}`, 'boolean' as const])),
  },
  required,
  run: async ({ args, perform }) =>
    result(
      await perform({
        kind: 'promote',
        chat: args.chat(),
        person: args.userId(),
        rights: RIGHTS.filter((right) => args.boolean(`can_${right}`)),
        isAnonymous: args.boolean('is_anonymous'),
      }),
    ),
}

export const memberMethods = [
  getChatAdministrators,
  getChatMemberCount,
  getChatMember,
  banChatMember,
  unbanChatMember,
  restrictChatMember,
  promoteChatMember,
]
