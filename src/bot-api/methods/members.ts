/** Methods about who is in a chat, and what they may do there. */
import { RIGHTS } from '../../../machines/model/rights.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'
import { permissions, permissionsOf } from './permissions.ts'

const somebody = { chat_id: 'chat', user_id: 'integer' } as const
const required = ['chat_id', 'user_id']

/** Until when, in Unix seconds: what is too near or too far is for ever. */
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
  parameters: { chat_id: 'chat' },
  required: ['chat_id'],
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'administrators', chat: args.chat() })),
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
