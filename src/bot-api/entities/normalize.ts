/** Makes a text and its entities fit together: cleaned, checked, sorted, joined, without forbidden nesting or overlap. */

import {
  byteOffset,
  type CodeKind,
  type EntityKind,
  FormatError,
  type FormattedText,
  type MessageEntity,
  type QuoteKind,
  type StyleKind,
} from './entity.ts'

const MAX_POSITION = 1_000_000

/** Throws for positions that no text can have, before entities are compared with each other. */
function checkNumbers(entities: readonly MessageEntity[]): void {
  for (const { offset, length } of entities) {
    if (offset < 0 || offset > MAX_POSITION) {
      throw new FormatError(`receive an entity with incorrect offset ${offset}`)
    }
    if (length < 0 || length > MAX_POSITION) {
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
  // The removed entity may have separated two styles.
  return trim(cleaned, fixEntities(kept))
}

export const cleanText = (text: string): string =>
  spoilers.test(text) ? cleanCharacters(text).cleaned : text

/** Most texts have nothing to be cleaned of. */
const spoilers = /[^\P{Cc}\n]|[\u030a\u0333\u033f\u200e\u200f\u2028-\u202e]/u

/** Removes blanks at both ends, but keeps those at the start that an entity covers. */
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

/** The order and the grouping of entities: by offset, then the longer, then the outer kind first. */
const styleKinds: readonly StyleKind[] = ['bold', 'italic', 'underline', 'strikethrough', 'spoiler']
const quoteKinds: readonly QuoteKind[] = ['blockquote', 'expandable_blockquote']
const codeKinds: readonly CodeKind[] = ['code', 'pre', 'date_time']

const isStyle = (kind: EntityKind): kind is StyleKind => styleKinds.some((k) => k === kind)
const isQuote = (kind: EntityKind): kind is QuoteKind => quoteKinds.some((k) => k === kind)
const isCode = (kind: EntityKind): kind is CodeKind => codeKinds.some((k) => k === kind)

const endOf = (entity: MessageEntity): number => entity.offset + entity.length

const INNERMOST = 99
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
  custom_emoji: INNERMOST,
}
const DETECTED_DEPTH = 50
const depth = (entity: MessageEntity): number => depths[entity.type] ?? DETECTED_DEPTH

export const sortEntities = (entities: readonly MessageEntity[]): MessageEntity[] =>
  entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length || depth(a) - depth(b))

/** Keeps the first of any that overlap, so an inner one gives way to the outer. */
export function dropOverlapping(sorted: readonly MessageEntity[]): MessageEntity[] {
  let end = 0
  return sorted.filter((entity) => {
    if (entity.offset < end) return false
    end = endOf(entity)
    return true
  })
}

const dropTouching = (
  entities: readonly MessageEntity[],
  obstacles: readonly MessageEntity[],
): MessageEntity[] => keepUnlessMet(entities, obstacles, () => false)

/** An entity inside a quote may stay; one that crosses the quote's edge may not. */
const dropCrossing = (
  entities: readonly MessageEntity[],
  quotes: readonly MessageEntity[],
): MessageEntity[] =>
  keepUnlessMet(
    entities,
    quotes,
    (entity, quote) => entity.offset >= quote.offset && endOf(entity) <= endOf(quote),
  )

function keepUnlessMet(
  entities: readonly MessageEntity[],
  obstacles: readonly MessageEntity[],
  mayMeet: (entity: MessageEntity, obstacle: MessageEntity) => boolean,
): MessageEntity[] {
  let next = 0
  return entities.filter((entity) => {
    while (next < obstacles.length && endOf(obstacles[next]!) <= entity.offset) next++
    const obstacle = obstacles[next]
    return !obstacle || obstacle.offset >= endOf(entity) || mayMeet(entity, obstacle)
  })
}

/** Lays the styles around the other entities, so that any two are nested or apart. */
function layStyles(
  styles: readonly MessageEntity[],
  others: readonly MessageEntity[],
): MessageEntity[] {
  const runs = styleKinds.map((kind) => joinRuns(styles.filter(({ type }) => type === kind)))
  const cuts = [...runs.flat().map(({ offset }) => offset), ...others.flatMap(edges)]
  const ordered = [...new Set(cuts)].sort((a, b) => a - b)
  const code = others.filter(({ type }) => isCode(type))
  return sortEntities(runs.flatMap((run) => dropTouching(cutRuns(run, ordered), code)))
}

const edges = (entity: MessageEntity): number[] => [entity.offset, endOf(entity)]

function joinRuns(sorted: readonly MessageEntity[]): MessageEntity[] {
  const runs: MessageEntity[] = []
  for (const entity of sorted) {
    const last = runs.at(-1)
    if (last && entity.offset <= endOf(last)) {
      last.length = Math.max(endOf(last), endOf(entity)) - last.offset
    } else {
      runs.push({ ...entity })
    }
  }
  return runs
}

function cutRuns(runs: readonly MessageEntity[], cuts: readonly number[]): MessageEntity[] {
  const pieces: MessageEntity[] = []
  let next = 0
  for (const run of runs) {
    let start = run.offset
    while (next < cuts.length && cuts[next]! <= start) next++
    for (; next < cuts.length && cuts[next]! < endOf(run); next++) {
      pieces.push({ ...run, offset: start, length: cuts[next]! - start })
      start = cuts[next]!
    }
    pieces.push({ ...run, offset: start, length: endOf(run) - start })
  }
  return pieces
}

const MAX_ENTITIES = 100

export function fixEntities(entities: readonly MessageEntity[]): MessageEntity[] {
  const { styles, quotes, runs } = group(entities)
  return combine(styles, quotes, dropCrossing(runs, quotes))
}

/** Adds what was found in the text; where it meets what the sender marked, the sender wins. */
export function mergeDetected(
  entities: readonly MessageEntity[],
  detected: readonly MessageEntity[],
): MessageEntity[] {
  if (entities.length === 0) return [...detected]
  const { styles, quotes, runs } = group(entities)
  const added = dropTouching(dropCrossing(detected, quotes), runs)
  return combine(styles, quotes, [...runs, ...added])
}

/** Keeps the first entities of each class: those with a meaning before those that are only styles. */
export function limitEntities(entities: readonly MessageEntity[]): MessageEntity[] {
  if (entities.length === 0) return []
  const emoji = entities.filter(({ type }) => type === 'custom_emoji').slice(0, MAX_ENTITIES)
  const others = entities
    .filter(({ type }) => !isStyle(type) && type !== 'custom_emoji')
    .slice(0, MAX_ENTITIES)
  const styles = layStyles(
    entities.filter(({ type }) => isStyle(type)),
    [],
  )
  return fixEntities([...emoji, ...others, ...styles.slice(0, MAX_ENTITIES - others.length)])
}

function group(entities: readonly MessageEntity[]) {
  const sorted = sortEntities(entities)
  return {
    styles: sorted.filter(({ type }) => isStyle(type)),
    quotes: dropOverlapping(sorted.filter(({ type }) => isQuote(type))),
    runs: dropOverlapping(sorted.filter(({ type }) => !isStyle(type) && !isQuote(type))),
  }
}

function combine(
  styles: readonly MessageEntity[],
  quotes: readonly MessageEntity[],
  runs: readonly MessageEntity[],
): MessageEntity[] {
  const others = sortEntities([...quotes, ...runs])
  return sortEntities([...others, ...layStyles(styles, others)])
}
