/** Styles as runs: joined where they touch, cut where other entities begin or end. */
import { endOf, isCode, sortEntities, styleKinds } from './order.ts'
import { dropTouching } from './overlap.ts'
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
