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

const api = load('api') as { readonly l: number; readonly e: RawEntry[] }
/** Which of the language's layers it is: others have other constructors. */
export const LAYER = api.l
const entries = [...api.e, ...(load('mtp') as RawEntry[]), UNPLACED]
const constructors = entries.map(constructorOf)

export const byName: ReadonlyMap<string, Constructor> = new Map(
  constructors.map((entry) => [entry.name, entry]),
)
export const byId: ReadonlyMap<number, Constructor> = new Map(
  constructors.map((entry) => [entry.id, entry]),
)

export const TRUE = 0x997275b5
export const FALSE = 0xbc799737
export const VECTOR = 0x1cb5c415
export const GZIPPED = 0x3072cfa1
