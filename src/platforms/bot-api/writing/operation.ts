/** Any operation as the call that carries it out. */
import { failed } from '../../../../actors/errors.ts'
import type { MessageOperation, Operation } from '../../../../machines/operation.ts'
import type { Call, Pen } from './call.ts'
import { chatCall } from './chats.ts'
import { messageCall } from './messages.ts'

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
] as const satisfies readonly Operation['kind'][]

/** What these networks are not asked for yet. */
const BEYOND = [
  'create_topic',
  'edit_topic',
  'close_topic',
  'reopen_topic',
  'delete_topic',
  'draft',
  'sticker_set',
  'remove_reaction',
  'post_story',
  'delete_story',
] as const satisfies readonly Operation['kind'][]

type Beyond = Extract<Operation, { readonly kind: (typeof BEYOND)[number] }>

/** Throws what the network cannot do as a refusal. */
export function callOf(operation: Operation, pen: Pen): Call {
  const { capabilities, name, methods } = pen.flavour
  if (isBeyond(operation) || !capabilities.operations.includes(operation.kind)) {
    throw failed('bad_request', `${operation.kind} is not supported on ${name}`)
  }
  const call = isAboutMessages(operation) ? messageCall(operation, pen) : chatCall(operation, pen)
  return { ...call, method: methods[call.method] ?? call.method }
}

const isBeyond = (operation: Operation): operation is Beyond =>
  BEYOND.some((kind) => kind === operation.kind)

const isAboutMessages = (operation: Operation): operation is MessageOperation<string, string> =>
  ABOUT_MESSAGES.some((kind) => kind === operation.kind)
