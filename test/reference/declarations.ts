/** Reads the reference out of the type declarations of `@gramio/types`, which are made from its documentation. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface DeclaredParameter {
  readonly name: string
  /** A word of `ParameterType`; `number` is any number. */
  readonly type: string
  readonly required: boolean
}

export interface Declarations {
  readonly version: string
  /** By name, with their parameters in the reference's order. */
  readonly methods: ReadonlyMap<string, readonly DeclaredParameter[]>
  /** The members of `Update`. */
  readonly updateKinds: readonly string[]
}

/** The package that is installed, unless the command line names a folder with another one. */
export const declarationsAsked = (): Declarations => readDeclarations(folderAsked())

export const folderAsked = (): string =>
  process.argv[2] ?? join(import.meta.dirname, '../../node_modules/@gramio/types')

export const interfaces = /^export interface (\w+) \{\n(.*?)^\}/gms
export const aliases = /^export type (\w+) =(.*?)(?=\n(?:\/\*\*|export|$))/gms
const methodNames = /^ {4}(\w+): CallAPI/gm
export const comments = /\/\*\*.*?\*\//gs
/** A member goes on for as long as its lines are indented deeper. */
const members = /^ {4}(\w+)(\??):(.*(?:\n(?: {5}.*| {4}\).*))*)/gm

export function readDeclarations(folder: string): Declarations {
  const read = (file: string) => readFileSync(join(folder, 'out', file), 'utf8')
  const [methods, params, objects] = ['methods.d.ts', 'params.d.ts', 'objects.d.ts'].map(read)
  const version = /Based on Bot API v([\d.]+) /.exec(params ?? '')?.[1]
  if (!methods || !params || !objects || !version) throw new Error(`no declarations in ${folder}`)
  const literals = literalAliases(`${params}\n${objects}`)
  const types = new Map<string, string>()
  for (const text of [params, objects]) {
    for (const [, name = '', body = ''] of text.matchAll(interfaces))
      types.set(name.toLowerCase(), body)
  }
  const parametersOf = (method: string) =>
    membersOf(types.get(`${method}params`.toLowerCase()) ?? '').map(({ name, type, required }) => ({
      name,
      type: wordFor(type, literals),
      required,
    }))
  const names = [...methods.matchAll(methodNames)].map(([, name = '']) => name)
  return {
    version,
    methods: new Map(names.sort().map((name) => [name, parametersOf(name)])),
    updateKinds: membersOf(types.get('telegramupdate') ?? '')
      .map(({ name }) => name)
      .filter((name) => name !== 'update_id'),
  }
}

export const membersOf = (body: string) =>
  [...body.replaceAll(comments, '').matchAll(members)].map(([, name = '', mark, type = '']) => ({
    name,
    required: mark === '',
    type: type.replaceAll(/\s+/g, ' ').trim(),
  }))

/** Names of types that are nothing but literals, and whether these are strings or numbers. */
function literalAliases(text: string): ReadonlyMap<string, string> {
  const found = [...text.matchAll(aliases)].map(
    ([, name = '', type = '']) => [name, literalWord(type)] as const,
  )
  return new Map(found.filter((entry): entry is readonly [string, string] => !!entry[1]))
}

function literalWord(type: string): string | undefined {
  const parts = type.split('|').map((part) => part.trim())
  const literal = parts.filter((part) => part !== '')
  if (literal.every((part) => /^"[^"]*"$/.test(part))) return 'string'
  return literal.every((part) => /^\d+$/.test(part)) ? 'number' : undefined
}

function wordFor(type: string, literals: ReadonlyMap<string, string>): string {
  const name = type.replaceAll(/\b(?:Objects|Params)\./g, '')
  if (name === 'number' || name === 'string' || name === 'boolean') return name
  if (name === 'number | string') return 'chat'
  if (name.startsWith('string | { toString')) return 'string'
  if (/^TelegramInputFile(?: \| string)?$/.test(name)) return 'file'
  return literals.get(name) ?? literalWord(name) ?? 'json'
}
