/** The MarkdownV2 parse mode: entities nest, and every reserved character outside them is escaped. */
import { unparsable } from './error.ts'
import { codeBlock, readFenceHead } from './markdown-part.ts'
import {
  closerLength,
  isReserved,
  isVerbatim,
  names,
  type OpenKind,
  openerAt,
} from './markdown-v2-kind.ts'
import { isEscape, readImageEnd, readLinkEnd } from './markdown-v2-link.ts'
import { sortEntities } from './order.ts'
import { byteOffset } from './scan.ts'
import type { FormattedText, MessageEntity } from './types.ts'

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
