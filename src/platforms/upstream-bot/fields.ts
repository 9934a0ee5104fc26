/** Reads JSON of another server: a field of the wrong type throws `Malformed`. */

export type Fields = Readonly<Record<string, unknown>>

/** The other server's JSON is not what its API promises. */
export class Malformed extends Error {
  override readonly name = 'Malformed'
}

export function fields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Malformed('an object was expected')
}

/** What is no object has no fields: some servers write an empty list for an empty object. */
export const maybeFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

export function integer(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number
  throw new Malformed('an integer was expected')
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Malformed('a string was expected')
}

export const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

export const maybeText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

type Present<Shape> = {
  [Key in keyof Shape as undefined extends Shape[Key] ? never : Key]: Shape[Key]
} & {
  [Key in keyof Shape as undefined extends Shape[Key] ? Key : never]?: Exclude<
    Shape[Key],
    undefined
  >
}

/** Leaves out undefined fields. */
export function present<Shape extends object>(shape: Shape): Present<Shape> {
  const entries = Object.entries(shape).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Present<Shape>
}
