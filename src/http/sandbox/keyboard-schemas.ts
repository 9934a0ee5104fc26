/** Keyboards in the bodies of requests and answers under /sandbox. */
import { Type } from 'typebox'

const strict = { additionalProperties: false }
const optional = Type.Optional

export const Keyboard = Type.Array(
  Type.Array(
    Type.Object(
      {
        text: Type.String({ minLength: 1 }),
        callback_data: optional(Type.String({ minLength: 1, maxLength: 64 })),
        url: optional(Type.String({ minLength: 1 })),
      },
      strict,
    ),
  ),
)

/** The buttons under a message as its readers see them: each has its text and the fields of its action. */
export const ShownKeyboard = Type.Array(
  Type.Array(
    Type.Object({
      text: Type.String(),
      callback_data: optional(Type.String()),
      url: optional(Type.String()),
      web_app: optional(Type.Object({ url: Type.String() })),
      login_url: optional(Type.Object({ url: Type.String() })),
      copy_text: optional(Type.Object({ text: Type.String() })),
      switch_inline_query: optional(Type.String()),
      switch_inline_query_current_chat: optional(Type.String()),
      switch_inline_query_chosen_chat: optional(
        Type.Object({
          query: optional(Type.String()),
          allow_user_chats: optional(Type.Boolean()),
          allow_bot_chats: optional(Type.Boolean()),
          allow_group_chats: optional(Type.Boolean()),
          allow_channel_chats: optional(Type.Boolean()),
        }),
      ),
      callback_game: optional(Type.Object({})),
      pay: optional(Type.Boolean()),
      disabled: optional(Type.Object({})),
      style: optional(Type.String({ description: '`danger`, `success` or `primary`' })),
      icon_custom_emoji_id: optional(Type.String()),
    }),
  ),
)

const flag = optional(Type.Boolean())

/** A key has its text and the fields of what it requests. */
const Key = Type.Object({ text: Type.String() }, { additionalProperties: true })

export const ReplyKeyboard = Type.Object(
  {
    keyboard: optional(Type.Array(Type.Array(Key))),
    is_persistent: flag,
    resize_keyboard: flag,
    one_time_keyboard: flag,
    remove_keyboard: flag,
    force_reply: flag,
    input_field_placeholder: optional(Type.String()),
    selective: flag,
  },
  strict,
)
