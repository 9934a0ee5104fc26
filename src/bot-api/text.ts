/** The text of a call: parsed, cleaned, checked and detected entities, with its link preview, as neutral content. */

import { failed } from '../../machines/model/failure.ts'
import type { Preview, Text, TextEntity } from '../../machines/model/text.ts'
import type { Arguments } from './arguments.ts'
import { detectEntities } from './entities/detect.ts'
import {
  asciiLower,
  FormatError,
  type FormattedText,
  MarkupError,
  type MessageEntity,
} from './entities/entity.ts'
import { parseExplicit } from './entities/explicit.ts'
import { parseHtml } from './entities/html.ts'
import { parseMarkdown, parseMarkdownV2 } from './entities/markdown.ts'
import { clean, limitEntities, mergeDetected } from './entities/normalize.ts'

/** The link preview that a call asks for: `link_preview_options`, or the older parameter. */
export const previewParameters = {
  link_preview_options: 'json',
  disable_web_page_preview: 'boolean',
} as const

export function previewOf(args: Arguments): { readonly preview?: Preview } {
  if (!args.has('link_preview_options')) {
    return args.boolean('disable_web_page_preview') ? { preview: { isOff: true } } : {}
  }
  const value = args.object('link_preview_options', 'link preview options')
  const { url, ...rest } = value as Record<string, unknown>
  const wants = (name: string) => booleanOf(rest, name)
  const isSmall = wants('prefer_small_media')
  const isLarge = wants('prefer_large_media')
  const isAbove = wants('show_above_text')
  if (url != null && typeof url !== 'string') {
    throw failed('bad_request', 'field "url" must be of type String')
  }
  if (url && !isWebAddress(url)) throw failed('bad_request', 'WEBPAGE_URL_INVALID')
  if (wants('is_disabled')) return { preview: { isOff: true } }
  const size = isLarge ? ('large' as const) : isSmall && ('small' as const)
  const preview: Preview = {
    ...(url && { url }),
    ...(size && { size }),
    ...(isAbove && { isAbove }),
  }
  return Object.keys(preview).length > 0 ? { preview } : {}
}

/** Without a scheme it is one of the web. */
const isWebAddress = (url: string) =>
  /^(https?:\/\/)?[^\s/?#:]+\.[^\s/?#:]+/i.test(url) && !/^(?!https?:)[a-z][\w+.-]*:\/\//i.test(url)

function booleanOf(options: Record<string, unknown>, name: string): boolean {
  const value = options[name] ?? false
  if (typeof value === 'boolean') return value
  throw failed('bad_request', `field "${name}" must be of type Boolean`)
}

interface Form extends Pick<FormatOptions, 'kind' | 'limit'> {
  readonly text: string
  readonly mode: string
  readonly entities: string
}

const message: Form = {
  text: 'text',
  mode: 'parse_mode',
  entities: 'entities',
  kind: 'text',
  limit: 4096,
}

const caption: Form = {
  text: 'caption',
  mode: 'parse_mode',
  entities: 'caption_entities',
  kind: 'caption',
  limit: 1024,
}

const storyCaption: Form = { ...caption, limit: 2048 }

const quote: Form = {
  text: 'quote',
  mode: 'quote_parse_mode',
  entities: 'quote_entities',
  kind: 'caption',
  limit: 1024,
}

const partOfPoll = (name: string): Form => ({
  text: name,
  mode: `${name}_parse_mode`,
  entities: `${name}_entities`,
  kind: 'caption',
  limit: 1024,
})

/** Within a sentence the reference quotes its refusals as they are made: with a capital letter. */
export const capitalized = (text: string): string =>
  text.replace(/^\w/, (letter) => letter.toUpperCase())

export const textOf = (args: Arguments): Text => formatted(args, message)

/** Empty where there is none. `within` names the object that the caption belongs to, for refusals of its markup. */
export const captionOf = (args: Arguments, within?: string): Text =>
  formatted(args, caption, within)

export const storyCaptionOf = (args: Arguments): Text => formatted(args, storyCaption)

/** The title of a checklist and the text of a task; empty where there is none. */
export const titleOf = (args: Arguments): Text =>
  formatted(args, { ...quote, text: 'title', mode: 'parse_mode', entities: 'title_entities' })
export const taskTextOf = (args: Arguments): Text =>
  formatted(args, { ...quote, text: 'text', mode: 'parse_mode', entities: 'text_entities' })

/** The quote among the members of `reply_parameters`; empty where there is none. */
export const quoteOf = (args: Arguments): Text => formatted(args, quote)

/** `question`, `explanation`, `description`, or the `text` of an option. */
export const pollTextOf = (args: Arguments, name: string): Text => formatted(args, partOfPoll(name))

function formatted(
  args: Arguments,
  { text, mode, entities, kind, limit }: Form,
  within?: string,
): Text {
  const [parseMode, marked] = [args.text(mode), args.text(entities)]
  try {
    const done = formatText(args.text(text) ?? '', {
      limit,
      kind,
      ...(parseMode !== undefined && { parseMode }),
      ...(marked !== undefined && { entities: marked }),
    })
    return { text: done.text, entities: done.entities.map(neutral) }
  } catch (cause) {
    if (!(cause instanceof FormatError)) throw cause
    const isOfObject = within !== undefined && cause instanceof MarkupError
    const problem = isOfObject ? `can't parse ${within}: ${capitalized(cause.message)}` : undefined
    throw failed('bad_request', problem ?? cause.message)
  }
}

function neutral({ type, offset, length, url, language, ...rest }: MessageEntity): TextEntity {
  return {
    type,
    offset,
    length,
    ...(url !== undefined && { url }),
    ...(language !== undefined && { language }),
    ...(rest.custom_emoji_id !== undefined && { customEmojiId: rest.custom_emoji_id }),
    ...(rest.user !== undefined && { person: `${rest.user.id}` }),
    ...(rest.unix_time !== undefined && { unixTime: rest.unix_time }),
    ...(rest.date_time_format && { timeFormat: rest.date_time_format }),
  }
}

const blank =
  /[\s\u00a0\u1680\u180e\u2000-\u200f\u202e\u202f\u205f\u2800\u3000\ufeff\ufffc\u{e0000}-\u{e007f}]/u

/** Whether a text has visible characters: blanks and joiners alone make no message. */
function isVisible(text: string): boolean {
  for (const char of text) if (!blank.test(char)) return true
  return false
}

type FormatOptions = {
  parseMode?: string
  /** The raw JSON of the parameter; ignored when a parse mode is given. */
  entities?: string
  /** In code points. */
  limit: 4096 | 2048 | 1024
  kind: 'text' | 'caption'
}

const MAX_BYTES = 32_768

/** @throws FormatError and nothing else. */
export function formatText(source: string, options: FormatOptions): FormattedText {
  const isCaption = options.kind === 'caption'
  if (source === '' && !isCaption) throw new FormatError('message text is empty')
  if (!source.isWellFormed()) throw new FormatError('strings must be encoded in UTF-8')
  if (Buffer.byteLength(source) > MAX_BYTES) throw new MarkupError('text is too long')
  const parsed = parse(source, options)
  const { text, entities } = clean(parsed.text, parsed.entities)
  if (!isVisible(text)) {
    if (isCaption) return { text: '', entities: [] }
    throw new FormatError('text must be non-empty')
  }
  if (isLonger(text, options.limit)) {
    throw new FormatError(isCaption ? 'message caption is too long' : 'message is too long')
  }
  return { text, entities: mergeDetected(limitEntities(entities), detectEntities(text)) }
}

function parse(source: string, { parseMode = '', entities }: FormatOptions): FormattedText {
  const mode = asciiLower(parseMode)
  if (source === '' || mode === '' || mode === 'none') {
    return { text: source, entities: entities === undefined ? [] : parseExplicit(entities) }
  }
  switch (mode) {
    case 'html':
      return parseHtml(source)
    case 'markdownv2':
      return parseMarkdownV2(source)
    case 'markdown':
      return parseMarkdown(source)
    default:
      throw new MarkupError('unsupported parse_mode')
  }
}

const isLonger = (text: string, limit: number): boolean =>
  text.length > limit && Array.from(text).length > limit
