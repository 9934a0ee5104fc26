/** Reads objects of Telegram's type language, requests included. */
import { gunzipSync } from 'node:zlib'
import { Long } from '@mtcute/core'
import {
  byId,
  type Constructor,
  type Field,
  GZIPPED,
  LAYER,
  type TlObject,
  TRUE,
  VECTOR,
} from './schema.ts'

export class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  uint(): number {
    return this.#bytes.readUInt32LE(this.#skip(4))
  }

  int(): number {
    return this.#bytes.readInt32LE(this.#skip(4))
  }

  long(): Long {
    return new Long(this.int(), this.int())
  }

  raw(length: number): Buffer {
    const at = this.#skip(length)
    return this.#bytes.subarray(at, at + length)
  }

  bytes(): Buffer {
    const first = this.raw(1)[0] ?? 0
    const isLong = first === 254
    const length = isLong ? this.raw(3).readUIntLE(0, 3) : first
    const value = this.raw(length)
    this.#skip((4 - (((isLong ? 4 : 1) + length) % 4)) % 4)
    return value
  }

  object(): TlObject {
    const value = this.#boxed()
    if (typeof value === 'object' && value !== null && '_' in value) return value as TlObject
    throw new Error('not an object of the type language')
  }

  #boxed(): unknown {
    const id = this.uint()
    if (id === GZIPPED) return new Reader(gunzipSync(this.bytes())).#boxed()
    if (id === VECTOR) return this.#list(() => this.#boxed())
    if (id === TRUE) return true
    const found = byId.get(id)
    if (!found) throw new Error(`there is no constructor ${id.toString(16)}`)
    return this.#body(found)
  }

  #body({ name, fields }: Constructor): TlObject {
    const flags = new Map<string, number>()
    const object: Record<string, unknown> & { _: string } = { _: name }
    for (const field of fields) {
      if (field.type === '#') flags.set(field.name, this.uint())
      else if (isThere(field, flags)) object[field.name] = this.#field(field)
      if (name === 'invokeWithLayer' && field.name === 'layer') assertSpoken(object.layer)
    }
    return object
  }

  #field(field: Field): unknown {
    if (!field.vector) return this.#value(field)
    if (field.vector === 'boxed') this.uint()
    return this.#list(() => this.#value(field))
  }

  #list<Item>(item: () => Item): Item[] {
    return Array.from({ length: this.uint() }, item)
  }

  #value({ type, bare }: Field): unknown {
    switch (type) {
      case 'int':
        return this.int()
      case 'long':
        return this.long()
      case 'int53':
        return this.long().toNumber()
      case 'double':
        return this.#bytes.readDoubleLE(this.#skip(8))
      case 'string':
        return this.bytes().toString()
      case 'bytes':
        return new Uint8Array(this.bytes())
      case 'int128':
        return new Uint8Array(this.raw(16))
      case 'int256':
        return new Uint8Array(this.raw(32))
      case 'Bool':
      case 'bool':
        return this.uint() === TRUE
      case 'true':
        return true
      default: {
        const found = bare === undefined ? undefined : byId.get(bare)
        return found ? this.#body(found) : this.#boxed()
      }
    }
  }

  #skip(length: number): number {
    const at = this.#at
    this.#at += length
    return at
  }
}

function assertSpoken(layer: unknown) {
  if (layer !== LAYER) throw new Error(`a client speaks layer ${layer}, the network ${LAYER}`)
}

function isThere({ flag }: Field, flags: ReadonlyMap<string, number>): boolean {
  return !flag || ((flags.get(flag.field) ?? 0) & (1 << flag.bit)) !== 0
}
