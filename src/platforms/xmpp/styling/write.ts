/** Writes formatting with the marks of message styling (XEP-0393), where these can express it. */
import type { Text, TextEntity } from '../../../../machines/model/text.ts'
import { withLinkTargets } from '../../kit/text.ts'
import { fence, isSpace, marks } from './read.ts'

const markOf: ReadonlyMap<string, string> = new Map([...marks].map(([mark, type]) => [type, mark]))
const quotations: ReadonlySet<string> = new Set(['blockquote', 'expandable_blockquote'])

interface Span {
  readonly mark: string
  readonly start: number
  readonly end: number
}

export function writeStyled(source: Text): string {
  if (source.entities.length === 0) return source.text
  const { text, entities } = withLinkTargets(source)
  const blocks = entities.filter(({ type }) => type === 'pre' || quotations.has(type))
  const spans = entities.filter(({ type }) => markOf.has(type))
  const written: string[] = []
  let open: TextEntity | undefined
  for (const [start, end] of pieces(text, blocks)) {
    const isInside = (entity: TextEntity) =>
      entity.offset <= start && start < entity.offset + Math.max(entity.length, 1)
    const quote = blocks.some((block) => quotations.has(block.type) && isInside(block)) ? '> ' : ''
    const pre = blocks.find((block) => block.type === 'pre' && isInside(block))
    if (open && open !== pre) written.push(quote + fence)
    if (pre && open !== pre) written.push(`${quote}${fence}${pre.language ?? ''}`)
    open = pre
    written.push(quote + (pre ? text.slice(start, end) : styledLine(text, start, end, spans)))
  }
  if (open) written.push(fence)
  return written.join('\n')
}

/** The lines, cut also where a block begins or ends in the midst of one. */
function pieces(text: string, blocks: readonly TextEntity[]): (readonly [number, number])[] {
  const edges = new Set(blocks.flatMap(({ offset, length }) => [offset, offset + length]))
  const found: (readonly [number, number])[] = []
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const isBreak = at === text.length || text[at] === '\n'
    if (isBreak) {
      // An edge at the line's end is the line's own end.
      if (at > start || !edges.has(start) || text[start - 1] === '\n') found.push([start, at])
      start = at + 1
    } else if (at > start && edges.has(at)) {
      found.push([start, at])
      start = at
    }
  }
  return found
}

function styledLine(text: string, from: number, to: number, entities: readonly TextEntity[]) {
  const spans: Span[] = []
  const ordered = entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length)
  for (const entity of ordered) {
    const span = spanOf(text, from, to, entity)
    if (span && canOpen(text, from, span) && spans.every((other) => fits(other, span))) {
      spans.push(span)
    }
  }
  const insertions = new Map<number, string>()
  const insert = (at: number, mark: string) => insertions.set(at, (insertions.get(at) ?? '') + mark)
  for (const { end, mark } of spans.toReversed()) insert(end, mark)
  for (const { start, mark } of spans) insert(start, mark)
  let line = ''
  let copied = from
  for (const at of [...insertions.keys()].toSorted((a, b) => a - b)) {
    line += text.slice(copied, at) + insertions.get(at)
    copied = at
  }
  return line + text.slice(copied, to)
}

/** The part of it in this line, without spaces at its ends. */
function spanOf(text: string, from: number, to: number, entity: TextEntity): Span | undefined {
  const mark = markOf.get(entity.type)
  let start = Math.max(entity.offset, from)
  let end = Math.min(entity.offset + entity.length, to)
  while (start < end && isSpace(text[start])) start += 1
  while (end > start && isSpace(text[end - 1])) end -= 1
  if (mark === undefined || start >= end || text.slice(start, end).includes(mark)) return undefined
  return { mark, start, end }
}

/** Marks within a word are no marks. */
const canOpen = (text: string, from: number, { start }: Span) =>
  start === from || isSpace(text[start - 1])

/** Beside the other or within it; and nothing is formatted within code. */
function fits(other: Span, span: Span): boolean {
  if (span.start >= other.end) return true
  return span.end <= other.end && other.mark !== '`' && other.mark !== span.mark
}
