/** Which updates of a key are delivered one after another: the reference's queue ids. */
import { UPDATE_KINDS, type UpdateKind } from '../../machines/model/update-kinds.ts'
import type { Row } from '../updates/row.ts'

type Value = ReturnType<typeof JSON.parse>

/** Each class has ids of its own: a callback may overtake a message of the same person. */
const user = (group: number) => (value: Value) => `${group}:${value.from?.id ?? value.user?.id}`
const chat = (group: number) => (value: Value) => `${group}:${value.chat?.id}`

const lanes: Partial<Record<UpdateKind, (value: Value) => string>> = {
  inline_query: user(1),
  chosen_inline_result: user(2),
  callback_query: user(3),
  shipping_query: user(4),
  pre_checkout_query: user(4),
  my_chat_member: chat(5),
  chat_member: user(6),
  chat_join_request: user(6),
  chat_boost: chat(7),
  removed_chat_boost: chat(7),
  message_reaction: chat(8),
  message_reaction_count: chat(9),
  business_connection: user(10),
  business_message: chat(11),
  edited_business_message: chat(11),
  deleted_business_messages: chat(11),
  guest_message: chat(12),
  purchased_paid_media: user(12),
  managed_bot: user(13),
  poll: (value) => `poll:${value.id}`,
  poll_answer: (value) => `poll:${value.poll_id}`,
}

/** A deletion must not overtake its message, nor an edit: they share the lane of the chat. */
const ofChat: ReadonlySet<UpdateKind | undefined> = new Set([
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'deleted_messages',
] as const)

export function laneOf({ updateId, kind: number, chatId, payload }: Row): string {
  const kind = UPDATE_KINDS[number]
  if (ofChat.has(kind) && chatId !== null) return `${chatId}`
  const lane = kind && lanes[kind]
  return lane && kind ? lane(JSON.parse(`{${payload}}`)[kind]) : `update:${updateId}`
}
