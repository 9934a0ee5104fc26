/** Forwarding a message with its origin, and copying it without. */

import type { Content, Message, Origin, Text } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Queryable } from '../../database/database.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { messageCard, type View, viewColumns, viewJoins } from '../delivery/cards.ts'
import { chatCondition } from '../delivery/natives.ts'
import { chatOf, messageOf, personOf } from '../delivery/neutral.ts'
import { storedMedia } from '../files/files.ts'
import { holderOf, holdingWhile } from '../files/holding.ts'
import { takesCaption } from './draft.ts'
import type { Draft } from './outbox.ts'
import { preparedContent } from './preparing.ts'
import type { Place } from './revise.ts'
import { send, sentBefore } from './send.ts'

export interface Passing {
  readonly as: 'forward' | 'copy'
  readonly from: Place
  /** Of a copy: instead of the caption there is. */
  readonly caption?: Text
}

export async function passOn(
  world: World,
  { as, from, caption }: Passing,
  draft: Omit<Draft, 'content' | 'forward'>,
): Promise<Message> {
  const before = await sentBefore(world.db, draft)
  if (before) return messageOf(before)
  const source = await sourceOf(world.db, draft.sender, from)
  if (!source) throw failed('bad_request', `message to ${as} not found`)
  if (source.message.is_protected) {
    throw failed('bad_request', "message has protected content and can't be forwarded")
  }
  const original = source.message.content as Content
  if (original.kind === 'service') {
    throw failed('bad_request', `message can't be ${as === 'copy' ? 'copied' : 'forwarded'}`)
  }
  const { sender, request } = draft
  const holder = holderOf(sender, request)
  return holdingWhile(world, [holder], async () => {
    const still = standing(original)
    const content =
      as === 'copy'
        ? await preparedContent(world, sender, request, captioned(still, caption))
        : still.kind === 'media'
          ? { ...still, media: await storedMedia(world, still.media, holder) }
          : still
    const origin = as === 'forward' && { forward: originOf(source) }
    return send(world.db, world.outbox, { ...draft, content, ...origin })
  })
}

async function sourceOf(db: Queryable, reader: number, from: Place): Promise<View | undefined> {
  const [source] = await db.query<View>(
    `select ${messageCard('m')} as message, ${viewColumns}
     from sandbox_message m ${viewJoins('m', '$1')}
     join sandbox_member reader on reader.chat_id = m.chat_id and reader.person_id = $1
       and reader.role not in ('left', 'kicked')
     where ${chatCondition('$1', '$2')} and m.id = $3 and m.deleted_at is null`,
    [reader, from.chat, from.message],
  )
  return source
}

/** Nobody follows whoever shared a live location once it was passed on. */
function standing(content: Content): Content {
  if (content.kind !== 'location') return content
  const { liveSeconds: _, heading: __, alertDistance: ___, ...place } = content
  return place
}

function captioned(content: Content, caption: Text | undefined): Content {
  if (!caption || content.kind !== 'media' || !takesCaption(content.media.kind)) return content
  return { ...content, caption }
}

/** A message forwarded again keeps its first origin. */
function originOf({ message, chat, other, sender }: View): Origin {
  if (message.forward !== null) return message.forward as Origin
  if (chat.kind !== 'channel') return { from: 'person', person: personOf(sender), at: message.at }
  return {
    from: 'chat',
    chat: chatOf(chat, other),
    message: String(message.id),
    at: message.at,
  }
}
