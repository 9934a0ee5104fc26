/** Reads a bigint column as a number: our ids and counts stay below 2^53. */
import pg from 'pg'

function parseInt8(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`bigint out of range: ${text}`)
  return number
}

/** Everything else is read as pg does by default: timestamptz as Date, jsonb parsed. */
export const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === pg.types.builtins.INT8 && format !== 'binary') return parseInt8
    return pg.types.getTypeParser(oid, format as 'text')
  },
}
