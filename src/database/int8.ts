/** Reads bigint columns, and arrays of them, as numbers: our ids and counts stay below 2^53. */
import pg from 'pg'

/** The types' object ids in every Postgres; pg names no arrays. */
const INT8_ARRAY = 1016
const TEXT_ARRAY = 1009

type Nested<Value> = readonly (Value | null | Nested<Value>)[]

const parseTexts: (text: string) => Nested<string> = pg.types.getTypeParser(
  TEXT_ARRAY as never,
  'text',
)

function parseInt8(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`bigint out of range: ${text}`)
  return number
}

const parseInt8Array = (text: string): Nested<number> => numbersIn(parseTexts(text))

const numbersIn = (texts: Nested<string>): Nested<number> =>
  texts.map((item) => {
    if (item === null) return null
    return typeof item === 'string' ? parseInt8(item) : numbersIn(item)
  })

/** Everything else is read as pg does by default: timestamptz as Date, jsonb parsed. */
export const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format) {
    if (format !== 'binary') {
      if (oid === pg.types.builtins.INT8) return parseInt8
      if (oid === INT8_ARRAY) return parseInt8Array
    }
    return pg.types.getTypeParser(oid as never, format as 'text')
  },
}
