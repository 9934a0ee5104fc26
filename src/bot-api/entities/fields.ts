/** The fields of one JSON object of the `entities` parameter, with the reference's complaints. */
import { FormatError } from './error.ts'
import { parseInteger } from './scan.ts'

export type Fields = {
  int(name: string): number
  long(name: string): bigint
  string(name: string): string
  optionalString(name: string): string
  object(name: string): Fields
}

export const refuseEntity = (detail: string): FormatError =>
  new FormatError(`can't parse MessageEntity: ${detail}`)

export function fields(item: unknown): Fields {
  if (!isObject(item)) throw refuseEntity('expected an Object')
  const required = (name: string): unknown => {
    const value = Object.hasOwn(item, name) ? item[name] : undefined
    if (value === undefined || value === null) throw refuseEntity(`Can't find field "${name}"`)
    return value
  }
  const integer = (name: string, bits: 32 | 64): bigint => {
    const value = required(name)
    if (typeof value !== 'string') throw refuseEntity(`Field "${name}" must be a Number`)
    const parsed = parseInteger(value, bits)
    if (parsed === undefined) throw refuseEntity(`Field "${name}" must be a valid Number`)
    return parsed
  }
  const string = (name: string): string => {
    const value = required(name)
    if (typeof value !== 'string') throw refuseEntity(`Field "${name}" must be of type String`)
    return value
  }
  return {
    int: (name) => Number(integer(name, 32)),
    long: (name) => integer(name, 64),
    string,
    optionalString: (name) => (item[name] === undefined || item[name] === null ? '' : string(name)),
    object(name) {
      const value = required(name)
      if (!isObject(value)) throw refuseEntity(`Field "${name}" must be of type Object`)
      return fields(value)
    },
  }
}

const isObject = (item: unknown): item is Record<string, unknown> =>
  typeof item === 'object' && item !== null && !Array.isArray(item)
