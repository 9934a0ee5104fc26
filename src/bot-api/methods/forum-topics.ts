/** Methods about the topics of forums. */
import { badRequest } from '../../../machines/model/failure.ts'
import type { PublicOperation } from '../../../machines/model/operation.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, onlyOnce, type ParameterType, result } from '../method.ts'

const NAME_LENGTH = 128
/** The icons' colours that the reference knows. */
const COLORS = [0x6fb9f0, 0xffd67e, 0xcb86db, 0x8eee98, 0xff93b2, 0xfb6f5f]

const place = { chat_id: 'chat', message_thread_id: 'integer' } as const
const look = { name: 'string', icon_custom_emoji_id: 'string' } as const

const topicMethod = (
  name: string,
  summary: string,
  parameters: Readonly<Record<string, ParameterType>>,
  required: readonly string[],
  operation: PublicOperation['kind'],
  read: (args: Arguments) => PublicOperation,
): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation,
  parameters,
  required,
  run: async ({ args, perform }) => result(await perform(read(args))),
})

/** Methods whose only parameter is the topic. */
const switching = (
  name: string,
  summary: string,
  kind: 'close_topic' | 'reopen_topic' | 'delete_topic',
) =>
  topicMethod(name, summary, place, ['chat_id', 'message_thread_id'], kind, (args) => ({
    kind,
    ...topicOf(args),
  }))

export const forumTopicMethods: readonly Method[] = [
  onlyOnce(
    topicMethod(
      'createForumTopic',
      'Begins a topic in a forum',
      { chat_id: 'chat', ...look, icon_color: 'integer' },
      ['chat_id', 'name'],
      'create_topic',
      (args) => {
        const chat = args.chat()
        const name = topicNameOf(args)
        if (name === '') throw badRequest('title must be non-empty')
        const icon = iconOf(args)
        return { kind: 'create_topic', chat, name, ...colorOf(args), ...(icon && { icon }) }
      },
    ),
  ),
  topicMethod(
    'editForumTopic',
    'Gives a topic another name or icon',
    { ...place, ...look },
    ['chat_id', 'message_thread_id'],
    'edit_topic',
    (args) => {
      const topic = topicOf(args)
      const name = topicNameOf(args)
      if (args.has('name') && name === '') throw badRequest('title must be non-empty')
      return {
        kind: 'edit_topic',
        ...topic,
        ...(name !== '' && { name }),
        ...(args.isGiven('icon_custom_emoji_id') && { icon: iconOf(args) }),
      }
    },
  ),
  switching(
    'closeForumTopic',
    'Closes a topic: only who manages it may write there',
    'close_topic',
  ),
  switching('reopenForumTopic', 'Opens a closed topic again', 'reopen_topic'),
  switching('deleteForumTopic', 'Deletes a topic with all its messages', 'delete_topic'),
]

function topicOf(args: Arguments) {
  const [chat, topic] = [args.chat(), args.messageId('message_thread_id')]
  if (topic === 0) throw badRequest('invalid message thread identifier specified')
  return { chat, topic }
}

export const topicNameOf = (args: Arguments): string =>
  [...(args.text('name') ?? '').replace(/\s+/g, ' ').trim()].slice(0, NAME_LENGTH).join('')

/** Without a number, or with 0, it is none. */
function iconOf(args: Arguments): string {
  const digits = /^\d{1,19}/.exec(args.text('icon_custom_emoji_id') ?? '')?.[0] ?? ''
  return /^0*$/.test(digits) ? '' : digits
}

function colorOf(args: Arguments): { readonly iconColor?: number } {
  const iconColor = args.integer('icon_color', { min: -1, max: 0x1000000 })
  if (iconColor === 0) return {}
  if (!COLORS.includes(iconColor)) throw badRequest('invalid icon color specified')
  return { iconColor }
}
