/** Where a value departs from the shapes of the reference: fields it does not know, and values of another type. */
import { extensions } from './extensions.ts'
import { FRACTIONS, type Shapes, storedShapes } from './shapes.ts'

type Value = ReturnType<typeof JSON.parse>

interface Field {
  readonly type: string
  readonly isOptional: boolean
}

const shapes = storedShapes()
const objects = new Map<string, ReadonlyMap<string, Field>>()
for (const source of [shapes.objects, extensions.objects]) {
  for (const [name, text] of source) {
    objects.set(name, new Map([...(objects.get(name) ?? []), ...fieldsIn(text)]))
  }
}
const merged = (kind: keyof Shapes) => new Map([...shapes[kind], ...extensions[kind]])
const unions = merged('unions')
const results = merged('results')

function fieldsIn(text: string): readonly (readonly [string, Field])[] {
  const fields = text.split(' ').filter((field) => field !== '')
  return fields.map((field) => {
    const [, name = '', mark, type = ''] = /^(\w+)(\??):(.+)$/.exec(field) ?? []
    return [name, { type, isOptional: mark === '?' }] as const
  })
}

export const departuresOfUpdate = (update: Value): readonly string[] =>
  departures(update, 'Update', 'update')

/** Nothing is said of the results of methods that the reference does not have. */
export function departuresOfResult(method: string, result: Value): readonly string[] {
  const type = resultTypes.get(method.toLowerCase())
  return type === undefined ? [] : departures(result, type, method)
}

const resultTypes = new Map([...results].map(([method, type]) => [method.toLowerCase(), type]))

/** One line for each departure, beginning with the path of the value. */
function departures(value: Value, type: string, path: string): readonly string[] {
  const item = /^\(?(.*?)\)?\[\]$/.exec(type)
  if (item && (type.startsWith('(') || !type.includes('|'))) {
    if (!Array.isArray(value)) return [wrong(value, type, path)]
    return value.flatMap((one, at) => departures(one, item[1] ?? '', `${path}[${at}]`))
  }
  const variants = (unions.get(type) ?? type).split('|')
  if (variants.length > 1) return closest(value, variants, type, path)
  const fields = objects.get(type)
  if (fields) return departuresOfObject(value, fields, type, path)
  return isOf(value, type) ? [] : [wrong(value, type, path)]
}

/** The departures from the variant that the value is nearest to. */
function closest(
  value: Value,
  variants: readonly string[],
  type: string,
  path: string,
): readonly string[] {
  const candidates = variants.filter((variant) => isCandidate(value, variant))
  if (candidates.length === 0) return [wrong(value, type, path)]
  const found = candidates.map((variant) => departures(value, variant, path))
  return found.reduce((one, other) => (other.length < one.length ? other : one))
}

/** Whether the value is of the variant's sort; objects are told apart by their fields with one literal value. */
function isCandidate(value: Value, variant: string): boolean {
  if (variant.endsWith('[]')) return Array.isArray(value)
  const nested = unions.get(variant)
  if (nested) return nested.split('|').some((one) => isCandidate(value, one))
  const fields = objects.get(variant)
  if (!fields) return isOf(value, variant)
  if (!isObject(value)) return false
  return [...fields].every(([name, { type }]) => !isLiteral(type) || value[name] === literal(type))
}

function departuresOfObject(
  value: Value,
  fields: ReadonlyMap<string, Field>,
  type: string,
  path: string,
): readonly string[] {
  if (!isObject(value)) return [wrong(value, type, path)]
  const missing = [...fields]
    .filter(([name, { isOptional }]) => !isOptional && value[name] === undefined)
    .map(([name]) => `${path}.${name} is missing in ${type}`)
  const wrongOnes = Object.entries(value).flatMap(([name, one]) => {
    const field = fields.get(name)
    if (!field) return [`${path}.${name} is not known in ${type}`]
    const isWhole = field.type === 'number' && !FRACTIONS.has(name)
    return departures(one, isWhole ? 'integer' : field.type, `${path}.${name}`)
  })
  return [...missing, ...wrongOnes]
}

const isObject = (value: Value): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isLiteral = (type: string) => /^(?:"[^"]*"|-?\d+)$/.test(type)
const literal = (type: string): unknown => JSON.parse(type)

function isOf(value: Value, type: string): boolean {
  if (isLiteral(type)) return value === literal(type)
  if (type === 'true') return value === true
  if (type === 'string' || type === 'boolean') return typeof value === type
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value)
  throw new Error(`the shapes have no type ${type}`)
}

const wrong = (value: Value, type: string, path: string) =>
  `${path} is ${JSON.stringify(value)?.slice(0, 100)}, not ${type.slice(0, 100)}`
