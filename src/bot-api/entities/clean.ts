/** Cleans a text of what would spoil its display, and moves its entities along. */

import { fixEntities } from './merge.ts'
import { endOf } from './order.ts'
import { checkNumbers, checkRanges } from './range.ts'
import type { FormattedText, MessageEntity } from './types.ts'

/** @throws FormatError if an entity lies outside the text or splits a character. */
export function clean(text: string, entities: readonly MessageEntity[]): FormattedText {
  if (entities.length === 0) return trim(cleanText(text), [])
  checkNumbers(entities)
  const fixed = fixEntities(entities.filter(({ length }) => length > 0))
  checkRanges(text, fixed)
  const { cleaned, moved } = cleanCharacters(text)
  const kept = fixed
    .map((entity) => moveTo(entity, moved[entity.offset]!, moved[endOf(entity)]!))
    .filter(({ length }) => length > 0)
  // What was removed may have kept two styles apart.
  return trim(cleaned, fixEntities(kept))
}

export const cleanText = (text: string): string =>
  spoilers.test(text) ? cleanCharacters(text).cleaned : text

/** Most texts have nothing to be cleaned of. */
const spoilers = /[^\P{Cc}\n]|[\u030a\u0333\u033f\u200e\u200f\u2028-\u202e]/u

/** Margins go, but what an entity covers at the start is meant to be there. */
function trim(text: string, entities: readonly MessageEntity[]): FormattedText {
  let end = text.length
  while (end > 0 && isMargin(text[end - 1]!)) end--
  if (end === 0) return { text: '', entities: [] }
  const first = entities[0]?.offset ?? end
  let start = 0
  while (start < first && isMargin(text[start]!)) start++
  return {
    text: text.slice(start, end),
    entities: entities
      .map((entity) => moveTo(entity, entity.offset - start, Math.min(endOf(entity), end) - start))
      .filter(({ length }) => length > 0),
  }
}

const isMargin = (unit: string): boolean => unit === ' ' || unit === '\n'

const moveTo = (entity: MessageEntity, offset: number, end: number): MessageEntity => ({
  ...entity,
  offset,
  length: end - offset,
})

function cleanCharacters(text: string) {
  const moved = new Int32Array(text.length + 1)
  let cleaned = ''
  for (let i = 0; i < text.length; i++) {
    moved[i] = cleaned.length
    cleaned += cleanUnit(text[i]!)
  }
  moved[text.length] = cleaned.length
  return { cleaned: breakDirectionRuns(cleaned), moved }
}

function cleanUnit(unit: string): string {
  if (unit === '\n') return unit
  if (isRemoved(unit)) return ''
  return unit < ' ' ? ' ' : unit
}

/** Line and paragraph separators, embeddings of direction, and marks that draw over other lines. */
const isRemoved = (unit: string): boolean =>
  unit === '\r' || (unit >= '\u2028' && unit <= '\u202e') || '\u030a\u0333\u033f'.includes(unit)

/** Long runs of direction marks freeze some clients: only the last of a run keeps its effect. */
const breakDirectionRuns = (text: string): string =>
  text.replace(/[\u200e\u200f]+(?=[\u200e\u200f])/g, (run) => '\u200c'.repeat(run.length))
