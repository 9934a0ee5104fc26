/** Keyboards in requests and answers under /sandbox: their schemas, and reply keyboards as values. */
import { Type } from 'typebox'
import type { ReplyKeyboard as NeutralKeyboard } from '../../../machines/model/buttons.ts'

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

interface ReplyKeyboardJson {
  readonly keyboard?: { text: string }[][]
  readonly is_persistent?: true
  readonly resize_keyboard?: true
  readonly one_time_keyboard?: true
  readonly remove_keyboard?: true
  readonly force_reply?: true
  readonly input_field_placeholder?: string
  readonly selective?: true
}

export function replyKeyboardJson(keyboard: NeutralKeyboard): ReplyKeyboardJson {
  switch (keyboard.kind) {
    case 'keys':
      return {
        keyboard: keyboard.rows.map((row) => row.map(({ text, more }) => ({ text, ...more }))),
        ...(keyboard.isPersistent && { is_persistent: true }),
        ...(keyboard.isFitted && { resize_keyboard: true }),
        ...(keyboard.isForOnce && { one_time_keyboard: true }),
        ...promptJson(keyboard),
      }
    case 'answer':
      return { force_reply: true, ...promptJson(keyboard) }
    case 'none':
      return { remove_keyboard: true, ...promptJson(keyboard) }
  }
}

const promptJson = ({
  placeholder,
  isSelective,
}: {
  readonly placeholder?: string
  readonly isSelective?: boolean
}): ReplyKeyboardJson => ({
  ...(placeholder !== undefined && { input_field_placeholder: placeholder }),
  ...(isSelective && { selective: true }),
})
