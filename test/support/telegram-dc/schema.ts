/** Telegram's type language as the library ships it: every constructor with its fields. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

export interface Field {
  readonly name: string
  readonly type: string
  readonly vector: 'boxed' | 'bare' | undefined
  /** The constructor whose number is left out on the wire. */
  readonly bare: number | undefined
  /** The bit that says whether the field is there. */
  readonly flag: { readonly field: string; readonly bit: number } | undefined
}

export interface Constructor {
  readonly name: string
  readonly id: number
  readonly fields: readonly Field[]
}

export interface TlObject {
  readonly _: string
  readonly [field: string]: unknown
}

interface RawEntry {
  readonly name: string
  readonly id: number
  readonly arguments: readonly {
    readonly name: string
    readonly type: string
    readonly typeModifiers?: {
      readonly predicate?: string
      readonly isVector?: boolean
      readonly isBareVector?: boolean
      readonly isBareType?: boolean
      readonly constructorId?: number
    }
  }[]
}

const require = createRequire(import.meta.url)
const load = (name: string): unknown =>
  JSON.parse(readFileSync(require.resolve(`@mtcute/core/tl/${name}-schema.json`), 'utf8'))

const camel = (name: string) =>
  name.replace(/(?<!^|_)_[a-z0-9]/gi, ([, letter = '']) => letter.toUpperCase())

function constructorOf({ name, id, arguments: given }: RawEntry): Constructor {
  const fields = given.map(({ name, type, typeModifiers = {} }): Field => {
    const { predicate, isVector, isBareVector, isBareType, constructorId } = typeModifiers
    const [field = '', bit] = predicate?.split('.') ?? []
    return {
      name: camel(name),
      type,
      vector: isVector ? 'boxed' : isBareVector ? 'bare' : undefined,
      bare: isBareType ? constructorId : undefined,
      flag: bit === undefined ? undefined : { field: camel(field), bit: Number(bit) },
    }
  })
  return { name, id, fields }
}

/** Older clients name no data centre in the key exchange. */
const UNPLACED: RawEntry = {
  name: 'mt_p_q_inner_data',
  id: 0x83c95aec,
  arguments: [
    { name: 'pq', type: 'bytes' },
    { name: 'p', type: 'bytes' },
    { name: 'q', type: 'bytes' },
    { name: 'nonce', type: 'int128' },
    { name: 'server_nonce', type: 'int128' },
    { name: 'new_nonce', type: 'int256' },
  ],
}

/** What objects look like on the wire for those who speak one layer of the language. */
export interface Schema {
  readonly layer: number
  readonly byName: ReadonlyMap<string, Constructor>
  readonly byId: ReadonlyMap<number, Constructor>
}

const schemaWith = (layer: number, constructors: readonly Constructor[]): Schema => ({
  layer,
  byName: new Map(constructors.map((entry) => [entry.name, entry])),
  byId: new Map(constructors.map((entry) => [entry.id, entry])),
})

const api = load('api') as { readonly l: number; readonly e: RawEntry[] }
/** Of the transport: the same in all layers. */
const transport = [...(load('mtp') as RawEntry[]), UNPLACED].map(constructorOf)

/** The layer of the library. */
export const schema = schemaWith(api.l, [...api.e.map(constructorOf), ...transport])

const learned = new Map([[schema.layer, schema]])

/** Undefined: nobody has taught it. */
export const schemaOf = (layer: number): Schema | undefined => learned.get(layer)

/** The data centres understand clients of this layer from now on; `text` is its description in the type language. */
export function learn(layer: number, text: string) {
  const constructors = text.split('\n').flatMap((line) => writtenConstructor(line) ?? [])
  // What the layer does not describe any more or yet is never sent to its clients, but some may ask for it.
  const known = new Set(constructors.map(({ name }) => name))
  const others = transport.filter(({ name }) => !known.has(name))
  learned.set(layer, schemaWith(layer, [...constructors, ...others]))
}

/** Reads a line such as `name#1cb5c415 flags:# text:flags.0?string = Type;`. */
function writtenConstructor(line: string): Constructor | undefined {
  const [, name = '', id = '', fields = ''] =
    /^([\w.]+)#([0-9a-f]+) (.*)= [\w.<> ]+;/.exec(line) ?? []
  if (!name) return undefined
  const same = schema.byName.get(name)
  const described = fields.split(' ').filter((field) => /^\w+:/.test(field))
  return {
    name,
    id: Number.parseInt(id, 16),
    fields: described.map((field) => writtenField(field, same)),
  }
}

function writtenField(field: string, same: Constructor | undefined): Field {
  const [, written = '', flags, bit, whole = ''] =
    /^(\w+):(?:(\w+)\.(\d+)\?)?!?([\w.#<>%]+)$/.exec(field) ?? []
  const name = camel(written)
  const [, vector, item = ''] = /^(?:([Vv]ector)<)?%?([\w.#]+)>?$/.exec(whole) ?? []
  const known = same?.fields.find((one) => one.name === name)
  return {
    name,
    // The library reads numbers of people and chats as plain ones.
    type: item === 'long' && known?.type === 'int53' ? 'int53' : item,
    vector: vector === undefined ? undefined : vector === 'Vector' ? 'boxed' : 'bare',
    bare: undefined,
    flag: flags === undefined ? undefined : { field: camel(flags), bit: Number(bit) },
  }
}

export const TRUE = 0x997275b5
export const FALSE = 0xbc799737
export const VECTOR = 0x1cb5c415
export const GZIPPED = 0x3072cfa1
