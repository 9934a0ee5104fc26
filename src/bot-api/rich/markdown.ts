/** Rich messages written in Markdown, as the blocks they stand for. */
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

const MARK_OF_MEDIA: Readonly<Record<string, string>> = {
  photo: 'photo',
  video: 'video',
  audio: 'audio',
  document: 'document',
}

/** The words of one block with the marks within them. */
function inline(source: string): RichText {
  const pieces: RichText[] = []
  let plain = ''
  const add = (piece: RichText) => {
    if (plain !== '') pieces.push(plain)
    plain = ''
    pieces.push(piece)
  }
  for (let at = 0; at < source.length; ) {
    const found = pieceAt(source, at)
    if (found) {
      add(found.piece)
      at = found.end
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

function pieceAt(source: string, at: number): Found | undefined {
  const rest = source.slice(at)
  const [code, , words] = /^(`+)([^`][\s\S]*?)\1(?!`)/.exec(rest) ?? []
  if (code !== undefined)
    return { piece: { type: 'code', text: words ?? '' }, end: at + code.length }
  const [math, expression] = /^\$([^$\s][^$\n]*?)\$/.exec(rest) ?? []
  if (math !== undefined) {
    const piece = { type: 'mathematical_expression', expression: expression ?? '' }
    return { piece, end: at + math.length }
  }
  const [link, text = '', url = ''] = /^\[((?:\\.|[^\]\\])+)\]\(([^)\s]+)\)/.exec(rest) ?? []
  if (link !== undefined) return { piece: linkTo(url, inline(text)), end: at + link.length }
  for (const [mark, type] of MARKS) {
    if (!rest.startsWith(mark)) continue
    // An underscore within a word stays an underscore.
    if (mark === '_' && /\w/.test(source[at - 1] ?? ' ')) continue
    const close = closing(rest, mark)
    if (close <= mark.length) continue
    return {
      piece: { type, text: inline(rest.slice(mark.length, close)) },
      end: at + close + mark.length,
    }
  }
  return undefined
}

function closing(rest: string, mark: string): number {
  if (/^\s/.test(rest.slice(mark.length))) return -1
  for (let at = rest.indexOf(mark, mark.length + 1); at > 0; at = rest.indexOf(mark, at + 1)) {
    // The last two of three marks in a row belong together: `**a *b***`.
    if (mark.length === 2 && rest[at + 2] === mark[0]) continue
    const isEscaped = rest[at - 1] === '\\'
    const isLonger = mark.length === 1 && (rest[at + 1] === mark || rest[at - 1] === mark)
    if (!isEscaped && !isLonger && !/\s/.test(rest[at - 1] ?? ' ')) return at
  }
  return -1
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
  #at = 0

  constructor(lines: readonly string[]) {
    this.#lines = lines
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

const ITEM = /^( {0,3})(?:[-*+]|(\d{1,9})[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/
const ROW = /^\s*\|.*\|\s*$/
const SEPARATOR = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/
const FENCE = /^```+\s*([\w+-]*)\s*$/
const MEDIA = /^!\[([^\]]*)\]\(([^)\s]+)\)\s*$/
const HEADING = /^(#{1,6})\s+(.*?)\s*#*\s*$/

const begins = (line: string) =>
  [ITEM, RULE, ROW, FENCE, MEDIA, HEADING, /^\s*>/, /^\s*\$\$/].some((form) => form.test(line))

function blocksIn(lines: Lines, media: FindMedia): GivenBlock[] {
  const blocks: GivenBlock[] = []
  for (let line = lines.next; line !== undefined; line = lines.next) {
    if (line.trim() === '') lines.take()
    else blocks.push(blockAt(line, lines, media))
  }
  return blocks
}

function blockAt(line: string, lines: Lines, media: FindMedia): GivenBlock {
  const fence = FENCE.exec(line)
  if (fence) return fenced(lines, fence[1])
  if (/^\s*\$\$/.test(line)) return formula(lines)
  const heading = HEADING.exec(line)
  if (heading) {
    lines.take()
    return { type: 'heading', size: heading[1]?.length, text: inline(heading[2] ?? '') }
  }
  if (RULE.test(line)) {
    lines.take()
    return { type: 'divider' }
  }
  if (/^\s*>/.test(line)) {
    const quoted = lines.takeWhile((one) => /^\s*>/.test(one))
    const inner = new Lines(quoted.map((one) => one.replace(/^\s*> ?/, '')))
    return { type: 'blockquote', blocks: blocksIn(inner, media) }
  }
  if (ROW.test(line) && SEPARATOR.test(lines.second)) return table(lines)
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

function picture(source: string, caption: string, media: FindMedia): GivenBlock {
  const [, kind = 'photo'] = /^tg:\/\/(\w+)\?id=/.exec(source) ?? []
  const block = media(MARK_OF_MEDIA[kind] ?? 'photo', source)
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
    const body = new Lines([text, ...inner.map((one) => one.slice(indent))])
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
  const rows = lines.takeWhile((one) => ROW.test(one)).map((row) => rowOf(cellsIn(row), false))
  return { type: 'table', cells: [rowOf(head, true), ...rows] }
}

export const blocksOfMarkdown = (markdown: string, media: FindMedia): GivenBlock[] =>
  blocksIn(new Lines(markdown.replaceAll('\r\n', '\n').split('\n')), media)
