/** Makes entities fit together: sorted, joined, no forbidden nesting, at most as many as a message takes. */
import { endOf, isCode, isQuote, isStyle, sortEntities, styleKinds } from './order.ts'
import { dropCrossing, dropOverlapping, dropTouching } from './overlap.ts'
import type { MessageEntity } from './types.ts'

/** Lays the styles around the other entities, so that any two are nested or apart. */
export function layStyles(
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
