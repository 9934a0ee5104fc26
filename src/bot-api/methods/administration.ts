/** Methods of administrators that few networks have: general topics, titles, tags, senders, boosts and verification. */
import { badRequest } from '../../../machines/model/failure.ts'
import type { PublicChat, PublicOperation } from '../../../machines/model/operation.ts'
import type { GeneralTopicChange } from '../../../machines/model/operation-administration.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, namingChat, type ParameterType, result } from '../method.ts'
import { topicNameOf } from './forum-topics.ts'

type Parameters = Readonly<Record<string, ParameterType>>

const administering = (
  name: string,
  summary: string,
  operation: PublicOperation['kind'],
  parameters: Parameters,
  read: (args: Arguments) => PublicOperation,
): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation,
  parameters,
  required: Object.keys(parameters).filter((parameter) =>
    ['chat_id', 'user_id', 'sender_chat_id', 'message_thread_id'].includes(parameter),
  ),
  run: async ({ args, perform }) => result(await perform(read(args))),
})

const place = { chat_id: 'chat' } as const
const somebody = { chat_id: 'chat', user_id: 'integer' } as const
const senderPlace = { chat_id: 'chat', sender_chat_id: 'integer' } as const

const general = (
  name: string,
  summary: string,
  change: (args: Arguments) => GeneralTopicChange,
  more: Parameters = {},
) =>
  administering(name, summary, 'edit_general_topic', { ...place, ...more }, (args) => ({
    kind: 'edit_general_topic',
    chat: args.chat(),
    change: change(args),
  }))

function generalName(args: Arguments): GeneralTopicChange {
  const name = topicNameOf(args)
  if (name === '') throw badRequest('title must be non-empty')
  return { do: 'rename', name }
}

const sender = (name: string, summary: string, kind: 'ban_sender' | 'unban_sender') =>
  administering(name, summary, kind, senderPlace, (args) => ({
    kind,
    chat: args.chat(),
    from: args.chat('sender_chat_id'),
  }))

const verifying = (
  name: string,
  summary: string,
  parameters: Parameters,
  kind: 'verify' | 'unverify',
) =>
  administering(name, summary, kind, parameters, (args) => {
    const chat = 'user_id' in parameters ? args.userId() : verifiedChat(args)
    if (kind === 'unverify') return { kind, chat }
    return { kind, chat, description: args.text('custom_description') ?? '' }
  })

function verifiedChat(args: Arguments): PublicChat {
  if (args.text('chat_id') === '0') throw badRequest('invalid chat identifier specified')
  return args.chat()
}

const described = { custom_description: 'string' } as const

const comment = (args: Arguments) => {
  const given = args.text('comment') ?? ''
  if ([...given].length > 128) throw badRequest('COMMENT_TOO_LONG')
  return given === '' ? {} : { comment: given }
}

const suggestion = { ...place, message_id: 'integer' } as const

const answersToPosts: readonly Method[] = [
  administering(
    'approveSuggestedPost',
    'Approves a post that somebody suggests to a channel',
    'approve_post',
    { ...suggestion, send_date: 'integer' },
    (args) => {
      const sendAt = args.integer('send_date', { min: 0, max: 2 ** 31 - 1 })
      return {
        kind: 'approve_post',
        chat: args.chat(),
        message: args.messageId('message_id'),
        ...(sendAt > 0 && { sendAt }),
      }
    },
  ),
  administering(
    'declineSuggestedPost',
    'Declines a post that somebody suggests to a channel',
    'decline_post',
    { ...suggestion, comment: 'string' },
    (args) => ({
      kind: 'decline_post',
      chat: args.chat(),
      message: args.messageId('message_id'),
      ...comment(args),
    }),
  ),
].map((method) => ({ ...method, required: ['chat_id', 'message_id'] }))

export const administrationMethods: readonly Method[] = [
  ...answersToPosts,
  {
    ...general('editGeneralForumTopic', 'Renames the general topic', generalName, {
      name: 'string',
    }),
    required: ['chat_id', 'name'],
  },
  general('closeGeneralForumTopic', 'Closes the general topic', () => ({ do: 'close' })),
  general('reopenGeneralForumTopic', 'Opens the general topic again', () => ({ do: 'reopen' })),
  general('hideGeneralForumTopic', 'Hides the general topic', () => ({ do: 'hide' })),
  general('unhideGeneralForumTopic', 'Shows the general topic again', () => ({ do: 'unhide' })),
  administering(
    'unpinAllGeneralForumTopicMessages',
    'Unpins all messages of the general topic',
    'unpin_topic',
    place,
    (args) => ({ kind: 'unpin_topic', chat: args.chat() }),
  ),
  administering(
    'unpinAllForumTopicMessages',
    'Unpins all messages of a topic',
    'unpin_topic',
    { ...place, message_thread_id: 'integer' },
    (args) => {
      const [chat, topic] = [args.chat(), args.messageId('message_thread_id')]
      if (topic === 0) throw badRequest('invalid message thread identifier specified')
      return { kind: 'unpin_topic', chat, topic }
    },
  ),
  {
    ...administering(
      'setChatAdministratorCustomTitle',
      'Gives an administrator a title',
      'set_member_title',
      { ...somebody, custom_title: 'string' },
      (args) => ({
        kind: 'set_member_title',
        chat: args.chat(),
        person: args.userId(),
        title: args.text('custom_title') ?? '',
      }),
    ),
    required: ['chat_id', 'user_id', 'custom_title'],
  },
  administering(
    'setChatMemberTag',
    'Gives an ordinary member a tag',
    'set_member_tag',
    { ...somebody, tag: 'string' },
    (args) => ({
      kind: 'set_member_tag',
      person: args.userId(),
      chat: args.chat(),
      tag: args.text('tag') ?? '',
    }),
  ),
  sender('banChatSenderChat', 'Keeps a channel from writing in a chat', 'ban_sender'),
  sender('unbanChatSenderChat', 'Lets a channel write in a chat again', 'unban_sender'),
  verifying('verifyUser', 'Verifies a person', { user_id: 'integer', ...described }, 'verify'),
  namingChat(verifying('verifyChat', 'Verifies a chat', { ...place, ...described }, 'verify')),
  verifying(
    'removeUserVerification',
    "Takes a person's verification back",
    { user_id: 'integer' },
    'unverify',
  ),
  namingChat(
    verifying('removeChatVerification', "Takes a chat's verification back", place, 'unverify'),
  ),
  administering(
    'setUserEmojiStatus',
    'Sets the emoji status of a person who allows it',
    'set_emoji_status',
    {
      user_id: 'integer',
      emoji_status_custom_emoji_id: 'string',
      emoji_status_expiration_date: 'integer',
    },
    (args) => {
      const customEmojiId = args.text('emoji_status_custom_emoji_id')
      const until = args.integer('emoji_status_expiration_date', { min: 0, max: 2 ** 31 - 1 })
      return {
        kind: 'set_emoji_status',
        person: args.userId(),
        ...(customEmojiId !== undefined && customEmojiId !== '0' && { customEmojiId }),
        ...(until > 0 && { until }),
      }
    },
  ),
  {
    name: 'getUserChatBoosts',
    summary: 'The boosts that somebody gave a chat',
    scope: undefined,
    operation: undefined,
    parameters: somebody,
    required: ['chat_id', 'user_id'],
    run: async ({ args, platform, perform }) => {
      const [chat, person] = [args.chat(), args.userId()]
      // On a network without boosts the list is empty.
      const hasBoosts = platform.capabilities.operations.includes('boosts')
      return result(hasBoosts ? await perform({ kind: 'boosts', chat, person }) : { boosts: [] })
    },
  },
]
