/** The order and the grouping of entities: by offset, then the longer, then the outer kind first. */
import type { CodeKind, EntityKind, MessageEntity, QuoteKind, StyleKind } from './types.ts'

export const styleKinds: readonly StyleKind[] = [
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
]
const quoteKinds: readonly QuoteKind[] = ['blockquote', 'expandable_blockquote']
const codeKinds: readonly CodeKind[] = ['code', 'pre', 'date_time']

export const isStyle = (kind: EntityKind): kind is StyleKind => styleKinds.some((k) => k === kind)
export const isQuote = (kind: EntityKind): kind is QuoteKind => quoteKinds.some((k) => k === kind)
export const isCode = (kind: EntityKind): kind is CodeKind => codeKinds.some((k) => k === kind)

export const endOf = (entity: MessageEntity): number => entity.offset + entity.length

const innermost = 99
const depths: Partial<Record<EntityKind, number>> = {
  blockquote: 0,
  expandable_blockquote: 0,
  pre: 10,
  code: 20,
  date_time: 30,
  text_link: 49,
  text_mention: 49,
  bold: 90,
  italic: 91,
  underline: 92,
  strikethrough: 93,
  spoiler: 94,
  custom_emoji: innermost,
}
const detectedDepth = 50
const depth = (entity: MessageEntity): number => depths[entity.type] ?? detectedDepth

export const sortEntities = (entities: readonly MessageEntity[]): MessageEntity[] =>
  entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length || depth(a) - depth(b))
