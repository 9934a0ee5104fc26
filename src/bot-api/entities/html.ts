/** The HTML parse mode: tags become entities, character references become characters. */
import { unparsable } from './error.ts'
import { meaningOf } from './html-element.ts'
import { readReference } from './html-reference.ts'
import { readStartTag, type StartTag, skipName, skipSpaces } from './html-tag.ts'
import { sortEntities } from './order.ts'
import { asciiLower, byteOffset } from './scan.ts'
import type { FormattedText, MessageEntity } from './types.ts'

type OpenElement = StartTag & { offset: number }

export function parseHtml(source: string): FormattedText {
  let text = ''
  const entities: MessageEntity[] = []
  const open: OpenElement[] = []
  let i = 0
  while (i < source.length) {
    const reference = source[i] === '&' ? readReference(source, i) : undefined
    if (source[i] !== '<') {
      text += reference?.char ?? source[i]
      i = reference?.end ?? i + 1
    } else if (source[i + 1] !== '/') {
      const tag = readStartTag(source, i)
      requireSpoiler(tag, source, i)
      open.push({ ...tag, offset: text.length })
      i = tag.end + 1
    } else {
      i = readEndTag(source, i, open.at(-1))
      addEntity(entities, open.pop()!, text)
    }
  }
  const unclosed = open.at(-1)
  if (unclosed) {
    throw unparsable(`Can't find end tag corresponding to start tag "${unclosed.name}"`)
  }
  if (!text.isWellFormed()) {
    throw unparsable(
      'Text contains invalid Unicode characters after decoding HTML entities, ' +
        'check for unmatched surrogate code units',
    )
  }
  return { text, entities: sortEntities(entities.map(dropCodeLanguage)) }
}

function requireSpoiler({ name, attributes }: StartTag, source: string, start: number): void {
  if (name === 'span' && attributes.get('class') !== 'tg-spoiler') {
    const at = byteOffset(source, start)
    throw unparsable(`Tag "span" must have class "tg-spoiler" at byte offset ${at}`)
  }
}

function readEndTag(source: string, start: number, element: OpenElement | undefined): number {
  const at = () => `at byte offset ${byteOffset(source, start)}`
  if (!element) throw unparsable(`Unexpected end tag ${at()}`)
  const nameEnd = skipName(source, start + 2)
  const name = asciiLower(source.slice(start + 2, nameEnd))
  const end = skipSpaces(source, nameEnd)
  if (source[end] !== '>') throw unparsable(`Unclosed end tag ${at()}`)
  if (name !== '' && name !== element.name) {
    throw unparsable(`Unmatched end tag ${at()}, expected "</${element.name}>", found "</${name}>"`)
  }
  return end + 1
}

function addEntity(entities: MessageEntity[], element: OpenElement, text: string): void {
  const { offset } = element
  const length = text.length - offset
  if (length === 0) return
  const meaning = meaningOf(element, text.slice(offset))
  if (!meaning) return
  const inner = entities.at(-1)
  const covers = inner?.offset === offset && inner.length === length
  if (covers && joins(inner, meaning)) {
    inner.type = 'pre'
    inner.language ??= meaning.language!
  } else {
    entities.push({ ...meaning, offset, length })
  }
}

/** A `code` with a language and a `pre` around the same text, either way round, are one entity. */
const joins = (inner: MessageEntity, outer: Pick<MessageEntity, 'type' | 'language'>): boolean =>
  inner.type === 'code'
    ? outer.type === 'pre' && inner.language !== undefined
    : inner.type === 'pre' && outer.type === 'code' && outer.language !== undefined

function dropCodeLanguage({ language, ...entity }: MessageEntity): MessageEntity {
  return language === undefined || entity.type === 'code' ? entity : { ...entity, language }
}
