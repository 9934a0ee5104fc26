/** A message as it is shown under /sandbox. */
import { Type } from 'typebox'
import { ReactionBody, shownContent, TopicLook } from './content-schemas.ts'
import { ReplyKeyboard } from './reply-keyboard.ts'
import { Chat, Keyboard, PersonName } from './schemas.ts'

export const Message = Type.Object({
  message_id: Type.Integer(),
  chat: Chat,
  from: Type.Optional(PersonName),
  date: Type.Integer(),
  edit_date: Type.Optional(Type.Integer()),
  media_group_id: Type.Optional(Type.String()),
  has_protected_content: Type.Optional(Type.Boolean()),
  ...shownContent,
  service: Type.Optional(Type.String({ description: '`joined`, `left` …' })),
  topic: Type.Optional(TopicLook),
  message_thread_id: Type.Optional(Type.Integer({ description: 'The topic it stands in' })),
  reply_to_message_id: Type.Optional(Type.Integer()),
  forwarded_from: Type.Optional(Type.String({ description: 'The name of the first origin' })),
  inline_keyboard: Type.Optional(Keyboard),
})

/** One of an album is shown first, and all of them in `album`. */
export const Sent = Type.Object({
  ...Message.properties,
  album: Type.Optional(Type.Array(Message)),
})

export const Received = Type.Object({
  ...Message.properties,
  keyboard: Type.Optional(ReplyKeyboard),
  reactions: Type.Optional(
    Type.Array(Type.Object({ person: PersonName, ...ReactionBody.properties })),
  ),
})
