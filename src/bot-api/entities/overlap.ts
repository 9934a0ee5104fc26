/** Which of two lists of entities may stand together. All lists are sorted; the kept are disjoint. */
import { endOf } from './order.ts'
import type { MessageEntity } from './types.ts'

/** Keeps the first of any that overlap, so an inner one gives way to the outer. */
export function dropOverlapping(sorted: readonly MessageEntity[]): MessageEntity[] {
  let end = 0
  return sorted.filter((entity) => {
    if (entity.offset < end) return false
    end = endOf(entity)
    return true
  })
}

export const dropTouching = (
  entities: readonly MessageEntity[],
  obstacles: readonly MessageEntity[],
): MessageEntity[] => keepUnlessMet(entities, obstacles, () => false)

/** An entity inside a quote may stay; one that crosses the quote's edge may not. */
export const dropCrossing = (
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
