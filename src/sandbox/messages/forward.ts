/** Forwards a message with its origin, or copies it without. A repeated request finds the message of the first one. */
import { type Content, startingAt } from '../../../machines/model/content.ts'
import { messageNotAllowed, readBack } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Text } from '../../../machines/model/text.ts'
import { viewOf, whyMissing } from '../chats/find-message.ts'
import {
  messageOf,
  noMessageTo,
  originOf,
  parseChatId,
  parseMessageId,
  viaOf,
  withoutHiddenVotes,
} from '../delivery/mapping.ts'
import { openPaid } from '../delivery/paid-media.ts'
import { holderOf, withFileHolds } from '../files/files.ts'
import type { Call } from '../network/context.ts'
import type { MessageView } from '../network/rows.ts'
import { assertTakes, prepareContent, takesCaption, withHeldFiles } from './content.ts'
import { envelopeOf } from './send.ts'
import { sentBefore } from './send-statement.ts'

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
  const envelope = await envelopeOf(call, operation)
  const before = await sentBefore(context.db, envelope)
  if (before) return { kind: 'message', message: withoutHiddenVotes(messageOf(before), true) }
  const { sender } = envelope
  const source = await viewOf(context.db, sender, from)
  if (!source) throw await whyMissing(context.db, sender, from.chat, noMessageTo(as))
  const original = startingAt(forwardableContent(source, as), operation.startSeconds)
  if (as === 'copy') await assertTakes(context, envelope, original)
  const holder = holderOf(sender, request)
  const message = await withFileHolds(context, [holder], async () => {
    const content =
      as === 'copy'
        ? await prepareContent(context, sender, request, captioned(original, caption))
        : await withHeldFiles(context, original, holder)
    const via = viaOf(source.message)
    const origin = as === 'forward' && {
      forward: originOf(source),
      ...(via && { attributes: { ...envelope.attributes, via } }),
    }
    return context.outbox.send({ ...envelope, content, ...origin })
  })
  const [shown = message] = await readBack(openPaid(context.db, sender, [message]))
  return { kind: 'message', message: withoutHiddenVotes(shown, true) }
}

function forwardableContent({ message }: MessageView, as: 'forward' | 'copy'): Content {
  if (message.is_protected) {
    throw messageNotAllowed("message has protected content and can't be forwarded")
  }
  const content = message.content as Content
  if (content.kind === 'service' || (as === 'copy' && content.kind === 'paid_media')) {
    throw messageNotAllowed(`message can't be ${as === 'copy' ? 'copied' : 'forwarded'}`)
  }
  return withoutLiveLocation(content)
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
