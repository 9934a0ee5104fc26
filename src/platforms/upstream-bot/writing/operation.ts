/** Any operation as the call that carries it out. */
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation } from '../../../../machines/model/operation.ts'
import type { Call, Pen } from './call.ts'
import { chatCall } from './chats.ts'
import { messageCall } from './messages.ts'
import { stickerSetCall } from './sticker-set.ts'
import { topicCall } from './topics.ts'

const ABOUT_MESSAGES = [
  'send',
  'send_album',
  'edit',
  'edit_caption',
  'edit_buttons',
  'edit_location',
  'stop_poll',
  'delete',
  'forward',
  'copy',
  'react',
  'act',
  'answer',
  'remove_reaction',
  'draft',
] as const satisfies readonly Operation['kind'][]

const ABOUT_TOPICS = [
  'create_topic',
  'edit_topic',
  'close_topic',
  'reopen_topic',
  'delete_topic',
] as const satisfies readonly Operation['kind'][]

/** Bots have no stories but those of the businesses that they act for. */
const BEYOND = ['post_story', 'delete_story'] as const satisfies readonly Operation['kind'][]

type Of<Kinds extends readonly Operation['kind'][]> = Extract<
  Operation,
  { readonly kind: Kinds[number] }
>

/** Throws what the network cannot do as a refusal. */
export function callOf(operation: Operation, pen: Pen): Call {
  const { capabilities, name, methods } = pen.flavour
  if (isOneOf(BEYOND, operation) || !capabilities.operations.includes(operation.kind)) {
    throw failed('bad_request', `${operation.kind} is not supported on ${name}`)
  }
  const call = written(operation, pen)
  return { ...call, method: methods[call.method] ?? call.method }
}

function written(operation: Exclude<Operation, Of<typeof BEYOND>>, pen: Pen): Call {
  if (isOneOf(ABOUT_MESSAGES, operation)) return messageCall(operation, pen)
  if (isOneOf(ABOUT_TOPICS, operation)) return topicCall(operation)
  return operation.kind === 'sticker_set' ? stickerSetCall(operation) : chatCall(operation, pen)
}

const isOneOf = <const Kinds extends readonly Operation['kind'][]>(
  kinds: Kinds,
  operation: Operation,
): operation is Of<Kinds> => kinds.includes(operation.kind)
