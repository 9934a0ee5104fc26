/** Reads JSON that another server wrote: what is not what it should be is told, never believed. */

export type Fields = Readonly<Record<string, unknown>>

/** The other server's JSON is not what its API promises. */
export class Malformed extends Error {
  override readonly name = 'Malformed'
}

export function fields(value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw new Malformed('an object was expected')
}

export function integer(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number
  throw new Malformed('an integer was expected')
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value
  throw new Malformed('a string was expected')
}

/** An id of the reference as a native one. */
export const native = (value: unknown): string => `${integer(value)}`

export function array<Item>(value: unknown, read: (item: unknown) => Item): Item[] {
  if (Array.isArray(value)) return value.map((item) => read(item))
  throw new Malformed('an array was expected')
}

export const number = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

export const maybe = <Value>(value: unknown, read: (value: unknown) => Value): Value | undefined =>
  value === undefined || value === null ? undefined : read(value)

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

/** Leaves out what is not there. */
export function present<Shape extends object>(shape: Shape): Present<Shape> {
  const entries = Object.entries(shape).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Present<Shape>
}
