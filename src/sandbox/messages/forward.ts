/** Forwards a message with its origin, or copies it without. A repeated request finds the message of the first one. */
import type { Content, Origin, Text } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import type { MessageRef } from '../chats/find-message.ts'
import { chatOf, messageOf, parseChatId, parseMessageId, personOf } from '../delivery/mapping.ts'
import {
  chatCondition,
  type MessageView,
  messageJson,
  viewColumns,
  viewJoins,
} from '../delivery/rows.ts'
import { holderOf, storedMedia, withFileHolds } from '../files/files.ts'
import type { Call } from '../network/context.ts'
import { prepareContent, takesCaption } from './content.ts'
import { envelopeOf, sentBefore } from './send.ts'

export async function forwardOrCopy(
  call: Call,
  operation: OperationOf<'forward' | 'copy'>,
): Promise<OperationResult> {
  const { context, request } = call
  const { kind: as, caption } = operation
  const from = {
    chat: parseChatId(operation.from),
    message: parseMessageId(operation.message, as),
  }
  const envelope = envelopeOf(call, operation)
  const before = await sentBefore(context.db, envelope)
  if (before) return { kind: 'message', message: messageOf(before) }
  const { sender } = envelope
  const source = await sourceOf(context.db, sender, from)
  if (!source)
    throw failed(
      'bad_request',
      `message to ${as} not found`,
      as === 'forward' ? { reason: 'forward_not_found' } : {},
    )
  const original = forwardableContent(source, as)
  const holder = holderOf(sender, request)
  const message = await withFileHolds(context, [holder], async () => {
    const content =
      as === 'copy'
        ? await prepareContent(context, sender, request, captioned(original, caption))
        : original.kind === 'media'
          ? { ...original, media: await storedMedia(context, original.media, holder) }
          : original
    const origin = as === 'forward' && { forward: originOf(source) }
    return context.outbox.send({ ...envelope, content, ...origin })
  })
  return { kind: 'message', message }
}

function forwardableContent({ message }: MessageView, as: 'forward' | 'copy'): Content {
  if (message.is_protected) {
    throw failed('bad_request', "message has protected content and can't be forwarded")
  }
  const content = message.content as Content
  if (content.kind === 'service') {
    throw failed('bad_request', `message can't be ${as === 'copy' ? 'copied' : 'forwarded'}`)
  }
  return withoutLiveLocation(content)
}

async function sourceOf(
  db: Queryable,
  reader: number,
  from: MessageRef,
): Promise<MessageView | undefined> {
  const [source] = await db.query<MessageView>(
    `select ${messageJson('m')} as message, ${viewColumns}
     from sandbox_message m ${viewJoins('m', '$1')}
     join sandbox_member reader on reader.chat_id = m.chat_id and reader.person_id = $1
       and reader.role not in ('left', 'kicked')
     where ${chatCondition('$1', '$2')} and m.id = $3 and m.deleted_at is null`,
    [reader, from.chat, from.message],
  )
  return source
}

/** A forwarded or copied live location stands still. */
function withoutLiveLocation(content: Content): Content {
  if (content.kind !== 'location') return content
  const { liveSeconds: _, heading: __, alertDistance: ___, ...place } = content
  return place
}

function captioned(content: Content, caption: Text | undefined): Content {
  if (!caption || content.kind !== 'media' || !takesCaption(content.media.kind)) return content
  return { ...content, caption }
}

/** A message forwarded again keeps its first origin. */
function originOf({ message, chat, other, sender }: MessageView): Origin {
  if (message.forward !== null) return message.forward as Origin
  if (chat.kind !== 'channel') return { from: 'person', person: personOf(sender), at: message.at }
  return {
    from: 'chat',
    chat: chatOf(chat, other),
    message: String(message.id),
    at: message.at,
  }
}
