/** Whether entities lie inside the text they belong to, on the edges of whole characters. */
import { FormatError } from './error.ts'
import { endOf } from './order.ts'
import { byteOffset } from './scan.ts'
import type { MessageEntity } from './types.ts'

const maxPosition = 1_000_000

/** Positions no text can have, told before the entities are compared with each other. */
export function checkNumbers(entities: readonly MessageEntity[]): void {
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
export function checkRanges(text: string, entities: readonly MessageEntity[]): void {
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
