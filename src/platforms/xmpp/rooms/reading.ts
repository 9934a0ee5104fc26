/** What a message of a room means as an event; `undefined` when it is none. */
import type { Chat, Message, Person } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import { parseAddress } from '../address.ts'
import { albumOf } from '../album.ts'
import type { Delivery } from '../delivery.ts'
import { idOf, type MessageNames, marked, targetOf } from '../message-identity.ts'
import { contentOf, forwardOf, repliedTo } from '../reading.ts'
import { storable } from '../storable.ts'
import type { Ids } from './ids.ts'

export interface RoomView {
  readonly chat: Chat
  readonly ids: Ids
  readonly names: MessageNames
  person(nick: string, delivery: Delivery): Person
}

export function readRoom(delivery: Delivery, view: RoomView): Happening | undefined {
  const { message, own, at } = delivery
  const nick = parseAddress(message.attrs.from)?.resource
  const id = idOf(message)
  // The room itself speaks without a nick: of its subject, of its configuration.
  if (!nick) return undefined
  const { chat, ids, names } = view
  const native = nativeOf(delivery, view)
  const event = {
    sourceKey: delivery.key,
    direction: own ? 'own' : 'incoming',
    at,
    ...(delivery.recovered && { recovered: true }),
  } as const
  const from = view.person(nick, delivery)
  const target = targetOf(message)
  if (target?.change === 'retract') {
    // Named by the room's id, which says nothing of the writer (XEP-0424): only one's own may be retracted.
    const retracted =
      ids.find(from.native, target.id) ??
      (ids.wrote(from.native, target.id) ? target.id : undefined)
    if (!retracted) return undefined
    return {
      kind: 'deleted',
      ...event,
      chat: chat.native,
      surface: chat.surface,
      messages: [retracted],
    }
  }
  const content = contentOf(message)
  if (!content) return undefined
  const corrected = target && ids.find(from.native, target.id)
  if (id && !corrected) {
    ids.remember(from.native, id, native)
    // Where the room gives ids, others name those; a writer's own id may be another message's in the room.
    if (!delivery.archived) names.remember(chat.native, from.native, id, native)
  }
  const reply = repliedTo(message)
  const result: Message = {
    native: corrected ?? native,
    chat,
    from,
    at,
    ...(corrected && { editedAt: at }),
    content,
    ...(reply && { replyTo: { native: names.find(chat.native, reply) } }),
    ...forwardOf(message),
    ...albumOf(message),
  }
  return { kind: corrected ? 'edited' : 'message', ...event, message: result }
}

/** The id that the room gave it, by which others name it; where it gives none, that of the writer. */
function nativeOf({ message, archived, key }: Delivery, { chat, names }: RoomView): string {
  const given = archived ? storable(archived) : idOf(message)
  if (!given) return marked('', key)
  return names.give(chat.native, given, key, Boolean(archived))
}
