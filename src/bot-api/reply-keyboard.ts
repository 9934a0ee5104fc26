/** `reply_markup` of the kinds that stand in the place of the ordinary keyboard. */
import { failed } from '../../machines/model/failure.ts'
import type { Key, ReplyKeyboard } from '../../machines/model/reply-keyboard.ts'

type Fields = Readonly<Record<string, unknown>>

const bad = (description: string) => failed('bad_request', description)

/** Undefined where it asks for nothing of this kind. */
export function replyKeyboardFrom(markup: Fields): ReplyKeyboard | undefined {
  const rows = rowsOf(markup.keyboard)
  if (rows.length > 0) {
    return {
      kind: 'keys',
      rows,
      ...promptOf(markup),
      ...(isAsked(markup, 'is_persistent') && { isPersistent: true }),
      ...(isAsked(markup, 'resize_keyboard') && { isFitted: true }),
      ...(isAsked(markup, 'one_time_keyboard') && { isForOnce: true }),
    }
  }
  if (isAsked(markup, 'remove_keyboard', 'hide_keyboard')) {
    return { kind: 'none', ...selectiveOf(markup) }
  }
  if (isAsked(markup, 'force_reply', 'force_reply_keyboard')) {
    return { kind: 'answer', ...promptOf(markup) }
  }
  return undefined
}

/** By its name of today, or by the one it had before. */
const isAsked = (markup: Fields, ...names: readonly string[]): boolean =>
  names.some((name) => {
    const flag = markup[name] ?? false
    if (typeof flag !== 'boolean') throw bad(`field "${name}" must be of type Boolean`)
    return flag
  })

/** Without any key it is none. */
function rowsOf(value: unknown): Key[][] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || !value.every(Array.isArray)) {
    throw bad('field "keyboard" must be an Array of Arrays')
  }
  return value.map((row: unknown[]) => row.map(keyFrom)).filter((row) => row.length > 0)
}

/** Plain text is a key that only writes. */
function keyFrom(value: unknown): Key {
  if (typeof value === 'string') return { text: value }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bad("can't parse keyboard button: KeyboardButton must be an Object")
  }
  const { text, ...more } = value as Fields
  if (text === undefined) throw bad(`can't parse keyboard button: can't find field "text"`)
  if (typeof text !== 'string' && typeof text !== 'number') {
    throw bad(`can't parse keyboard button: field "text" must be of type String`)
  }
  return { text: `${text}`, ...(Object.keys(more).length > 0 && { more }) }
}

const promptOf = (markup: Fields) => ({
  ...(typeof markup.input_field_placeholder === 'string' && {
    placeholder: markup.input_field_placeholder,
  }),
  ...selectiveOf(markup),
})

const selectiveOf = (markup: Fields) =>
  isAsked(markup, 'selective', 'personal_keyboard') ? { isSelective: true } : {}
