/** Removes characters that would spoil a text, and moves its entities along. */

import { endOf, fixEntities } from './merge.ts'
import { byteOffset, FormatError } from './scan.ts'
import type { FormattedText, MessageEntity } from './types.ts'

const maxPosition = 1_000_000

/** Positions no text can have, told before the entities are compared with each other. */
function checkNumbers(entities: readonly MessageEntity[]): void {
  for (const { offset, length } of entities) {
    if (offset < 0 || offset > maxPosition) {
      throw new FormatError(`receive an entity with incorrect offset ${offset}`)
    }
    if (length < 0 || length > maxPosition) {
      throw new FormatError(`receive an entity with incorrect length ${length}`)
    }
  }
}

/** Reports the first fault in reading order, entities being sorted and nested. */
function checkRanges(text: string, entities: readonly MessageEntity[]): void {
  const split = firstSplit(text, entities)
  if (split) throw new FormatError(split.message)
  const late = entities.find(({ offset }) => offset > text.length)
  if (late) {
    throw new FormatError(`entity begins after the end of the text at UTF-16 offset ${late.offset}`)
  }
  const long = entities.findLast((entity) => endOf(entity) > text.length)
  if (long) {
    throw new FormatError(
      `entity beginning at UTF-16 offset ${long.offset} ends after the end of the text at ` +
        `UTF-16 offset ${endOf(long)}`,
    )
  }
}

function firstSplit(text: string, entities: readonly MessageEntity[]) {
  let first: { position: number; message: string } | undefined
  const report = (position: number, words: string) => {
    const message = `${words} in a middle of a UTF-16 symbol at byte offset ${byteOffset(text, position + 1)}`
    first = { position, message }
  }
  for (const entity of entities) {
    const end = endOf(entity)
    if (splitsCharacter(text, end) && end <= (first?.position ?? end)) {
      report(end, `entity beginning at UTF-16 offset ${entity.offset} ends`)
    }
    const { offset } = entity
    if (splitsCharacter(text, offset) && offset < (first?.position ?? Number.POSITIVE_INFINITY)) {
      report(offset, 'entity begins')
    }
  }
  return first
}

/** True between the two halves of a surrogate pair. */
const splitsCharacter = (text: string, position: number): boolean =>
  (text.charCodeAt(position) & 0xfc00) === 0xdc00

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
