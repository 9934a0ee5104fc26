/** Sends what was sent before: with its origin, or as if it were the account's own. */

import type { Content, Message } from '../../../../machines/model/content.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { messageId } from '../natives.ts'
import { missing, shown } from './change.ts'
import { type Context, keepPlaces, messagesIn, sending } from './context.ts'
import { randomId } from './random-id.ts'
import { repeated } from './repeated.ts'
import { deliveryOf, send, topicId, untold } from './send.ts'

type PassOn = Extract<Operation, { kind: 'forward' | 'copy' }>

export async function passOn(context: Context, operation: PassOn): Promise<OperationResult> {
  const { kind, chat, from, caption, replyTo, topic, buttons } = operation
  if (buttons?.length) throw failed('bad_request', 'inline keyboards are not supported on Telegram')
  const purpose = kind === 'forward' ? 'message to forward' : 'message to copy'
  const id = messageId(operation.message, purpose)
  const original = await shown(context, from, id).catch(missing(`${purpose} not found`))
  if (original.content.kind === 'service') throw failed('bad_request', `${purpose} not found`)
  // The network passes messages on only as they are, and not in answer to others.
  if (kind === 'copy' && (caption !== undefined || replyTo !== undefined)) {
    return send(context, { ...copyOf(operation), content: withCaption(original.content, caption) })
  }
  const { calls, self, signal } = context
  const [fromPeer, toPeer] = [await calls.peer(from, signal), await calls.peer(chat, signal)]
  const sought = { peer: toPeer, content: original.content }
  const message = await repeated(context, sought, async (): Promise<Message> => {
    const result = await calls
      .call(
        {
          _: 'messages.forwardMessages',
          fromPeer,
          toPeer,
          id: [id],
          randomId: [randomId(context.requestId)],
          ...(kind === 'copy' && { dropAuthor: true }),
          ...(topic !== undefined && { topMsgId: topicId(topic) }),
          ...deliveryOf(operation),
        },
        sending(context, chat),
      )
      .catch(missing(`${purpose} not found`))
    const [sent] = messagesIn(calls.take(result), self)
    if (sent) return sent
    throw untold()
  })
  await keepPlaces(context, [message])
  return { kind: 'message', message }
}

function copyOf({ chat, replyTo, replyOptional, topic, silent, isProtected }: PassOn) {
  return {
    kind: 'send',
    chat,
    ...(replyTo !== undefined && { replyTo }),
    ...(replyOptional !== undefined && { replyOptional }),
    ...(topic !== undefined && { topic }),
    ...(silent !== undefined && { silent }),
    ...(isProtected !== undefined && { isProtected }),
  } as const
}

function withCaption(content: Content, caption: PassOn['caption']): Content {
  return content.kind === 'media' && caption ? { ...content, caption } : content
}
