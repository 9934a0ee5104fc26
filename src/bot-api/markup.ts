/** Parses `reply_markup`: inline keyboards and reply keyboards. */

import type { Platform } from '../../actors/ports/platform.ts'
import type {
  Button,
  ButtonLook,
  Buttons,
  Key,
  ReplyKeyboard,
} from '../../machines/model/buttons.ts'
import { badRequest, invalidField } from '../../machines/model/failure.ts'
import type { Arguments } from './arguments.ts'

type Fields = Readonly<Record<string, unknown>>

/** Undefined if the markup has no reply keyboard. */
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

/** Reads the current name of a field, or its older name. */
const isAsked = (markup: Fields, ...names: readonly string[]): boolean =>
  names.some((name) => {
    const flag = markup[name] ?? false
    if (typeof flag !== 'boolean') throw invalidField(name, 'must be of type Boolean')
    return flag
  })

/** Without any key it is none. */
function rowsOf(value: unknown): Key[][] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalidField('keyboard', 'must be of type Array')
  if (!value.every(Array.isArray)) {
    throw invalidField('keyboard', 'must be an Array of Arrays')
  }
  return value.map((row: unknown[]) => row.map(keyFrom)).filter((row) => row.length > 0)
}

/** A key given as plain text only writes that text. */
export function keyFrom(value: unknown): Key {
  if (typeof value === 'string') return { text: value }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest("can't parse keyboard button: KeyboardButton must be an Object")
  }
  const { text, ...more } = value as Fields
  if (text === undefined) throw badKey('Can\'t find field "text"')
  if (typeof text !== 'string' && typeof text !== 'number') {
    throw badKey('Field "text" must be of type String')
  }
  assertRequest(more)
  return { text: `${text}`, ...(Object.keys(more).length > 0 && { more }) }
}

const badKey = (problem: string) => badRequest(`can't parse keyboard button: ${problem}`)

/** Flags of what a key asks for, and how many people it may ask for. */
const REQUESTS = {
  request_users: ['user_is_bot', 'user_is_premium', 'request_name', 'request_username'],
  request_chat: ['chat_is_channel', 'chat_is_forum', 'chat_has_username', 'chat_is_created'],
} as const
const MOST_SHARED = 10

function assertRequest(more: Fields): void {
  for (const [name, flags] of Object.entries(REQUESTS)) {
    const asked = more[name]
    if (!isObject(asked)) continue
    if (asked.request_id === undefined) throw badKey('Can\'t find field "request_id"')
    for (const field of ['request_id', 'max_quantity']) {
      if (!/^(number|string)$/.test(typeof (asked[field] ?? 1)))
        throw badKey(`Field "${field}" must be a Number`)
    }
    assertFlags(asked, flags, badKey)
    if (Number(asked.max_quantity ?? 1) > MOST_SHARED)
      throw badRequest('BUTTON_QUANTITY_MAX_INVALID')
  }
  const { web_app: app } = more
  if (isObject(app)) assertWebApp(app.url, 'keyboard button', badKey)
}

function assertFlags(
  given: Fields,
  names: readonly string[],
  refusal: (problem: string) => Error,
): void {
  for (const name of names) {
    if (typeof (given[name] ?? false) === 'boolean') continue
    throw refusal(`Field "${name}" must be of type Boolean`)
  }
}

function assertWebApp(url: unknown, what: string, refusal: (problem: string) => Error): void {
  if (typeof url !== 'string') throw refusal('Can\'t find field "url"')
  if (/^https:/i.test(url)) return
  throw badRequest(`${what} Web App URL '${url}' is invalid: Only HTTPS links are allowed`)
}

const promptOf = (markup: Fields) => ({
  ...(typeof markup.input_field_placeholder === 'string' && {
    placeholder: markup.input_field_placeholder,
  }),
  ...selectiveOf(markup),
})

const selectiveOf = (markup: Fields) =>
  isAsked(markup, 'selective', 'personal_keyboard') ? { isSelective: true } : {}

const CALLBACK_DATA_BYTES = 64
const BUTTONS = 100
/** Further actions of buttons, which only networks with the reference's buttons have. */
const ACTIONS = [
  'switch_inline_query',
  'switch_inline_query_current_chat',
  'switch_inline_query_chosen_chat',
  'login_url',
  'web_app',
  'copy_text',
  'disabled',
]
/** Buttons that only messages with a certain content may have. */
const OF_CONTENT: Readonly<Record<string, string>> = { callback_game: 'game', pay: 'invoice' }

const badButton = (problem: string) => badRequest(`can't parse inline keyboard button: ${problem}`)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Markup {
  readonly buttons?: Buttons
  readonly keyboard?: ReplyKeyboard
}

/** The buttons below a new message, or the reply keyboard that it brings. */
export function markupOf(args: Arguments, platform: Platform): Markup {
  const markup = markupIn(args)
  if (!markup) return {}
  const buttons = inlineButtons(markup, platform)
  const keyboard = replyKeyboardFrom(markup)
  const isInline = buttons !== undefined && buttons.length > 0 && keyboard?.kind !== 'keys'
  if (isInline || !keyboard) return buttons ? { buttons } : {}
  if (platform.capabilities.replyKeyboards) return { keyboard }
  // Without reply keyboards there is nothing to remove, so the call succeeds.
  if (keyboard.kind === 'none') return {}
  throw badRequest(`this kind of reply markup is not supported on ${platform.name}`)
}

/** The buttons of a message that is changed; undefined when it has none. */
export function buttonsOf(args: Arguments, platform: Platform): Buttons | undefined {
  const markup = markupIn(args)
  if (!markup) return undefined
  const buttons = inlineButtons(markup, platform)
  if (!buttons && replyKeyboardFrom(markup)) throw badRequest('inline keyboard expected')
  return buttons
}

function markupIn(args: Arguments): Record<string, unknown> | undefined {
  if (!args.has('reply_markup')) return undefined
  const markup = args.parsed('reply_markup', 'reply keyboard markup JSON object')
  if (!isObject(markup)) throw badRequest('object expected as reply markup')
  return markup
}

function inlineButtons(
  { inline_keyboard: value }: Record<string, unknown>,
  platform: Platform,
): Buttons | undefined {
  if (value === undefined) return undefined
  if (!Array.isArray(value)) throw badRequest('field "inline_keyboard" must be of type Array')
  if (!value.every(Array.isArray)) {
    throw badRequest(
      'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays',
    )
  }
  const rows = value.map((row: unknown[]) => rowOf(row, platform)).filter((row) => row.length > 0)
  if (rows.flat().length > BUTTONS) throw badRequest('reply markup is too long')
  if (rows.length > 0 && !platform.capabilities.buttons) {
    throw badRequest(`inline keyboards are not supported on ${platform.name}`)
  }
  return rows
}

/** TDLib's `get_reply_markup` leaves out the buttons of a row beyond these. */
const IN_ROW = 12

/** Without buttons that have neither a text nor an icon. */
const rowOf = (row: readonly unknown[], platform: Platform): Button[] =>
  row
    .filter((value) => !isObject(value) || value.text !== '' || value.icon_custom_emoji_id)
    .slice(0, IN_ROW)
    .map((value) => button(value, platform))

function button(value: unknown, platform: Platform): Button {
  if (!isObject(value)) {
    throw badRequest("can't parse inline keyboard button: InlineKeyboardButton must be an Object")
  }
  const text = stringField(value, 'text')
  if (text === undefined) throw badButton('Can\'t find field "text"')
  if (text.trim() === '') throw badRequest('inline keyboard button text must be non-empty')
  const look = lookOf(value)
  // An empty address or empty data is none: some libraries always write both fields.
  const url = stringField(value, 'url') || undefined
  if (url !== undefined) return { text, ...look, url: linked(url) }
  const data = stringField(value, 'callback_data') || undefined
  if (data === undefined) return { text, ...look, action: actionOf(value, platform) }
  const bytes = Buffer.byteLength(data)
  if (bytes > CALLBACK_DATA_BYTES) throw badRequest('BUTTON_DATA_INVALID')
  return { text, ...look, data }
}

const STYLES = ['danger', 'success', 'primary']

function lookOf(value: Fields): { readonly look?: ButtonLook } {
  const style = stringField(value, 'style')?.toLowerCase() || 'default'
  const icon = stringField(value, 'icon_custom_emoji_id')
  if (style !== 'default' && !STYLES.includes(style)) {
    throw badButton('Invalid button style specified')
  }
  const look = { ...(style !== 'default' && { style }), ...(icon && { icon }) }
  return Object.keys(look).length > 0 ? { look } : {}
}

/** Clients open the URL when the button is pressed: schemes that run code or read files are refused. */
function linked(url: string): string {
  const hasScheme = /^[a-z][a-z\d+.-]*:(?!\d)/i.test(url)
  const isLink = hasScheme
    ? /^(https?|tg|ton):\/\/[^\s/]/i.test(url)
    : URL.canParse(`http://${url}`) && /^[^/?#]+\./.test(url)
  if (isLink) return url
  throw badRequest(`inline keyboard button URL '${url}' is invalid: ${problemOf(url)}`)
}

function problemOf(url: string): string {
  const [, protocol] = /^([a-z][a-z\d+.-]*):\/\//i.exec(url) ?? []
  if (protocol === undefined) return 'Wrong HTTP URL'
  return /^(https?|tg|ton)$/i.test(protocol) ? 'URL host is empty' : 'Unsupported URL protocol'
}

function actionOf(value: Fields, { name, capabilities }: Platform): Fields {
  const unasked: readonly unknown[] = [undefined, null, false]
  const action = [...ACTIONS, ...Object.keys(OF_CONTENT)].find(
    (known) => !unasked.includes(value[known]),
  )
  if (action === undefined) throw badButton('Text buttons are unallowed in the inline keyboard')
  const content = OF_CONTENT[action]
  const isSent = !content || capabilities.content.some((name) => name === content)
  if (!isSent || !capabilities.actionButtons) {
    throw badRequest(`${action} buttons are not supported on ${name}`)
  }
  const asked = QUERIES.includes(action) ? stringField(value, action) : value[action]
  assertAction(action, asked)
  if (action === 'switch_inline_query_chosen_chat') return chosenChat(asked as Fields)
  return { [action]: SHAPES[action]?.(asked as Fields) ?? asked }
}

/** Actions that are a text. */
const QUERIES = ['switch_inline_query', 'switch_inline_query_current_chat']

/** What messages show of an action, whatever else was given. */
const SHAPES: Readonly<Record<string, (asked: Fields) => unknown>> = {
  web_app: ({ url }) => ({ url }),
  copy_text: ({ text }) => ({ text }),
  callback_game: () => ({}),
}

const CHOSEN = ['user', 'bot', 'group', 'channel'].map((kind) => `allow_${kind}_chats`)

/** Any chat at all is chosen by the simpler action. */
function chosenChat(asked: Fields): Fields {
  const { query: _, ...flags } = asked
  const query = stringField(asked, 'query') ?? ''
  const allowed = CHOSEN.filter((name) => flags[name])
  if (allowed.length === 0) throw badRequest('at least one chat type must be allowed')
  if (allowed.length === CHOSEN.length) return { switch_inline_query: query }
  const shown = CHOSEN.map((name) => [name, allowed.includes(name)])
  return { switch_inline_query_chosen_chat: { query, ...Object.fromEntries(shown) } }
}

const COPIED = 256

/** The flags of each action. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  login_url: ['request_write_access'],
  switch_inline_query_chosen_chat: CHOSEN,
}

function assertAction(action: string, asked: unknown): void {
  const given = (isObject(asked) ? asked : {}) as Fields
  const { url, text } = given
  assertFlags(given, FLAGS[action] ?? [], badButton)
  if (action === 'login_url') {
    if (typeof url !== 'string') throw badButton('Can\'t find field "url"')
    linked(url)
  }
  if (action === 'web_app') assertWebApp(url, 'inline keyboard button', badButton)
  if (action !== 'copy_text') return
  const length = typeof text === 'string' ? [...text].length : 0
  if (length === 0 || length > COPIED) throw badRequest('BUTTON_COPY_TEXT_INVALID')
}

/** Inside JSON a string may also be given as a number. */
function stringField(value: Record<string, unknown>, name: string): string | undefined {
  const field = value[name]
  if (field === undefined) return undefined
  if (typeof field === 'string' || typeof field === 'number') return `${field}`
  throw badButton(`Field "${name}" must be of type String`)
}
