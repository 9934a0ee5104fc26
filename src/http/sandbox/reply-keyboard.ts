/** Keyboards in the place of the ordinary one, as the reference writes them. */
import type { ReplyKeyboard } from '../../../machines/model/buttons.ts'

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

export function replyKeyboardJson(keyboard: ReplyKeyboard): ReplyKeyboardJson {
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
