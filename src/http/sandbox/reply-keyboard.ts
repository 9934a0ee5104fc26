/** Keyboards in the place of the ordinary one, on the wire under /sandbox: as the reference writes them. */
import { Type } from 'typebox'
import { Chat, PersonName } from './schemas.ts'

const flag = Type.Optional(Type.Boolean())

/** What a key asks for stands beside its text. */
const Key = Type.Object({ text: Type.String() }, { additionalProperties: true })

export const ReplyKeyboard = Type.Object(
  {
    keyboard: Type.Optional(Type.Array(Type.Array(Key))),
    is_persistent: flag,
    resize_keyboard: flag,
    one_time_keyboard: flag,
    remove_keyboard: flag,
    force_reply: flag,
    input_field_placeholder: Type.Optional(Type.String()),
    selective: flag,
  },
  { additionalProperties: false },
)

export const StandingKeyboard = Type.Object({
  chat: Chat,
  person: PersonName,
  message_id: Type.Integer({ description: 'The message that brought it' }),
  ...ReplyKeyboard.properties,
  used: Type.Boolean({ description: 'One for once was used: hidden until it is called back' }),
})
