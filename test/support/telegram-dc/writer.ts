/** Writes objects of Telegram's type language. */
import { Long } from '@mtcute/core'
import { byName, FALSE, type Field, type TlObject, TRUE, VECTOR } from './schema.ts'

export class Writer {
  readonly #parts: Buffer[] = []

  uint(value: number): this {
    const part = Buffer.alloc(4)
    part.writeUInt32LE(value >>> 0)
    return this.raw(part)
  }

  long(value: Long | number): this {
    const { low, high } = Long.fromValue(value)
    return this.uint(low).uint(high)
  }

  raw(value: Uint8Array): this {
    this.#parts.push(Buffer.from(value))
    return this
  }

  bytes(value: Uint8Array | string): this {
    const bytes = Buffer.from(value as string)
    const { length } = bytes
    const head = length < 254 ? [length] : [254, length & 255, (length >> 8) & 255, length >> 16]
    return this.raw(Buffer.from(head))
      .raw(bytes)
      .raw(Buffer.alloc((4 - ((head.length + length) % 4)) % 4))
  }

  /** An object, a list of objects or numbers, or a Bool. */
  boxed(value: unknown): this {
    if (typeof value === 'boolean') return this.uint(value ? TRUE : FALSE)
    if (Array.isArray(value)) {
      this.uint(VECTOR).uint(value.length)
      for (const item of value) this.#item(item)
      return this
    }
    const object = value as TlObject
    const found = byName.get(object?._)
    if (!found) throw new Error(`there is no constructor ${JSON.stringify(value)}`)
    return this.uint(found.id).#body(object, found.fields)
  }

  out(): Buffer {
    return Buffer.concat(this.#parts)
  }

  #item(item: unknown): this {
    if (Long.isLong(item)) return this.long(item)
    return typeof item === 'number' ? this.uint(item) : this.boxed(item)
  }

  #body(object: TlObject, fields: readonly Field[]): this {
    for (const field of fields) {
      if (field.type === '#') this.uint(flagsOf(object, field.name, fields))
      else if (!field.flag || isSet(object, field)) this.#field(field, object[field.name])
    }
    return this
  }

  #field(field: Field, value: unknown): this {
    if (!field.vector) return this.#value(field, value)
    const items = (value ?? []) as readonly unknown[]
    if (field.vector === 'boxed') this.uint(VECTOR)
    this.uint(items.length)
    for (const item of items) this.#value(field, item)
    return this
  }

  #value({ type, bare }: Field, value: unknown): this {
    switch (type) {
      case 'int':
        return this.uint(Number(value ?? 0))
      case 'long':
      case 'int53':
        return this.long((value ?? 0) as Long | number)
      case 'double': {
        const part = Buffer.alloc(8)
        part.writeDoubleLE(Number(value ?? 0))
        return this.raw(part)
      }
      case 'string':
      case 'bytes':
        return this.bytes((value ?? '') as string)
      case 'int128':
      case 'int256':
        return this.raw(value as Uint8Array)
      case 'Bool':
      case 'bool':
        return this.boxed(value === true)
      case 'true':
        return this
    }
    const object = value as TlObject
    if (bare === undefined) return this.boxed(object)
    return this.#body(object, byName.get(object._)?.fields ?? [])
  }
}

export const write = (value: unknown): Buffer => new Writer().boxed(value).out()

const isSet = (object: TlObject, { name, type }: Field) =>
  type === 'true' ? object[name] === true : object[name] !== undefined && object[name] !== null

function flagsOf(object: TlObject, name: string, fields: readonly Field[]): number {
  let flags = 0
  for (const field of fields) {
    if (field.flag?.field === name && isSet(object, field)) flags |= 1 << field.flag.bit
  }
  return flags
}
