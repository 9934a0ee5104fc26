/** How an `offset` moves a key's cursor. The cursor is the highest confirmed update id. */

/** How far past the next id an offset still counts as a confirmation (the reference's figure). */
const FUTURE_SLACK = 10

/**
 * Confirms everything below `offset`, where it is plausible. Far in the future it confirms nothing. Slightly ahead
 * it confirms what exists and no more: unlike the reference, an update that comes later is not skipped.
 */
export function confirm(cursor: number, offset: number, next: number): number {
  if (offset <= 0 || offset > next + FUTURE_SLACK) return cursor
  return Math.max(cursor, Math.min(offset, next) - 1)
}
