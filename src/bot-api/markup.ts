/** `reply_markup`: inline keyboards, where the platform has them; what cannot be shown is refused. */
import { failed } from '../../actors/errors.ts'
import type { Platform } from '../../actors/platform.ts'
import type { Button, Buttons } from '../../machines/content.ts'
import type { Arguments } from './arguments.ts'

const CALLBACK_DATA_BYTES = 64
const BUTTONS = 100

const bad = (description: string) => failed('bad_request', description)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The buttons of a call; undefined when it has none. */
export function buttonsOf(args: Arguments, platform: Platform): Buttons | undefined {
  if (!args.hasJson('reply_markup')) return undefined
  const markup = args.json('reply_markup')
  if (markup === undefined) throw bad("can't parse reply keyboard markup JSON object")
  if (!isObject(markup)) throw bad('object expected as reply markup')
  // There never is a keyboard to remove, so this has always been done.
  if (markup.remove_keyboard === true) return undefined
  if (!('inline_keyboard' in markup)) {
    throw bad(`this kind of reply markup is not supported on ${platform.name}`)
  }
  const rows = keyboard(markup.inline_keyboard)
  if (rows.length === 0) return rows
  if (!platform.capabilities.buttons) {
    throw bad(`inline keyboards are not supported on ${platform.name}`)
  }
  return rows
}

function keyboard(value: unknown): Buttons {
  if (!Array.isArray(value) || !value.every(Array.isArray)) {
    throw bad('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays')
  }
  const rows = value.map((row: unknown[]) => row.map(button)).filter((row) => row.length > 0)
  if (rows.flat().length > BUTTONS) throw bad('reply markup is too long')
  return rows
}

function button(value: unknown): Button {
  if (!isObject(value)) {
    throw bad("can't parse inline keyboard button: InlineKeyboardButton must be an Object")
  }
  const text = stringField(value, 'text')
  if (text === undefined) throw bad(`can't parse inline keyboard button: can't find field "text"`)
  if (text.trim() === '') throw bad('inline keyboard button text must be non-empty')
  const url = stringField(value, 'url')
  if (url !== undefined) return { text, url }
  const data = stringField(value, 'callback_data')
  if (data === undefined) throw bad('text buttons are unallowed in the inline keyboard')
  const bytes = Buffer.byteLength(data)
  if (bytes === 0 || bytes > CALLBACK_DATA_BYTES) throw bad('BUTTON_DATA_INVALID')
  return { text, data }
}

/** Inside JSON a string may also be given as a number. */
function stringField(value: Record<string, unknown>, name: string): string | undefined {
  const field = value[name]
  if (field === undefined) return undefined
  if (typeof field === 'string' || typeof field === 'number') return `${field}`
  throw bad(`can't parse inline keyboard button: field "${name}" must be of type String`)
}
