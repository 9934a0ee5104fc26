/** What happened on a network as one update of the bot API. */
import type { Happening } from '../../../machines/happening.ts'
import { kindNumber, type UpdateKind } from '../../../machines/update-kinds.ts'
import type { Ids } from '../../identities/ids.ts'
import type { Draft } from '../../updates/row.ts'
import { surfaceOfId, userJson } from './chat.ts'
import { messageJson } from './message.ts'

type Told = Exclude<Happening, { kind: 'deleted' }>

/** Undefined where the bot API has no update for it. */
export function draftOf(happening: Told, ids: Ids): Draft | undefined {
  const message = messageJson(happening.message, ids)
  if (!message) return undefined
  const chatId = ids.chat(happening.message.chat.native)
  const { sourceKey } = happening
  if (happening.kind !== 'callback') {
    const kind = kindOf(happening)
    return draft(sourceKey, kind, chatId, message)
  }
  return draft(sourceKey, 'callback_query', chatId, {
    id: happening.callback,
    from: userJson(happening.from, ids),
    message,
    chat_instance: `${chatId}`,
    data: happening.data,
  })
}

/** Deletions speak of messages by their public ids only: the rest is gone. */
export function deletionDraft(
  sourceKey: string,
  chatId: number,
  messageIds: readonly number[],
  date: number,
  surface = surfaceOfId(chatId),
): Draft {
  return draft(sourceKey, 'deleted_messages', chatId, {
    chat: { id: chatId, type: surface },
    message_ids: messageIds,
    date,
  })
}

function kindOf({ kind, message }: Exclude<Told, { kind: 'callback' }>): UpdateKind {
  if (message.chat.surface === 'channel') {
    return kind === 'edited' ? 'edited_channel_post' : 'channel_post'
  }
  return kind === 'edited' ? 'edited_message' : 'message'
}

const draft = (sourceKey: string, kind: UpdateKind, chatId: number, value: object): Draft => ({
  sourceKey,
  kind: kindNumber(kind),
  chatId,
  payload: `"${kind}":${JSON.stringify(value)}`,
})
