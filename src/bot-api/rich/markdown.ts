/** Rich messages written in Markdown, as the blocks they stand for. */
import { failed } from '../../../machines/model/failure.ts'
import type { RichText } from '../../../machines/model/rich.ts'
import type { FindMedia, GivenBlock } from './html.ts'

/** Marks around words, the longer ones first. */
const MARKS: readonly (readonly [mark: string, type: string])[] = [
  ['**', 'bold'],
  ['__', 'underline'],
  ['~~', 'strikethrough'],
  ['||', 'spoiler'],
  ['==', 'marked'],
  ['*', 'italic'],
  ['_', 'italic'],
]

const MEDIA_NAMED: readonly string[] = ['photo', 'video', 'audio', 'document']

/** Quotations and lists within each other. */
const DEEPEST = 60

/**
 * Finds what closes something in a text. Places are asked for in their order, so each is looked for once: a text of nothing
 * but openings takes no longer than any other.
 */
class Ahead {
  readonly source: string
  readonly #depth: number
  readonly #known = new Map<string, number>()

  constructor(source: string, depth: number) {
    this.source = source
    this.#depth = depth
  }

  /** The words between two places, with the marks within them. */
  within(from: number, to: number): RichText {
    return inline(this.source.slice(from, to), this.#depth + 1)
  }

  /** The first place from `from` on of what `name` stands for, as `seek` finds it; -1 if there is none. */
  next(name: string, from: number, seek: (from: number) => number): number {
    const known = this.#known.get(name)
    if (known !== undefined && (known === -1 || known >= from)) return known
    const found = seek(from)
    this.#known.set(name, found)
    return found
  }

  /** As many backticks as `ticks`, without another one after them. */
  ticks(ticks: string, from: number): number {
    return this.next(ticks, from, (start) => {
      let at = this.source.indexOf(ticks, start)
      while (at >= 0 && this.source[at + ticks.length] === '`') {
        at = this.source.indexOf(ticks, at + 1)
      }
      return at
    })
  }

  /** Where `mark` can end something. */
  mark(mark: string, from: number): number {
    return this.next(mark, from, (start) => {
      const { source } = this
      for (let at = source.indexOf(mark, start); at >= 0; at = source.indexOf(mark, at + 1)) {
        // The last two of three marks in a row belong together: `**a *b***`.
        if (mark.length === 2 && source[at + 2] === mark[0]) continue
        const isEscaped = source[at - 1] === '\\'
        const isLonger = mark.length === 1 && (source[at + 1] === mark || source[at - 1] === mark)
        if (!isEscaped && !isLonger && !/\s/.test(source[at - 1] ?? ' ')) return at
      }
      return -1
    })
  }

  /** The bracket that ends the words of a link. */
  bracket(from: number): number {
    return this.next(']', from, (start) => {
      for (let at = start; at < this.source.length; at++) {
        if (this.source[at] === ']') return at
        if (this.source[at] === '\\') at++
      }
      return -1
    })
  }

  /** The end of an address, which has neither a blank nor a bracket. */
  endOfUrl(from: number): number {
    return this.next(')', from, (start) => {
      const length = this.source.slice(start).search(/[)\s]/)
      return length < 0 ? -1 : start + length
    })
  }
}

/** The words of one block with the marks within them. */
function inline(source: string, depth = 0): RichText {
  // A long line of nothing but marks, as people draw it below a title: what is deeper is characters.
  if (depth > MARKS.length) return source
  const ahead = new Ahead(source, depth)
  const pieces: RichText[] = []
  let plain = ''
  const add = (piece: RichText) => {
    if (plain !== '') pieces.push(plain)
    plain = ''
    pieces.push(piece)
  }
  for (let at = 0; at < source.length; ) {
    const found = pieceAt(ahead, at)
    if (found) {
      add(found.piece)
      at = found.end
    } else if (source[at] === '`') {
      // Backticks that nothing closes are backticks.
      const end = endOfTicks(source, at)
      plain += source.slice(at, end)
      at = end
    } else {
      if (source[at] === '\\' && at + 1 < source.length) at++
      plain += source[at] ?? ''
      at++
    }
  }
  if (plain !== '') pieces.push(plain)
  return pieces.length === 1 ? (pieces[0] as RichText) : pieces
}

interface Found {
  readonly piece: RichText
  readonly end: number
}

function endOfTicks(source: string, from: number): number {
  let end = from
  while (source[end] === '`') end++
  return end
}

function pieceAt(ahead: Ahead, at: number): Found | undefined {
  const { source } = ahead
  switch (source[at]) {
    case '`':
      return codeAt(ahead, at)
    case '$':
      return mathAt(source, at)
    case '[':
      return linkAt(ahead, at)
    default:
      return markedAt(ahead, at)
  }
}

function codeAt(ahead: Ahead, at: number): Found | undefined {
  const begin = endOfTicks(ahead.source, at)
  const ticks = ahead.source.slice(at, begin)
  const close = ahead.ticks(ticks, begin + 1)
  if (close < 0) return undefined
  const piece = { type: 'code', text: ahead.source.slice(begin, close) }
  return { piece, end: close + ticks.length }
}

function mathAt(source: string, at: number): Found | undefined {
  const form = /\$([^$\s][^$\n]*)\$/y
  form.lastIndex = at
  const expression = form.exec(source)?.[1]
  if (expression === undefined) return undefined
  return { piece: { type: 'mathematical_expression', expression }, end: form.lastIndex }
}

function linkAt(ahead: Ahead, at: number): Found | undefined {
  const { source } = ahead
  const close = ahead.bracket(at + 1)
  if (close <= at + 1 || source[close + 1] !== '(') return undefined
  const [begin, end] = [close + 2, ahead.endOfUrl(close + 2)]
  if (end <= begin || source[end] !== ')') return undefined
  const text = ahead.within(at + 1, close)
  return { piece: linkTo(source.slice(begin, end), text), end: end + 1 }
}

function markedAt(ahead: Ahead, at: number): Found | undefined {
  const { source } = ahead
  for (const [mark, type] of MARKS) {
    if (!source.startsWith(mark, at)) continue
    // An underscore within a word stays an underscore.
    if (mark === '_' && /\w/.test(source[at - 1] ?? ' ')) continue
    const begin = at + mark.length
    if (/\s/.test(source[begin] ?? '')) continue
    const close = ahead.mark(mark, begin + 1)
    if (close < 0) continue
    return { piece: { type, text: ahead.within(begin, close) }, end: close + mark.length }
  }
  return undefined
}

function linkTo(url: string, text: RichText): RichText {
  const [, person] = /^tg:\/\/user\?id=(\d{1,15})$/.exec(url) ?? []
  if (person) {
    return {
      type: 'text_mention',
      text,
      user: { id: Number(person), is_bot: false, first_name: '' },
    }
  }
  return url.startsWith('#')
    ? { type: 'anchor_link', text, anchor_name: url.slice(1) }
    : { type: 'url', text, url }
}

/** Lines that belong to one block, taken from the front. */
class Lines {
  readonly #lines: readonly string[]
  readonly #depth: number
  #at = 0

  constructor(lines: readonly string[], depth = 0) {
    if (depth > DEEPEST) {
      throw failed('bad_request', "can't parse rich message: it is nested too deeply")
    }
    this.#lines = lines
    this.#depth = depth
  }

  /** The lines of a block inside this one. */
  within(lines: readonly string[]): Lines {
    return new Lines(lines, this.#depth + 1)
  }

  get next(): string | undefined {
    return this.#lines[this.#at]
  }

  /** The line after the next one. */
  get second(): string {
    return this.#lines[this.#at + 1] ?? ''
  }

  take(): string {
    return this.#lines[this.#at++] ?? ''
  }

  takeWhile(belongs: (line: string) => boolean): string[] {
    const taken: string[] = []
    while (this.next !== undefined && belongs(this.next)) taken.push(this.take())
    return taken
  }
}

// None of these reads a part of a line twice: a line may be long and hostile.
const ITEM = /^( {0,3})(?:[-*+]|(\d{1,9})[.)])\s+(?:\[([ xX])\]\s+)?([\s\S]*)$/
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/
const FENCE = /^```+\s*([\w+-]*)$/
const MEDIA = /^!\[([^\]]*)\]\(([^)\s]+)\)\s*$/
const HEADING = /^(#{1,6})\s+([\s\S]*)$/

const fenceIn = (line: string) => FENCE.exec(line.trimEnd())

const isRow = (line: string): boolean => {
  const row = line.trim()
  return row.length > 1 && row.startsWith('|') && row.endsWith('|')
}

const isSeparator = (line: string): boolean => cellsIn(line).every((cell) => /^:?-+:?$/.test(cell))

const begins = (line: string) =>
  isRow(line) ||
  fenceIn(line) !== null ||
  [ITEM, RULE, MEDIA, HEADING, /^\s*>/, /^\s*\$\$/].some((form) => form.test(line))

function blocksIn(lines: Lines, media: FindMedia): GivenBlock[] {
  const blocks: GivenBlock[] = []
  for (let line = lines.next; line !== undefined; line = lines.next) {
    if (line.trim() === '') lines.take()
    else blocks.push(blockAt(line, lines, media))
  }
  return blocks
}

function blockAt(line: string, lines: Lines, media: FindMedia): GivenBlock {
  const fence = fenceIn(line)
  if (fence) return fenced(lines, fence[1])
  if (/^\s*\$\$/.test(line)) return formula(lines)
  const heading = HEADING.exec(line)
  if (heading) {
    lines.take()
    return { type: 'heading', size: heading[1]?.length, text: inline(titleOf(heading[2] ?? '')) }
  }
  if (RULE.test(line)) {
    lines.take()
    return { type: 'divider' }
  }
  if (/^\s*>/.test(line)) {
    const quoted = lines.takeWhile((one) => /^\s*>/.test(one))
    const inner = lines.within(quoted.map((one) => one.replace(/^\s*> ?/, '')))
    return { type: 'blockquote', blocks: blocksIn(inner, media) }
  }
  if (isRow(line) && isSeparator(lines.second)) return table(lines)
  if (ITEM.test(line)) return list(lines, media)
  const shown = MEDIA.exec(line)
  if (shown) {
    lines.take()
    return picture(shown[2] ?? '', shown[1] ?? '', media)
  }
  const first = lines.take()
  const rest = lines.takeWhile((one) => one.trim() !== '' && !begins(one))
  return { type: 'paragraph', text: inline([first, ...rest].map((one) => one.trim()).join('\n')) }
}

/** The marks at the end of a heading are no words of it. */
function titleOf(text: string): string {
  const whole = text.trimEnd()
  let end = whole.length
  while (whole[end - 1] === '#') end--
  return whole.slice(0, end).trim()
}

function picture(source: string, caption: string, media: FindMedia): GivenBlock {
  const [, kind = 'photo'] = /^tg:\/\/(\w+)\?id=/.exec(source) ?? []
  const block = media(MEDIA_NAMED.includes(kind) ? kind : 'photo', source)
  return caption === '' ? block : { ...block, caption: { text: inline(caption) } }
}

function fenced(lines: Lines, language = ''): GivenBlock {
  lines.take()
  const text = lines.takeWhile((one) => !/^```+\s*$/.test(one)).join('\n')
  lines.take()
  return { type: 'pre', text, ...(language !== '' && { language }) }
}

function formula(lines: Lines): GivenBlock {
  const first = lines.take().trim().slice(2)
  if (first.endsWith('$$') && first.length > 2) {
    return { type: 'mathematical_expression', expression: first.slice(0, -2).trim() }
  }
  const rest = lines.takeWhile((one) => !one.trim().endsWith('$$'))
  const last = lines.take().trim().replace(/\$\$$/, '')
  return { type: 'mathematical_expression', expression: [first, ...rest, last].join('\n').trim() }
}

/** Lines indented below an item belong to the item. */
function list(lines: Lines, media: FindMedia): GivenBlock {
  const items: object[] = []
  for (let item = ITEM.exec(lines.next ?? ''); item; item = ITEM.exec(lines.next ?? '')) {
    lines.take()
    const [, , number, box, text = ''] = item
    const inner = lines.takeWhile((one) => /^(?: {2,}|\t)/.test(one))
    const indent = Math.min(...inner.map((one) => /^\s*/.exec(one)?.[0].length ?? 0))
    const body = lines.within([text, ...inner.map((one) => one.slice(indent))])
    items.push({
      blocks: blocksIn(body, media),
      ...(box !== undefined && { has_checkbox: true }),
      ...(box?.toLowerCase() === 'x' && { is_checked: true }),
      ...(number !== undefined && { value: Number(number), type: '1' }),
    })
  }
  return { type: 'list', items }
}

function cellsIn(row: string): string[] {
  const inner = row.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function table(lines: Lines): GivenBlock {
  const head = cellsIn(lines.take())
  const aligns = cellsIn(lines.take()).map((rule) => {
    if (rule.startsWith(':') && rule.endsWith(':')) return 'center'
    return rule.endsWith(':') ? 'right' : 'left'
  })
  const rowOf = (texts: readonly string[], isHeader: boolean) =>
    texts.map((text, at) => ({
      text: inline(text),
      align: aligns[at] ?? 'left',
      ...(isHeader && { is_header: true }),
    }))
  const rows = lines.takeWhile(isRow).map((row) => rowOf(cellsIn(row), false))
  return { type: 'table', cells: [rowOf(head, true), ...rows] }
}

export const blocksOfMarkdown = (markdown: string, media: FindMedia): GivenBlock[] =>
  blocksIn(new Lines(markdown.replaceAll('\r\n', '\n').split('\n')), media)
