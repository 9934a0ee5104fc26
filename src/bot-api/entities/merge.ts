/** Makes entities fit together: sorted, joined, no forbidden nesting or overlap, at most as many as a message takes. */
import type { CodeKind, EntityKind, MessageEntity, QuoteKind, StyleKind } from './types.ts'

/** The order and the grouping of entities: by offset, then the longer, then the outer kind first. */
const styleKinds: readonly StyleKind[] = ['bold', 'italic', 'underline', 'strikethrough', 'spoiler']
const quoteKinds: readonly QuoteKind[] = ['blockquote', 'expandable_blockquote']
const codeKinds: readonly CodeKind[] = ['code', 'pre', 'date_time']

const isStyle = (kind: EntityKind): kind is StyleKind => styleKinds.some((k) => k === kind)
const isQuote = (kind: EntityKind): kind is QuoteKind => quoteKinds.some((k) => k === kind)
const isCode = (kind: EntityKind): kind is CodeKind => codeKinds.some((k) => k === kind)

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

const maxEntities = 100

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

/** Keeps the first of each class: what carries a meaning before what only carries a style. */
export function limitEntities(entities: readonly MessageEntity[]): MessageEntity[] {
  if (entities.length === 0) return []
  const emoji = entities.filter(({ type }) => type === 'custom_emoji').slice(0, maxEntities)
  const others = entities
    .filter(({ type }) => !isStyle(type) && type !== 'custom_emoji')
    .slice(0, maxEntities)
  const styles = layStyles(
    entities.filter(({ type }) => isStyle(type)),
    [],
  )
  return fixEntities([...emoji, ...others, ...styles.slice(0, maxEntities - others.length)])
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
