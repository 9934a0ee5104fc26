/** Changes and takes back what was sent. */
import type { tl } from '@mtcute/node'
import type { Message } from '../../../../machines/model/content.ts'
import { contentName } from '../../../../machines/model/content-name.ts'
import { failed, RequestFailed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { findMessageWithPeers } from '../find-message.ts'
import { isChannel, messageId } from '../natives.ts'
import { messageOf } from '../reading/message.ts'
import { inputMediaOf } from '../writing/media.ts'
import { previewOf } from '../writing/preview.ts'
import { type Context, done, messagesIn, writtenText } from './context.ts'
import { assertSendable } from './send.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function edit(context: Context, operation: Of<'edit'>): Promise<OperationResult> {
  const { content, chat, message } = operation
  assertSendable(content)
  if (content.kind === 'text') {
    const entities = await writtenText(context, content)
    const shown = previewOf(content)
    return change(context, chat, message, { message: content.text, entities, ...shown })
  }
  if (content.kind !== 'media') {
    const name = contentName(content)
    throw failed('bad_request', `putting ${name} into a message is not supported on Telegram`)
  }
  const { caption, captionAbove } = content
  const { media } = await inputMediaOf(context, content)
  const entities = await writtenText(context, caption)
  const above = captionAbove && { invertMedia: true }
  return change(context, chat, message, { media, message: caption.text, entities, ...above })
}

export async function editCaption(
  context: Context,
  { caption, captionAbove, chat, message }: Of<'edit_caption'>,
): Promise<OperationResult> {
  const entities = await writtenText(context, caption)
  const above = captionAbove && { invertMedia: true }
  return change(context, chat, message, { message: caption.text, entities, ...above })
}

type Change = Partial<Omit<tl.messages.RawEditMessageRequest, '_' | 'peer' | 'id'>>

export async function change(
  context: Context,
  chat: string,
  message: string,
  changed: Change,
): Promise<OperationResult> {
  const { calls, self, signal } = context
  const id = messageId(message, 'message to edit')
  const peer = await calls.peer(chat, signal)
  const result = await calls
    .call({ _: 'messages.editMessage', peer, id, ...changed }, { signal, chain: `send:${chat}` })
    .catch(missing('message to edit not found'))
  const [edited] = messagesIn(calls.take(result), self)
  return { kind: 'message', message: edited ?? (await shown(context, chat, id)) }
}

export async function remove(context: Context, operation: Of<'delete'>): Promise<OperationResult> {
  const { calls, signal } = context
  const { chat } = operation
  const id = messageId(operation.message, 'message to delete')
  if (isChannel(chat)) {
    const channel = await calls.channel(chat, signal)
    const deletion = { _: 'channels.deleteMessages', channel, id: [id] } as const
    const { pts, ptsCount } = await calls.call({ ...deletion, id: [id] }, { signal })
    calls.count(pts, ptsCount, channel.channelId)
    if (ptsCount === 0) throw notFound('message to delete not found')
    return done
  }
  const deletion = { _: 'messages.deleteMessages', id: [id], revoke: true } as const
  const { pts, ptsCount } = await calls.call({ ...deletion, id: [id] }, { signal })
  calls.count(pts, ptsCount)
  if (ptsCount === 0) throw notFound('message to delete not found')
  return done
}

/** The message as it is now. */
export async function shown(context: Context, chat: string, id: number): Promise<Message> {
  const { calls, self, signal } = context
  const { message, peers } = await findMessageWithPeers(calls, chat, id, signal)
  return messageOf(message, { self, peers })
}

const notFound = (description: string) => failed('bad_request', description)

/** The network has one word for all messages that are not there, the reference one for each purpose. */
export const missing =
  (description: string) =>
  (cause: unknown): never => {
    const isMissing =
      cause instanceof RequestFailed &&
      /^(MESSAGE_ID_INVALID|MSG_ID_INVALID|message not found)$/.test(cause.failure.description)
    throw isMissing ? notFound(description) : cause
  }
