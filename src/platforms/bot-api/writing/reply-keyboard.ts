/** Keyboards in the place of the ordinary one, as the reference's parameter. */
import type { ReplyKeyboard } from '../../../../machines/reply-keyboard.ts'

export function replyKeyboardJson(keyboard: ReplyKeyboard): object {
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
}) => ({
  ...(placeholder !== undefined && { input_field_placeholder: placeholder }),
  ...(isSelective && { selective: true }),
})
