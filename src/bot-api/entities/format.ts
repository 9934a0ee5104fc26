/** From a text as the sender gave it to the text as it is sent: parsed, cleaned, checked, detected. */
import { clean } from './clean.ts'
import { detectEntities } from './detect.ts'
import { parseExplicit } from './explicit.ts'
import { parseHtml } from './html.ts'
import { parseMarkdown, parseMarkdownV2 } from './markdown.ts'
import { limitEntities, mergeDetected } from './merge.ts'
import { asciiLower, FormatError } from './scan.ts'
import type { FormattedText } from './types.ts'

const blank =
  /[\s\u00a0\u1680\u180e\u2000-\u200f\u202e\u202f\u205f\u2800\u3000\ufeff\ufffc\u{e0000}-\u{e007f}]/u

/** Whether a text has anything to see: all kinds of blanks and joiners alone make no message. */
function isVisible(text: string): boolean {
  for (const char of text) if (!blank.test(char)) return true
  return false
}

export type FormatOptions = {
  parseMode?: string
  /** The raw JSON of the parameter; ignored when a parse mode is given. */
  entities?: string
  /** In code points. */
  limit: 4096 | 2048 | 1024
  kind: 'text' | 'caption'
}

const maxBytes = 32_768

/** @throws FormatError and nothing else. */
export function formatText(source: string, options: FormatOptions): FormattedText {
  const isCaption = options.kind === 'caption'
  if (source === '' && !isCaption) throw new FormatError('message text is empty')
  if (!source.isWellFormed()) throw new FormatError('strings must be encoded in UTF-8')
  if (Buffer.byteLength(source) > maxBytes) throw new FormatError('text is too long')
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
    return { text: source, entities: parseExplicit(entities) }
  }
  switch (mode) {
    case 'html':
      return parseHtml(source)
    case 'markdownv2':
      return parseMarkdownV2(source)
    case 'markdown':
      return parseMarkdown(source)
    default:
      throw new FormatError('unsupported parse_mode')
  }
}

const isLonger = (text: string, limit: number): boolean =>
  text.length > limit && Array.from(text).length > limit
