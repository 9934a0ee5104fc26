/** Methods that set the account's reactions, and remove reactions of others. */

import type { Reaction } from '../../../machines/model/content.ts'
import { badRequest } from '../../../machines/model/failure.ts'
import type { Arguments } from '../arguments.ts'
import { type Call, type Method, result } from '../method.ts'

const setMessageReaction: Method = {
  name: 'setMessageReaction',
  summary: 'Sets the reactions of the account to a message',
  scope: 'bot:send',
  operation: 'react',
  parameters: { chat_id: 'chat', message_id: 'integer', reaction: 'json', is_big: 'boolean' },
  required: ['chat_id', 'message_id'],
  run: async ({ args, perform }) =>
    result(
      await perform({
        kind: 'react',
        chat: args.chat(),
        message: args.messageId('message_id'),
        reactions: reactionsOf(args),
        isBig: args.boolean('is_big'),
      }),
    ),
}

const deleteMessageReaction: Method = {
  name: 'deleteMessageReaction',
  summary: 'Takes back what somebody else thinks of a message in a group',
  scope: 'bot:send',
  operation: 'remove_reaction',
  parameters: {
    chat_id: 'chat',
    message_id: 'integer',
    user_id: 'integer',
    actor_chat_id: 'integer',
  },
  required: ['chat_id', 'message_id'],
  run: async (call) => {
    const { args, perform } = call
    const [chat, message] = [args.chat(), args.messageId('message_id')]
    const person = giverOf(call)
    return result(await perform({ kind: 'remove_reaction', chat, message, person }))
  },
}

const deleteAllMessageReactions: Method = {
  name: 'deleteAllMessageReactions',
  summary: 'Takes back all that somebody else thinks of the messages of a group',
  scope: 'bot:send',
  operation: 'remove_all_reactions',
  parameters: { chat_id: 'chat', user_id: 'integer', actor_chat_id: 'integer' },
  required: ['chat_id'],
  run: async (call) => {
    const chat = call.args.chat()
    const person = giverOf(call)
    return result(await call.perform({ kind: 'remove_all_reactions', chat, person }))
  },
}

function giverOf({ args, platform }: Call): number {
  if (!args.has('user_id') && args.has('actor_chat_id')) {
    throw badRequest(`reactions of chats are not supported on ${platform.name}`)
  }
  return args.userId()
}

function reactionsOf(args: Arguments): Reaction[] {
  if (!args.has('reaction')) return []
  return args.list('reaction', 'reaction types', 'ReactionType').map(reactionOf)
}

function reactionOf(value: unknown): Reaction {
  const { type, emoji, custom_emoji_id } = (value ?? {}) as Record<string, unknown>
  if (type === 'emoji' && typeof emoji === 'string' && emoji !== '') return { emoji }
  if (type === 'custom_emoji' && typeof custom_emoji_id === 'string') {
    return { customEmojiId: custom_emoji_id }
  }
  if (type === 'paid') throw badRequest('REACTION_INVALID')
  throw badRequest("can't parse ReactionType: invalid reaction type specified")
}

export const reactionMethods = [
  setMessageReaction,
  deleteMessageReaction,
  deleteAllMessageReactions,
]
