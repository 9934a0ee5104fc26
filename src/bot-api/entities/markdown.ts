/** Both Markdown parse modes: MarkdownV2, whose entities nest, and the legacy mode without nesting. */

import {
  byteOffset,
  type FormattedText,
  isSpace,
  type MessageEntity,
  unparsable,
} from './entity.ts'
import { readEmoji, readTextLink, readTime } from './link.ts'
import { sortEntities } from './normalize.ts'

/** Reads what follows the opening fence: a language if a blank ends it, and one line break. */
function readFenceHead(text: string, start: number): { language: string; end: number } {
  let end = start
  while (!isSpace(text[end]) && text[end] !== '`') end++
  const hasLanguage = end < text.length && text[end] !== '`'
  if (!hasLanguage) end = start
  const language = text.slice(start, end)
  if (isBreak(text[end])) end += isBreak(text[end + 1]) && text[end] !== text[end + 1] ? 2 : 1
  return { language, end }
}

const isBreak = (char: string | undefined): boolean => char === '\n' || char === '\r'

const isFence = (text: string, index: number): boolean => text.startsWith('```', index)

const codeBlock = (language: string) =>
  language === '' ? { type: 'pre' as const } : { type: 'pre' as const, language }

type Read = { meaning: Meaning | undefined; end: number }

/** `end` is the index after the link. Without parentheses the text is its own address. */
function readLinkEnd(source: string, close: number, content: string): Read {
  if (source[close + 1] !== '(') return { meaning: readTextLink(content), end: close + 1 }
  const { url, end } = readAddress(source, close + 2)
  return { meaning: readTextLink(url), end }
}

function readImageEnd(source: string, close: number): Read {
  if (source[close + 1] !== '(') {
    throw unparsable('The entity must contain a tg://emoji or tg://time URL')
  }
  const { url, end } = readAddress(source, close + 2)
  const meaning = readEmoji(url) ?? readTime(url)
  if (!meaning) throw unparsable('Invalid tg://emoji or tg://time URL specified')
  return { meaning, end }
}

function readAddress(source: string, start: number): { url: string; end: number } {
  let url = ''
  let i = start
  while (i < source.length && source[i] !== ')') {
    if (isEscape(source, i)) i++
    url += source[i]
    i++
  }
  if (i >= source.length) {
    throw unparsable(`Can't find end of a URL at byte offset ${byteOffset(source, start)}`)
  }
  return { url, end: i + 1 }
}

/** A backslash takes the meaning from any ASCII character but DEL. */
function isEscape(source: string, index: number): boolean {
  const next = source.charCodeAt(index + 1)
  return source[index] === '\\' && next >= 1 && next <= 126
}

type OpenKind = keyof typeof names

/** As error texts call them. A block of code is named by whether it has a language. */
const names = {
  bold: 'Bold',
  italic: 'Italic',
  underline: 'Underline',
  strikethrough: 'Strikethrough',
  spoiler: 'Spoiler',
  code: 'Code',
  pre: 'Pre',
  preWithLanguage: 'PreCode',
  link: 'TextUrl',
  image: 'CustomEmoji',
  blockquote: 'BlockQuote',
} as const

const closers: Readonly<Record<OpenKind, string>> = {
  bold: '*',
  italic: '_',
  underline: '__',
  strikethrough: '~',
  spoiler: '||',
  code: '`',
  pre: '```',
  preWithLanguage: '```',
  link: ']',
  image: ']',
  blockquote: '',
}

/** How many characters end an entity of that kind here; 0 if none do. */
function closerLength(kind: OpenKind, source: string, index: number): number {
  const closer = closers[kind]
  // Two underscores are never the end of an italic: they begin or end an underline.
  if (kind === 'italic' && source.startsWith('__', index)) return 0
  return source.startsWith(closer, index) ? closer.length : 0
}

/** The entity that begins at a reserved character; undefined if the character must be escaped. */
function openerAt(source: string, index: number): { kind: OpenKind; length: number } | undefined {
  switch (source[index]) {
    case '*':
      return { kind: 'bold', length: 1 }
    case '_':
      return source[index + 1] === '_'
        ? { kind: 'underline', length: 2 }
        : { kind: 'italic', length: 1 }
    case '~':
      return { kind: 'strikethrough', length: 1 }
    case '|':
      return source[index + 1] === '|' ? { kind: 'spoiler', length: 2 } : undefined
    case '`':
      return isFence(source, index) ? { kind: 'pre', length: 3 } : { kind: 'code', length: 1 }
    case '[':
      return { kind: 'link', length: 1 }
    case '!':
      return source[index + 1] === '[' ? { kind: 'image', length: 2 } : undefined
    default:
      return undefined
  }
}

const isVerbatim = (kind: OpenKind | undefined): boolean =>
  kind === 'code' || kind === 'pre' || kind === 'preWithLanguage'

const reserved = '_*[]()~`>#+-=|{}.!\n'

const isReserved = (char: string, inside: OpenKind | undefined): boolean =>
  isVerbatim(inside) ? char === '`' : reserved.includes(char)

type Meaning = Omit<MessageEntity, 'offset' | 'length'>
type Open = { kind: OpenKind; start: number; offset: number; language: string }

export const parseMarkdownV2 = (source: string): FormattedText => new Parser(source).parse()

class Parser {
  readonly #source: string
  #index = 0
  #text = ''
  /** Only there may a quote begin; a carriage return does not count. */
  #atLineStart = true
  #isQuoting = false
  readonly #open: Open[] = []
  readonly #entities: MessageEntity[] = []

  constructor(source: string) {
    this.#source = source
  }

  parse(): FormattedText {
    while (this.#index < this.#source.length) this.#step()
    if (this.#isQuoting) this.#closeQuote()
    const unclosed = this.#open.at(-1)
    if (unclosed) throw this.#unclosed(unclosed)
    return { text: this.#text, entities: sortEntities(this.#entities) }
  }

  #step(): void {
    const char = this.#source[this.#index]!
    const inside = this.#open.at(-1)
    if (isEscape(this.#source, this.#index)) {
      this.#index++
      this.#copy()
    } else if (!isReserved(char, inside?.kind)) {
      this.#copy()
    } else if (char === '\n' && this.#endsQuote()) {
      this.#closeQuote()
    } else if (inside && closerLength(inside.kind, this.#source, this.#index) > 0) {
      this.#close(inside)
    } else {
      this.#begin(char)
    }
  }

  #copy(): void {
    const char = this.#source[this.#index++]!
    this.#text += char
    if (char !== '\r') this.#atLineStart = char === '\n' && !isVerbatim(this.#open.at(-1)?.kind)
  }

  #begin(char: string): void {
    const opener = openerAt(this.#source, this.#index)
    if (char === '\n') this.#copy()
    else if (opener) this.#openEntity(opener.kind, opener.length)
    else if (char === '>' && this.#atLineStart) this.#continueQuote()
    else {
      throw unparsable(
        `Character '${char}' is reserved and must be escaped with the preceding '\\'`,
      )
    }
  }

  #continueQuote(): void {
    if (this.#isQuoting) this.#index++
    else this.#openEntity('blockquote', 1)
  }

  #openEntity(kind: OpenKind, length: number): void {
    const open = { kind, start: this.#index, offset: this.#text.length, language: '' }
    this.#index += length
    if (kind === 'pre') {
      const { language, end } = readFenceHead(this.#source, this.#index)
      this.#index = end
      open.language = language
      if (language !== '') open.kind = 'preWithLanguage'
    }
    if (kind === 'blockquote') this.#isQuoting = true
    this.#open.push(open)
  }

  #close(open: Open): void {
    const { meaning, end } = this.#readEnd(open)
    this.#index = end
    this.#open.pop()
    this.#add(meaning, open.offset)
  }

  #readEnd({ kind, offset, language }: Open): { meaning: Meaning | undefined; end: number } {
    const end = this.#index + closerLength(kind, this.#source, this.#index)
    switch (kind) {
      case 'link':
        return readLinkEnd(this.#source, this.#index, this.#text.slice(offset))
      case 'image':
        return readImageEnd(this.#source, this.#index)
      case 'pre':
      case 'preWithLanguage':
        return { meaning: codeBlock(language), end }
      default:
        return { meaning: { type: kind }, end }
    }
  }

  #add(meaning: Meaning | undefined, offset: number): void {
    const length = this.#text.length - offset
    if (meaning && length > 0) this.#entities.push({ ...meaning, offset, length })
  }

  #endsQuote(): boolean {
    return this.#isQuoting && this.#source[this.#index + 1] !== '>'
  }

  /** At the end of a line or of the text. The line break belongs to the quote. */
  #closeQuote(): void {
    const isExpandable = this.#dropSpoilerBefore(this.#index)
    const open = this.#open.at(-1)!
    if (open.kind !== 'blockquote') throw this.#unclosed(open)
    this.#open.pop()
    this.#isQuoting = false
    if (this.#index < this.#source.length) this.#copy()
    this.#add({ type: isExpandable ? 'expandable_blockquote' : 'blockquote' }, open.offset)
  }

  /** A spoiler opened at the very end of a line is the mark of an expandable quote. */
  #dropSpoilerBefore(index: number): boolean {
    const open = this.#open.at(-1)!
    const lineEnd = this.#text.endsWith('\r') ? index - 1 : index
    if (open.kind !== 'spoiler' || ![index, lineEnd].includes(open.start + 2)) return false
    this.#open.pop()
    return true
  }

  #unclosed({ kind, start }: Open): Error {
    const at = byteOffset(this.#source, start)
    return unparsable(`Can't find end of ${names[kind]} entity at byte offset ${at}`)
  }
}

type Span = { content: string; meaning: Meaning | undefined; end: number }

const special = '_*`['

export function parseMarkdown(source: string): FormattedText {
  let text = ''
  const entities: MessageEntity[] = []
  let i = 0
  while (i < source.length) {
    const char = source[i]!
    const next = source[i + 1]
    if (char === '\\' && next !== undefined && special.includes(next)) {
      text += next
      i += 2
    } else if (special.includes(char)) {
      const { content, meaning, end } = readSpan(source, i)
      if (meaning && content !== '') {
        entities.push({ ...meaning, offset: text.length, length: content.length })
      }
      text += content
      i = end
    } else {
      text += char
      i++
    }
  }
  return { text, entities }
}

function readSpan(source: string, start: number): Span {
  if (isFence(source, start)) {
    const { language, end } = readFenceHead(source, start + 3)
    const [content, close] = readTo('```', source, end, start)
    return { content, meaning: codeBlock(language), end: close + 3 }
  }
  const char = source[start]!
  const [content, close] = readTo(char === '[' ? ']' : char, source, start + 1, start)
  if (char === '[') return readLink(source, content, close)
  const type = char === '_' ? 'italic' : char === '*' ? 'bold' : 'code'
  return { content, meaning: { type }, end: close + 1 }
}

function readTo(mark: string, source: string, from: number, start: number): [string, number] {
  const end = source.indexOf(mark, from)
  if (end === -1) {
    const at = byteOffset(source, start)
    throw unparsable(`Can't find end of the entity starting at byte offset ${at}`)
  }
  return [source.slice(from, end), end]
}

/** An address that never ends takes the rest of the text with it, as in the reference. */
function readLink(source: string, content: string, close: number): Span {
  if (source[close + 1] !== '(') {
    return { content, meaning: readTextLink(content), end: close + 1 }
  }
  const found = source.indexOf(')', close + 2)
  const end = found === -1 ? source.length : found
  return { content, meaning: readTextLink(source.slice(close + 2, end)), end: end + 1 }
}
