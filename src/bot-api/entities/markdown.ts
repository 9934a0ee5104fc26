/** The legacy Markdown parse mode: no nesting, an entity runs to the next of its end characters. */
import { unparsable } from './error.ts'
import { readTextLink } from './link.ts'
import { codeBlock, isFence, readFenceHead } from './markdown-part.ts'
import { byteOffset } from './scan.ts'
import type { FormattedText, MessageEntity } from './types.ts'

type Meaning = Omit<MessageEntity, 'offset' | 'length'>
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
