/** Methods about invite links and those who ask to come in. */
import { failed } from '../../../machines/model/failure.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'

const MEMBERS = 99_999

const terms = {
  name: 'string',
  expire_date: 'integer',
  member_limit: 'integer',
  creates_join_request: 'boolean',
} as const

function termsOf(args: Arguments) {
  const name = args.text('name')
  const expiresAt = args.integer('expire_date', { min: 0, max: 2 ** 31 - 1 })
  const memberLimit = args.integer('member_limit', { min: 0, max: MEMBERS })
  const needsApproval = args.boolean('creates_join_request')
  if (needsApproval && memberLimit > 0) {
    throw failed(
      'bad_request',
      "member limit can't be specified for links requiring administrator approval",
    )
  }
  return {
    ...(name !== undefined && { name: [...name].slice(0, 32).join('') }),
    ...(expiresAt > 0 && { expiresAt }),
    ...(memberLimit > 0 && { memberLimit }),
    ...(needsApproval && { needsApproval }),
  }
}

function linkOf(args: Arguments): string {
  const link = args.text('invite_link')
  if (link === undefined) throw failed('bad_request', 'invite link is not specified')
  return link
}

const exportChatInviteLink: Method = {
  name: 'exportChatInviteLink',
  summary: 'Makes a new primary invite link',
  scope: 'bot:send',
  operation: 'invite',
  parameters: { chat_id: 'chat' },
  required: ['chat_id'],
  run: async ({ args, perform }) => {
    const invite = await perform({ kind: 'invite', chat: args.chat(), primary: true })
    return result((invite as { readonly invite_link: string }).invite_link)
  },
}

const createChatInviteLink: Method = {
  name: 'createChatInviteLink',
  summary: 'Makes another invite link',
  scope: 'bot:send',
  operation: 'invite',
  parameters: { chat_id: 'chat', ...terms },
  required: ['chat_id'],
  once: true,
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'invite', chat: args.chat(), primary: false, ...termsOf(args) })),
}

const editChatInviteLink: Method = {
  name: 'editChatInviteLink',
  summary: 'Changes the terms of an invite link',
  scope: 'bot:send',
  operation: 'edit_invite',
  parameters: { chat_id: 'chat', invite_link: 'string', ...terms },
  required: ['chat_id', 'invite_link'],
  run: async ({ args, perform }) => {
    const [chat, link] = [args.chat(), linkOf(args)]
    return result(await perform({ kind: 'edit_invite', chat, link, ...termsOf(args) }))
  },
}

const linkName = (args: Arguments) => [...(args.text('name') ?? '')].slice(0, 32).join('')

const createChatSubscriptionInviteLink: Method = {
  name: 'createChatSubscriptionInviteLink',
  summary: 'Makes an invite link into a channel that costs Stars by the month',
  scope: 'bot:send',
  operation: 'subscription_invite',
  parameters: {
    chat_id: 'chat',
    name: 'string',
    subscription_period: 'integer',
    subscription_price: 'integer',
  },
  required: ['chat_id', 'subscription_period', 'subscription_price'],
  once: true,
  run: async ({ args, perform }) =>
    result(
      await perform({
        kind: 'subscription_invite',
        chat: args.chat(),
        name: linkName(args),
        seconds: args.integer('subscription_period', { min: 0, max: 1_000_000_000 }),
        stars: args.integer('subscription_price', { min: 0, max: 1_000_000 }),
      }),
    ),
}

const editChatSubscriptionInviteLink: Method = {
  name: 'editChatSubscriptionInviteLink',
  summary: 'Renames an invite link that costs Stars',
  scope: 'bot:send',
  operation: 'edit_subscription_invite',
  parameters: { chat_id: 'chat', invite_link: 'string', name: 'string' },
  required: ['chat_id', 'invite_link'],
  run: async ({ args, perform }) => {
    const [chat, link] = [args.chat(), linkOf(args)]
    const name = linkName(args)
    return result(await perform({ kind: 'edit_subscription_invite', chat, link, name }))
  },
}

const revokeChatInviteLink: Method = {
  name: 'revokeChatInviteLink',
  summary: 'Ends an invite link',
  scope: 'bot:send',
  operation: 'revoke_invite',
  parameters: { chat_id: 'chat', invite_link: 'string' },
  required: ['chat_id', 'invite_link'],
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'revoke_invite', chat: args.chat(), link: linkOf(args) })),
}

const answerJoin = (name: string, summary: string, approves: boolean): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation: 'answer_join',
  parameters: { chat_id: 'chat', user_id: 'integer' },
  required: ['chat_id', 'user_id'],
  run: async ({ args, perform }) => {
    const [person, chat] = [args.userId(), args.chat()]
    return result(await perform({ kind: 'answer_join', chat, person, approves }))
  },
})

export const inviteMethods = [
  exportChatInviteLink,
  createChatInviteLink,
  editChatInviteLink,
  createChatSubscriptionInviteLink,
  editChatSubscriptionInviteLink,
  revokeChatInviteLink,
  answerJoin('approveChatJoinRequest', 'Lets somebody in who asked', true),
  answerJoin('declineChatJoinRequest', 'Turns somebody away who asked', false),
]
