/** Makes entities fit together: sorted, no forbidden nesting, at most as many as a message takes. */
import { isQuote, isStyle, sortEntities } from './order.ts'
import { dropCrossing, dropOverlapping, dropTouching } from './overlap.ts'
import { layStyles } from './styles.ts'
import type { MessageEntity } from './types.ts'

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
