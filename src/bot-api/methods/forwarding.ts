/** Methods that forward, copy and delete messages, one or many. */

import { badRequest, failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { PublicChat } from '../../../machines/model/operation.ts'
import type { Json } from '../../../machines/model/protocol.ts'
import type { FailureReason } from '../../../machines/model/reason.ts'
import type { Arguments } from '../arguments.ts'
import { parseInteger } from '../entities/entity.ts'
import { markupOf } from '../markup.ts'
import { type Call, type Method, result } from '../method.ts'
import {
  assertQuotable,
  captionParameters,
  deliveryOf,
  deliveryParameters,
  directTopicParameters,
  effectOf,
  effectParameters,
  replyOf,
  replyParameters,
  suggestParameters,
} from '../sending.ts'
import { captionOf } from '../text.ts'

const MESSAGES = 100

/** Positive numbers of 32 bits, or text in their usual decimal form. */
export function messageIdsOf(args: Arguments): number[] {
  if (!args.has('message_ids')) throw badRequest('message identifiers are not specified')
  const ids = args.list('message_ids', 'message_ids', 'message identifiers')
  if (ids.length === 0) throw badRequest('message identifiers are not specified')
  if (ids.length > MESSAGES) throw badRequest('too many message identifiers specified')
  return ids.map(messageIdFrom)
}

function messageIdFrom(given: unknown): number {
  if (typeof given !== 'number' && typeof given !== 'string') {
    throw badRequest('message identifier must be a Number')
  }
  const id = parseInteger(`${given}`, 32)
  if (id === undefined) throw badRequest("can't parse message identifier as a Number")
  if (id <= 0n) throw badRequest('invalid message identifier specified')
  return Number(id)
}

const one = {
  chat_id: 'chat',
  from_chat_id: 'chat',
  message_id: 'integer',
  video_start_timestamp: 'integer',
  ...deliveryParameters,
} as const
const many = {
  chat_id: 'chat',
  from_chat_id: 'chat',
  message_ids: 'json',
  ...deliveryParameters,
  ...directTopicParameters,
} as const

const forwardMessage: Method = {
  name: 'forwardMessage',
  summary: 'Forwards a message and shows where it came from',
  scope: 'bot:send',
  operation: 'forward',
  sends: true,
  parameters: { ...one, ...suggestParameters, ...effectParameters },
  required: ['chat_id', 'from_chat_id', 'message_id'],
  run: async (call) => {
    const message = call.args.messageId('message_id')
    const changes = { ...effectOf(call.args), ...startOf(call.args) }
    return result(await passOn(call, 'forward', message, changes))
  },
}

const copyMessage: Method = {
  name: 'copyMessage',
  summary: 'Sends the content of a message again, without its source',
  scope: 'bot:send',
  operation: 'copy',
  sends: true,
  parameters: {
    ...one,
    ...suggestParameters,
    ...captionParameters,
    ...replyParameters,
    ...effectParameters,
    reply_markup: 'json',
  },
  required: ['chat_id', 'from_chat_id', 'message_id'],
  run: async (call) => {
    const { args, platform } = call
    const markup = markupOf(args, platform)
    const reply = replyOf(args, platform)
    assertQuotable(platform, reply)
    const changes = {
      ...reply,
      ...effectOf(args),
      ...startOf(args),
      // An empty caption removes the existing one.
      ...(args.isGiven('caption') && { caption: captionOf(args) }),
      ...markup,
    }
    return result(idOf(await passOn(call, 'copy', args.messageId('message_id'), changes)))
  },
}

const forwardMessages: Method = {
  name: 'forwardMessages',
  summary: 'Forwards several messages; those that are not there are left out',
  scope: 'bot:send',
  operation: 'forward',
  sends: true,
  parameters: many,
  required: ['chat_id', 'from_chat_id', 'message_ids'],
  run: async (call) => result(await passOnAll(call, 'forward')),
}

const copyMessages: Method = {
  name: 'copyMessages',
  summary: 'Copies several messages; those that are not there are left out',
  scope: 'bot:send',
  operation: 'copy',
  sends: true,
  parameters: { ...many, remove_caption: 'boolean' },
  required: ['chat_id', 'from_chat_id', 'message_ids'],
  run: async (call) => {
    const bare = call.args.boolean('remove_caption') && { caption: { text: '', entities: [] } }
    return result(await passOnAll(call, 'copy', bare || {}))
  },
}

const deleteMessages: Method = {
  name: 'deleteMessages',
  summary: 'Deletes several messages; those that are not there are passed over',
  scope: 'bot:send',
  operation: 'delete',
  parameters: { chat_id: 'chat', message_ids: 'json' },
  required: ['chat_id', 'message_ids'],
  run: async ({ args, perform }) => {
    if (!args.has('chat_id')) throw failed('bad_request', 'chat identifier is not specified')
    const chat = args.chat()
    for (const message of new Set(messageIdsOf(args))) {
      await unlessRefused(perform({ kind: 'delete', chat, message }))
    }
    return result(true)
  },
}

const startOf = (args: Arguments) =>
  args.isGiven('video_start_timestamp') && {
    startSeconds: args.integer('video_start_timestamp', { min: 0, max: 2 ** 31 - 1 }),
  }

type Changes = Partial<Parameters<Call['perform']>[0] & { kind: 'copy' }>

function sourceOf(args: Arguments): PublicChat {
  if (!args.has('from_chat_id')) throw badRequest('parameter "from_chat_id" is required')
  return args.chat('from_chat_id')
}

function passOn(
  { args, perform }: Call,
  kind: 'forward' | 'copy',
  message: number,
  changes: Omit<Changes, 'kind'> = {},
): Promise<Json> {
  const [chat, from] = [args.chat(), sourceOf(args)]
  return perform({ kind, chat, from, message, ...deliveryOf(args), ...changes })
}

/** One after the other, so that they arrive in their order. */
async function passOnAll(
  call: Call,
  kind: 'forward' | 'copy',
  changes: Omit<Changes, 'kind'> = {},
): Promise<Json> {
  const sent: Json[] = []
  const messages = messageIdsOf(call.args)
  if (messages.some((id, place) => id <= (messages[place - 1] ?? Number.NEGATIVE_INFINITY))) {
    throw failed('bad_request', 'message identifiers must be in a strictly increasing order')
  }
  for (const message of messages) {
    const done = await unlessRefused(passOn(call, kind, message, changes)).catch((cause) => {
      throw sent.length > 0 ? sentInPart(cause) : cause
    })
    if (done !== undefined) sent.push(idOf(done))
  }
  if (sent.length === 0) throw badRequest('there are no messages to forward')
  return sent
}

/** Whoever makes the call again because nothing was done would send the first messages once more. */
function sentInPart(cause: unknown): unknown {
  const asksAgain =
    cause instanceof RequestFailed && ['unavailable', 'rate_limited'].includes(cause.failure.code)
  if (!asksAgain) return cause
  const description = 'some of the messages were sent'
  return failed('timeout', description, { reason: 'sent_unconfirmed', certain: false }, { cause })
}

const ABOUT_MESSAGE: ReadonlySet<FailureReason> = new Set([
  'forward_not_found',
  'message_not_found',
  'message_not_allowed',
  'message_too_long',
])

/** Messages that do not exist or may not be deleted are skipped; any other failure ends the call. */
async function unlessRefused(doing: Promise<Json>): Promise<Json | undefined> {
  try {
    return await doing
  } catch (cause) {
    const isAboutMessage =
      cause instanceof RequestFailed &&
      cause.failure.reason !== undefined &&
      ABOUT_MESSAGE.has(cause.failure.reason)
    if (isAboutMessage) return undefined
    throw cause
  }
}

const idOf = (message: Json): Json => ({
  message_id: (message as { readonly message_id: number }).message_id,
})

export const passingOnMethods = [
  forwardMessage,
  copyMessage,
  forwardMessages,
  copyMessages,
  deleteMessages,
]
