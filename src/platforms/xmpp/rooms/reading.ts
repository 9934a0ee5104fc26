/** What a message of a room means as an event; `undefined` when it is none. */
import { randomUUID } from 'node:crypto'
import type { Chat, Message, Person } from '../../../../machines/content.ts'
import type { Happening } from '../../../../machines/happening.ts'
import { parseAddress } from '../address.ts'
import { albumOf } from '../album.ts'
import type { Delivery } from '../delivery.ts'
import { contentOf, forwardOf, idOf, repliedTo, targetOf } from '../reading.ts'
import { storable } from '../storable.ts'
import type { Ids } from './ids.ts'

export interface RoomView {
  readonly chat: Chat
  readonly ids: Ids
  person(nick: string, delivery: Delivery): Person
}

export function readRoom(delivery: Delivery, view: RoomView): Happening | undefined {
  const { message, own, archived, at } = delivery
  const nick = parseAddress(message.attrs.from)?.resource
  const id = idOf(message)
  // The room itself speaks without a nick: of its subject, of its configuration.
  if (!nick) return undefined
  const { chat, ids } = view
  const native = storable(archived || id || randomUUID())
  const event = {
    sourceKey: storable(
      archived ? `room:${chat.native}:${archived}` : `id:${chat.native}/${nick}:${native}`,
    ),
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
  if (id && !corrected) ids.remember(from.native, id, native)
  const reply = repliedTo(message)
  const result: Message = {
    native: corrected ?? native,
    chat,
    from,
    at,
    ...(corrected && { editedAt: at }),
    content,
    ...(reply && { replyTo: { native: reply } }),
    ...forwardOf(message),
    ...albumOf(message),
  }
  return { kind: corrected ? 'edited' : 'message', ...event, message: result }
}
