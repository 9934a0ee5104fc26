/** Methods that change a chat: its name, its pins, its membership of this account. */
import { failed } from '../../../machines/model/failure.ts'
import type { PublicOperation } from '../../../machines/model/operation.ts'
import type { Arguments } from '../arguments.ts'
import { type Method, type ParameterType, result } from '../method.ts'
import { forBusiness } from '../sending.ts'
import { permissions, permissionsOf } from './members.ts'

type Parameters = Readonly<Record<string, ParameterType>>

/** All of them name a chat, do one thing there and answer `true`. */
const change = (
  name: string,
  summary: string,
  parameters: Parameters,
  required: readonly string[],
  operation: PublicOperation['kind'],
  read: (args: Arguments) => PublicOperation,
): Method => ({
  name,
  summary,
  scope: 'bot:send',
  operation,
  parameters: { chat_id: 'chat', ...parameters },
  required: ['chat_id', ...required],
  run: async ({ args, perform }) => result(await perform(read(args))),
})

const titleOf = (args: Arguments): string => {
  const title = (args.text('title') ?? '').trim()
  if (title === '') throw failed('bad_request', 'title is empty')
  return [...title].slice(0, 128).join('')
}

export const chatSettingMethods: readonly Method[] = [
  change(
    'setChatTitle',
    'Gives a chat a name',
    { title: 'string' },
    ['title'],
    'set_title',
    (args) => ({
      kind: 'set_title',
      chat: args.chat(),
      title: titleOf(args),
    }),
  ),
  change(
    'setChatDescription',
    'Says what a chat is about',
    { description: 'string' },
    [],
    'set_description',
    (args) => ({
      kind: 'set_description',
      chat: args.chat(),
      description: [...(args.text('description') ?? '')].slice(0, 255).join(''),
    }),
  ),
  change('deleteChatPhoto', 'Takes the photo of a chat away', {}, [], 'set_photo', (args) => ({
    kind: 'set_photo',
    chat: args.chat(),
  })),
  change(
    'setChatPermissions',
    'Says what ordinary members may do',
    permissions,
    ['permissions'],
    'set_permissions',
    (args) => ({
      kind: 'set_permissions',
      chat: args.chat(),
      permissions: permissionsOf(args),
    }),
  ),
  change(
    'pinChatMessage',
    'Pins a message',
    { ...forBusiness, message_id: 'integer', disable_notification: 'boolean' },
    ['message_id'],
    'pin',
    (args) => ({
      kind: 'pin',
      chat: args.chat(),
      message: args.messageId('message_id'),
      silent: args.boolean('disable_notification'),
    }),
  ),
  change(
    'unpinChatMessage',
    'Unpins a message; the newest one unless told which',
    { ...forBusiness, message_id: 'integer' },
    [],
    'unpin',
    (args) => ({
      kind: 'unpin',
      chat: args.chat(),
      ...(args.has('message_id') && { message: args.messageId('message_id') }),
    }),
  ),
  change('unpinAllChatMessages', 'Unpins every message', {}, [], 'unpin_all', (args) => ({
    kind: 'unpin_all',
    chat: args.chat(),
  })),
  change('leaveChat', 'Leaves a chat', {}, [], 'leave', (args) => ({
    kind: 'leave',
    chat: args.chat(),
  })),
]
