/** Reads the marks of message styling (XEP-0393) as formatting, and leaves them out of the text. */
import type { Text, TextEntity } from '../../../../machines/model/text.ts'
import { appendMoved } from '../../kit/text.ts'

/** The marks of message styling (XEP-0393) and the kinds of formatting that they stand for. */
export const marks: ReadonlyMap<string, string> = new Map([
  ['*', 'bold'],
  ['_', 'italic'],
  ['~', 'strikethrough'],
  ['`', 'code'],
])

export const fence = '```'

export const isSpace = (character: string | undefined) =>
  character === undefined || /\s/.test(character)

/** A text that is nested deeper is read as plain text. */
const MOST_DEPTH = 8
/** A text with more of them was made to be large: it stays as it was written. */
const MOST_ENTITIES = 2_000

const mayBeStyled = /[*_~`>]/

export function readStyled(body: string): Text {
  if (!mayBeStyled.test(body)) return { text: body, entities: [] }
  const styled = readBlocks(body.split('\n'), 0)
  return styled.entities.length > MOST_ENTITIES ? { text: body, entities: [] } : styled
}

function readBlocks(lines: readonly string[], depth: number): Text {
  const blocks: Text[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    const end = line.startsWith(fence)
      ? fenceEnd(lines, at)
      : line.startsWith('>') && depth < MOST_DEPTH
        ? quoteEnd(lines, at)
        : at
    if (end === at) {
      blocks.push(readSpans(line, depth))
      at += 1
    } else if (line.startsWith(fence)) {
      blocks.push(preformatted(lines.slice(at + 1, end), line.slice(fence.length).trim()))
      at = end + 1
    } else {
      const quoted = lines.slice(at, end).map((text) => text.replace(/^> ?/, ''))
      blocks.push(quotation(readBlocks(quoted, depth + 1)))
      at = end
    }
  }
  return joined(blocks)
}

/** The closing line of the block that begins here; beyond the last line where there is none. */
const fenceEnd = (lines: readonly string[], start: number) =>
  nextLine(lines, start, (line) => line.trimEnd() === fence)

const quoteEnd = (lines: readonly string[], start: number) =>
  nextLine(lines, start, (line) => !line.startsWith('>'))

/** Looks at nothing before `start`: else a text of many short blocks would be read as often as it has blocks. */
function nextLine(
  lines: readonly string[],
  start: number,
  matches: (line: string) => boolean,
): number {
  let at = start + 1
  while (at < lines.length && !matches(lines[at] ?? '')) at += 1
  return at
}

function preformatted(lines: readonly string[], language: string): Text {
  const text = lines.join('\n')
  const entity = { type: 'pre', offset: 0, length: text.length, ...(language && { language }) }
  return { text, entities: text ? [entity] : [] }
}

/** A quotation within one has no place of its own. */
function quotation({ text, entities }: Text): Text {
  const inner = entities.filter(({ type }) => type !== 'blockquote')
  const outer = { type: 'blockquote', offset: 0, length: text.length }
  return { text, entities: text ? [outer, ...inner] : [] }
}

function joined(blocks: readonly Text[]): Text {
  let text = ''
  const entities: TextEntity[] = []
  for (const [index, block] of blocks.entries()) {
    if (index > 0) text += '\n'
    appendMoved(entities, block.entities, text.length)
    text += block.text
  }
  return { text, entities }
}

function readSpans(line: string, depth: number): Text {
  if (depth === MOST_DEPTH) return { text: line, entities: [] }
  // A mark that closes nothing from here on closes nothing further on: long lines are read but once.
  const unclosed = new Set<string>()
  let text = ''
  const entities: TextEntity[] = []
  for (let at = 0; at < line.length; ) {
    const mark = line[at] ?? ''
    const type = unclosed.has(mark) || !opens(line, at) ? undefined : marks.get(mark)
    const end = type === undefined ? -1 : closing(line, at)
    if (type === undefined || end < 0) {
      if (type !== undefined) unclosed.add(mark)
      text += mark
      at += 1
      continue
    }
    const content = line.slice(at + 1, end)
    const inner = type === 'code' ? { text: content, entities: [] } : readSpans(content, depth + 1)
    entities.push({ type, offset: text.length, length: inner.text.length })
    appendMoved(entities, inner.entities, text.length)
    text += inner.text
    at = end + 1
  }
  return { text, entities }
}

/** Whether what is here, if it is a mark, may begin a span. */
function opens(line: string, at: number): boolean {
  return isSpace(line[at - 1]) && !isSpace(line[at + 1]) && line[at + 1] !== line[at]
}

/** The end of the span that begins here; -1 if there is none. */
function closing(line: string, start: number): number {
  const mark = line[start] ?? ''
  let end = line.indexOf(mark, start + 2)
  while (end >= 0 && isSpace(line[end - 1])) end = line.indexOf(mark, end + 1)
  return end
}
