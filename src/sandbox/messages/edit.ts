/** Edits a message, its text, file, caption, buttons or live location; or deletes it for all members. */

import { isDeepStrictEqual } from 'node:util'
import type { Buttons } from '../../../machines/model/buttons.ts'
import type { Content, Message, Surface } from '../../../machines/model/content.ts'
import {
  badRequest,
  failed,
  messageNotAllowed,
  messageNotFound,
} from '../../../machines/model/failure.ts'
import type { Location } from '../../../machines/model/location.ts'
import type { MediaKind } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Change } from '../../../machines/model/operation-inline.ts'
import type { Checklist } from '../../../machines/model/poll.ts'
import type { Queryable } from '../../database/database.ts'
import { hasRight } from '../chats/access.ts'
import { type FoundMessage, findInline, findMessage, whyMissing } from '../chats/find-message.ts'
import {
  type MessageKey,
  messageOf,
  noMessageTo,
  parseChatId,
  parseInlineId,
  parseMessageId,
} from '../delivery/mapping.ts'
import { openPaid } from '../delivery/paid-media.ts'
import { messageChange, queueing, woken } from '../delivery/queue.ts'
import { holderOf, mayHaveFilesSql, releaseFiles, storedMedia } from '../files/files.ts'
import type { ActingPerson, Call, NetworkContext } from '../network/context.ts'
import {
  chatCondition,
  type MessageView,
  messageJson,
  viewColumns,
  viewJoins,
} from '../network/rows.ts'
import { checkedCaption, checkedContent, takesCaption, withStoredFiles } from './content.ts'

const target = `
  target as (
    select t.chat_id, t.id, c.kind, ${hasRight('post_messages')} as posts,
      ${hasRight('delete_messages')} or m.role <> 'member' and c.direct_of is not null as deletes
    from sandbox_chat c
    join sandbox_member m on m.chat_id = c.id and m.person_id = $2 and m.role not in ('left', 'kicked')
    join sandbox_message t on t.chat_id = c.id and t.id = $4 and t.deleted_at is null
    where ${chatCondition('$2', '$3')}
  )`

/** Deletes a message for all members of its chat. */
const deleting = {
  name: 'sandbox_delete',
  text: `with ${target},
    message as (
      update sandbox_message e set deleted_at = now()
      from target
      where e.chat_id = target.chat_id and e.id = target.id and e.deleted_at is null
        and e.topic is distinct from e.id
        and (target.kind = 'private' or target.deletes or e.sender_id = $2 and case target.kind
          when 'channel' then target.posts
          when 'supergroup' then e.content ->> 'kind' <> 'service'
          else true end)
      returning e.*
    ),
    change as (${messageChange('1', '$1::bigint', '$2::bigint')}), ${queueing('deleted')}
    select ${woken}, sender_id as sender, request_id as request,
      ${mayHaveFilesSql} as "hasFiles",
      (select kind from target) as surface
    from message`,
}

interface Row {
  readonly woken: number[]
  readonly sender: number
  readonly request: string
  readonly hasFiles: boolean
  readonly surface: Surface
}

export async function deleteMessage(
  { context, by: { person, session } }: Call,
  operation: OperationOf<'delete'>,
): Promise<OperationResult> {
  const { db, wake } = context
  const ref = {
    chat: parseChatId(operation.chat),
    message: parseMessageId(operation.message, 'delete'),
  }
  const [row] = await db.query<Row>(deleting, [session ?? null, person, ref.chat, ref.message])
  if (!row) {
    const found = await findMessage(db, person, ref)
    if (found) throw messageNotAllowed("message can't be deleted")
    throw await whyMissing(db, person, ref.chat, noMessageTo('delete'))
  }
  wake(row.woken)
  if (row.hasFiles) await releaseFiles(context, holderOf(row.sender, row.request))
  return { kind: 'done', surface: row.surface }
}

/** The `liveSeconds` of a location that is shared until it is stopped. */
const FOREVER = 0x7fffffff

const EXCHANGEABLE: readonly MediaKind[] = ['photo', 'video', 'animation', 'audio', 'document']
const TOGETHER: readonly MediaKind[] = ['photo', 'video']

/** An edit of the content, the caption, the buttons or the live location of a message. */
export type Edit = OperationOf<'edit' | 'edit_caption' | 'edit_buttons' | 'edit_location'>

/** Resolves with the message to change. Rejects where it may not be changed. */
type Find = () => Promise<FoundMessage>

interface Revision {
  readonly content: Content
  readonly buttons?: Buttons
}

export async function edit({ context, by }: Call, operation: Edit): Promise<OperationResult> {
  const ref = {
    chat: parseChatId(operation.chat),
    message: parseMessageId(operation.message, 'edit'),
  }
  const find = async () => {
    const found = await findMessage(context.db, by.person, ref)
    if (!found) {
      throw await whyMissing(context.db, by.person, ref.chat, messageNotFound('message to edit'))
    }
    const { content, hasKeyboard, isForwarded, isInline, isFinal, mayEdit } = found
    const isFixed = isForwarded || isInline || hasKeyboard || isFinal || content.kind === 'service'
    if (!mayEdit || isFixed) throw badRequest("message can't be edited")
    return found
  }
  const edited = await change(context, by, find, operation)
  const [message = edited] = await openPaid(context.db, by.person, [edited])
  return { kind: 'message', message }
}

/** Changes a message that a person sent by way of this bot. */
export async function editInline(
  { context, by }: Call,
  operation: OperationOf<'edit_inline'>,
): Promise<OperationResult> {
  const key = parseInlineId(operation.inline)
  await change(context, by, () => inlineMessage(context.db, by.person, key), operation.change)
  return { kind: 'done' }
}

/** Rejects where the bot has no such message. */
export async function inlineMessage(
  db: Queryable,
  bot: number,
  key: MessageKey | undefined,
): Promise<FoundMessage> {
  const found = key && (await findInline(db, bot, key))
  if (!found) throw badRequest('MESSAGE_ID_INVALID')
  return found
}

const change = (context: NetworkContext, by: ActingPerson, find: Find, wanted: Change) =>
  revise(context, by, find, async (target, now) => ({
    content: await contentAfter(context, target, wanted, now),
    ...(wanted.buttons && { buttons: wanted.buttons }),
  }))

export const NOT_MODIFIED =
  'message is not modified: specified new message content and reply markup are exactly the ' +
  'same as a current content and reply markup of the message'

/** Another change may come between the read and the write. */
const TRIES = 10

const writing = {
  name: 'sandbox_revise',
  text: `with message as (
      update sandbox_message e
      set content = $6, buttons = $7, edited_at = now(), version = e.version + 1
      where e.chat_id = $3 and e.id = $4 and e.deleted_at is null and e.version = $5
      returning e.*
    ),
    change as (${messageChange()}), ${queueing('edited')}
    select ${messageJson('message')} as message, ${viewColumns}, ${woken}
    from message ${viewJoins('message', '$2::bigint')}`,
}

/** Writes the new version of a message. `change` resolves with the new content, or rejects. It is called again when another change came first. */
export async function revise(
  { db, wake, now }: Pick<NetworkContext, 'wake' | 'now'> & { readonly db: Queryable },
  { person, session }: ActingPerson,
  find: Find,
  change: (target: FoundMessage, now: number) => Promise<Revision>,
): Promise<Message> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await find()
    const { content, buttons = null } = await change(found, now())
    if (isSame(content, found.content) && isSame(buttons, found.buttons))
      throw badRequest(NOT_MODIFIED)
    const [row] = await db.query<MessageView & { woken: number[] }>(writing, [
      ...[session ?? null, person, found.chat, found.id, found.version],
      ...[JSON.stringify(content), buttons && JSON.stringify(buttons)],
    ])
    if (row) {
      wake(row.woken)
      return messageOf(row)
    }
  }
  throw failed('unavailable', 'the message is changed by too many at once', {
    retryAfterSeconds: 1,
  })
}

/** The content that an edit leaves. Rejects where the message cannot be edited so. */
export async function contentAfter(
  context: NetworkContext,
  target: FoundMessage,
  operation: Change,
  now: number,
): Promise<Content> {
  switch (operation.kind) {
    case 'edit':
      return replaced(context, target, checkedContent(operation.content))
    case 'edit_caption': {
      const { content } = target
      if (!hasCaption(content)) {
        throw badRequest('there is no caption in the message to edit')
      }
      const { captionAbove: _, ...rest } = content
      const above = operation.captionAbove && { captionAbove: true }
      return { ...rest, caption: checkedCaption(operation.caption), ...above }
    }
    case 'edit_buttons':
      return target.content
    case 'edit_location':
      return moved(target, operation.location, now)
  }
}

type Captioned = Content & { readonly kind: 'media' | 'paid_media' }

const hasCaption = (content: Content): content is Captioned =>
  content.kind === 'paid_media' || (content.kind === 'media' && takesCaption(content.media.kind))

async function replaced(
  context: NetworkContext,
  target: FoundMessage,
  content: Content,
): Promise<Content> {
  const before = target.content
  if (content.kind === 'checklist') {
    if (before.kind !== 'checklist')
      throw badRequest('there is no checklist in the message to edit')
    return { kind: 'checklist', checklist: stillDone(content.checklist, before.checklist) }
  }
  const holder = holderOf(target.sender, target.request)
  if (content.kind === 'text' && before.kind === 'game') {
    const { kind: _, preview: __, ...text } = content
    return { kind: 'game', game: { ...before.game, text } }
  }
  if (content.kind === 'text' || content.kind === 'rich') {
    if (before.kind !== 'text' && before.kind !== 'rich') {
      throw badRequest('there is no text in the message to edit')
    }
    if (content.kind === 'text') return content
    return { ...content, blocks: await withStoredFiles(context, content.blocks, holder) }
  }
  const isMedia = before.kind === 'media' && EXCHANGEABLE.includes(before.media.kind)
  if (content.kind !== 'media' || !(isMedia || before.kind === 'text')) {
    throw badRequest("message media can't be edited")
  }
  if (target.album !== null && before.kind === 'media') {
    const [old, given] = [before.media.kind, content.media.kind]
    const mayMix = TOGETHER.includes(old) && TOGETHER.includes(given)
    if (old !== given && !mayMix) throw badRequest("can't change media type in the album")
  }
  return { ...content, media: await storedMedia(context, content.media, holder) }
}

/** Tasks that stay keep who did them. */
function stillDone(checklist: Checklist, before: Checklist): Checklist {
  const known = new Map(before.tasks.map((task) => [task.id, task]))
  const tasks = checklist.tasks.map((task) => {
    const { doneBy, doneAt } = known.get(task.id) ?? {}
    return { ...task, ...(doneBy && { doneBy }), ...(doneAt !== undefined && { doneAt }) }
  })
  return { ...checklist, tasks }
}

/** Without a new location the message keeps its place and is no longer live. */
function moved(
  { content, at }: FoundMessage,
  location: Location | undefined,
  now: number,
): Content {
  if (content.kind !== 'location' || content.venue) {
    throw badRequest('there is no live location in the message to edit')
  }
  const { liveSeconds = 0, latitude, longitude, accuracy } = content
  const isOver = liveSeconds !== FOREVER && at.getTime() + liveSeconds * 1000 <= now
  if (liveSeconds === 0 || isOver) throw badRequest("message can't be edited")
  if (location) return { kind: 'location', liveSeconds, ...location }
  return { kind: 'location', latitude, longitude, ...(accuracy !== undefined && { accuracy }) }
}

/** Compares as the database does: an undefined field is an absent one. */
export const isSame = (one: unknown, other: unknown) =>
  isDeepStrictEqual(JSON.parse(JSON.stringify(one)), other)
