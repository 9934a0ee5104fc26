/** The shapes of updates and of the methods' results, out of the declarations of `@gramio/types`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aliases, comments, interfaces, membersOf } from './declarations.ts'

/** A type is written as in TypeScript, without spaces: `Message|true`, `(string|User)[]`, `"left"|"right"`. */
export interface Shapes {
  /** The type of each method's result. */
  readonly results: ReadonlyMap<string, string>
  /** An object's fields as `name:type`, with `?` behind the name of an optional one, separated by spaces. */
  readonly objects: ReadonlyMap<string, string>
  readonly unions: ReadonlyMap<string, string>
}

/** Fields whose numbers may have fractions. The declarations know one kind of number; all others are whole. */
export const FRACTIONS: ReadonlySet<string> = new Set([
  'latitude',
  'longitude',
  'horizontal_accuracy',
  'scale',
  'x_shift',
  'y_shift',
])

export const SHAPES_FILE = join(import.meta.dirname, 'shapes.json')

const emptyInterfaces = /^export interface (\w+) \{\}/gm
const methodResults = /^ {4}(\w+): CallAPI\w*<([^>]*)>/gm

/** What can be reached from an update or a result. */
export function readShapes(folder: string): Shapes {
  const read = (file: string) =>
    readFileSync(join(folder, 'out', file), 'utf8').replaceAll(comments, '')
  const text = read('objects.d.ts')
  const fields = new Map(
    [...text.matchAll(emptyInterfaces), ...text.matchAll(interfaces)].map(
      ([, name = '', body = '']) => [plain(name), body] as const,
    ),
  )
  const named = new Map(
    [...`${text}\n`.matchAll(aliases)].map(([, name = '', type = '']) => [plain(name), type]),
  )
  const results = [...read('methods.d.ts').matchAll(methodResults)].map(
    ([, name = '', types = '']) => [name, plain(types.split(',').at(-1) ?? '')] as const,
  )
  if (results.length === 0 || !fields.has('Update')) throw new Error(`no shapes in ${folder}`)

  const objects = new Map<string, string>()
  const unions = new Map<string, string>()
  const reach = (types: string) => {
    for (const [name] of types.matchAll(/\b[A-Z]\w+/g)) {
      if (objects.has(name) || unions.has(name)) continue
      const body = fields.get(name)
      const shape = body === undefined ? plain(named.get(name) ?? '') : fieldsOf(body)
      if (shape === '' && body === undefined) continue
      ;(body === undefined ? unions : objects).set(name, shape)
      reach(shape)
    }
  }
  reach(['Update', ...results.map(([, type]) => type)].join(' '))
  return { results: sorted(results), objects: sorted(objects), unions: sorted(unions) }
}

const fieldsOf = (body: string) =>
  membersOf(body)
    .map(({ name, type, required }) => `${name}${required ? '' : '?'}:${plain(type)}`)
    .join(' ')

/** Without the prefixes of the package, and without the forms that only its TypeScript users may pass. */
const plain = (type: string) =>
  type
    .replaceAll(/\s+/g, '')
    .replaceAll(/\b(?:Objects\.)?Telegram(?=[A-Z])/g, '')
    .replaceAll(/\|\{to\w+\(\):\w+\}/g, '')
    .replaceAll(/Exclude<[^>]*>/g, 'string')
    .replace(/^\|/, '')

const sorted = (entries: Iterable<readonly [string, string]>) =>
  new Map([...entries].sort(([one], [other]) => (one < other ? -1 : 1)))

export const shapesText = (shapes: Shapes): string =>
  `${JSON.stringify(shapes, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value), 2)}\n`

/** The committed shapes, as `npm run adopt-reference` writes them. */
export function storedShapes(): Shapes {
  const stored: Record<keyof Shapes, Record<string, string>> = JSON.parse(
    readFileSync(SHAPES_FILE, 'utf8'),
  )
  const table = (kind: keyof Shapes) => new Map(Object.entries(stored[kind]))
  return { results: table('results'), objects: table('objects'), unions: table('unions') }
}
