/** Business connections and their events, in the reference's JSON. */
import type { BusinessConnection, BusinessEvent } from '../../../machines/model/business.ts'
import type { UpdateKind } from '../../../machines/model/update-kinds.ts'
import { chatJson, type Names, userJson } from './chat.ts'
import { messageJson } from './message.ts'

export const connectionJson = (
  { id, person, at, rights, isEnabled }: BusinessConnection,
  ids: Names,
) => ({
  id,
  user: userJson(person, ids),
  user_chat_id: ids.chat(person.native),
  date: at,
  can_reply: rights.includes('reply'),
  is_enabled: isEnabled,
  rights: Object.fromEntries(rights.map((right) => [`can_${right}`, true])),
})

/** Undefined where the bot API has no word for what a message carries. */
export function businessJson(
  event: BusinessEvent,
  ids: Names,
): readonly [kind: UpdateKind, chatId: number, value: object] | undefined {
  switch (event.kind) {
    case 'business_connection': {
      const { connection } = event
      return [event.kind, ids.chat(connection.person.native), connectionJson(connection, ids)]
    }
    case 'business_message':
    case 'business_edited': {
      const { letter, connection } = event
      const message = messageJson({ ...letter, business: connection }, ids)
      const kind = event.kind === 'business_edited' ? 'edited_business_message' : event.kind
      return message && [kind, ids.chat(letter.chat.native), message]
    }
    case 'business_deleted': {
      const { place, messages, connection } = event
      const message_ids = messages.flatMap((native) => ids.message(place.native, native) ?? [])
      const value = { business_connection_id: connection, chat: chatJson(place, ids), message_ids }
      return ['deleted_business_messages', ids.chat(place.native), value]
    }
  }
}
