/** The schemas of the methods' results for /openapi.json, out of the shapes: what `npm run adopt-reference` writes. */
import { join } from 'node:path'
import { ours } from './extensions.ts'
import { FRACTIONS, type Shapes } from './shapes.ts'

export const RESULT_SCHEMAS_FILE = join(
  import.meta.dirname,
  '../../src/bot-api/result-schemas.json',
)

/** It contains itself in each of its forms, from which some generators find no way out. */
const RICH_TEXT = { description: 'A text, a list of rich texts, or an object with a `type`' }

/** A longer list of words is not told: the reference has it. */
const MOST_WORDS = 25

type Schema = Readonly<Record<string, unknown>>

interface Field {
  readonly type: string
  readonly isRequired: boolean
}

type Fields = ReadonlyMap<string, Field>

/** One line for each method and each schema, so that a new version can be read as a difference. */
export function resultSchemasText(reference: Shapes): string {
  const writer = new SchemaWriter(reference)
  const results = lines([...reference.results, ...ours.results], (type) => writer.schemaOf(type))
  // Whoever is sent updates by a webhook reads them by the same schemas.
  writer.schemaOf('Update')
  return `{\n"results": {\n${results}\n},\n"schemas": {\n${lines(writer.schemas, (schema) => schema)}\n}\n}\n`
}

const lines = <Value>(
  entries: Iterable<readonly [string, Value]>,
  make: (value: Value) => Schema,
) =>
  [...entries]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(make(value))}`)
    .join(',\n')

/**
 * A union of objects is written as one object that has the fields of all, and a choice of words as a text: of a network
 * that is passed through, a bot reads kinds and words that are newer than the description, and a client that is generated
 * from a closed list would refuse the whole answer.
 */
class SchemaWriter {
  readonly schemas = new Map<string, Schema>()
  readonly #objects: ReadonlyMap<string, Fields>
  readonly #unions: ReadonlyMap<string, string>

  constructor({ objects, unions }: Shapes) {
    const all = new Map([...objects].map(([name, text]) => [name, fieldsIn(text)]))
    for (const [name, text] of ours.objects)
      all.set(name, new Map([...(all.get(name) ?? []), ...fieldsIn(text)]))
    this.#objects = all
    this.#unions = new Map([...unions, ...ours.unions])
  }

  schemaOf(type: string, field = ''): Schema {
    const parts = this.#partsOf(type)
    // Which can be anything, so that nothing is told by another form beside it.
    if (parts.includes('RichText')) return this.#plainSchema('RichText', field)
    const objects = parts.filter((part) => this.#objectsIn(part).length > 0)
    const others = parts.filter((part) => !objects.includes(part))
    const words = others.filter((part) => part.startsWith('"'))
    const forms = others
      .filter((part) => !words.includes(part))
      .map((part) => this.#plainSchema(part, field))
    if (words.length > 0 && !others.includes('string')) forms.push(wordsSchema(words))
    if (objects.length > 0) forms.push(this.#objectSchema(objects))
    const distinct = [...new Map(forms.map((form) => [JSON.stringify(form), form])).values()]
    return distinct.length === 1 ? distinct[0]! : { oneOf: distinct }
  }

  /** Choices of words are taken apart; other unions stay names. */
  #partsOf(type: string): string[] {
    return [...new Set(partsIn(type))].flatMap((part) => {
      const union = this.#unions.get(part)
      return union?.startsWith('"') ? this.#partsOf(union) : [part]
    })
  }

  /** The objects of a type that is nothing but objects. */
  #objectsIn(part: string): string[] {
    if (this.#objects.has(part)) return [part]
    const parts = partsIn(this.#unions.get(part) ?? '')
    return parts.every((one) => this.#objects.has(one)) ? parts : []
  }

  #plainSchema(type: string, field: string): Schema {
    if (type.endsWith('[]')) return { type: 'array', items: this.schemaOf(bare(type), field) }
    if (type === 'string') return { type }
    if (type === 'boolean' || type === 'true' || type === 'false') return { type: 'boolean' }
    if (type === 'number' && FRACTIONS.has(field)) return { type, format: 'double' }
    if (type === 'number' || /^\d+$/.test(type)) return { type: 'integer', format: 'int64' }
    if (type === 'RichText') return this.#named(type, () => RICH_TEXT)
    throw new Error(`${type} is no type of the reference`)
  }

  #objectSchema([part = '', ...others]: readonly string[]): Schema {
    // Made of the fields of two unlike objects, one has names that clash in Go: `colors` and `has_colors`.
    if (others.length > 0) return { description: [part, ...others].join(' or ') }
    const names = this.#objectsIn(part)
    const merged = mergedFields(names.map((one) => this.#fieldsOf(one)))
    const general = names.find((one) => isSame(this.#fieldsOf(one), merged))
    return this.#named(general ?? part, () => this.#write(merged))
  }

  #fieldsOf(name: string): Fields {
    const fields = this.#objects.get(name)
    if (!fields) throw new Error(`${name} is no object of the reference`)
    return fields
  }

  #write(fields: Fields): Schema {
    const required = [...fields].flatMap(([name, { isRequired }]) => (isRequired ? [name] : []))
    const properties = [...fields].map(([name, { type }]) => [name, this.schemaOf(type, name)])
    return {
      type: 'object',
      ...(required.length > 0 && { required }),
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    }
  }

  #named(name: string, make: () => Schema): Schema {
    const component = name.startsWith('Bot') ? name : `Bot${name}`
    if (!this.schemas.has(component)) {
      // It may contain itself.
      this.schemas.set(component, {})
      this.schemas.set(component, make())
    }
    return { $ref: `#/components/schemas/${component}` }
  }
}

const bare = (array: string) => array.slice(0, -2).replace(/^\((.*)\)$/, '$1')

/** The members of a union, of which none is within brackets. */
const partsIn = (type: string): string[] =>
  type.match(/(?:"[^"]*"|\([^)]*\)|[^|"()])+/g)?.map((part) => part) ?? []

function fieldsIn(text: string): Fields {
  const fields = text.split(' ').flatMap((field) => {
    const [, name = '', mark, type = ''] = /^(\w+)(\??):(.+)$/.exec(field) ?? []
    return name === '' ? [] : [[name, { type, isRequired: mark === '' }] as const]
  })
  return new Map(fields)
}

/** The fields of all; what one of them may lack is not required. */
function mergedFields(all: readonly Fields[]): Fields {
  const names = [...new Set(all.flatMap((fields) => [...fields.keys()]))]
  return new Map(
    names.map((name) => {
      const found = all.map((fields) => fields.get(name))
      const types = new Set(found.flatMap((field) => (field ? partsIn(field.type) : [])))
      const isRequired = found.every((field) => field?.isRequired)
      return [name, { type: [...types].join('|'), isRequired }]
    }),
  )
}

/** Whether it has the same fields. A type in one of them that stands for one number is a number to the other. */
const isSame = (one: Fields, merged: Fields) =>
  one.size === merged.size &&
  [...merged].every(([name, { type, isRequired }]) => {
    const field = one.get(name)
    return field?.isRequired === isRequired && field.type === type.replace(/\|\d+$/, '')
  })

function wordsSchema(words: readonly string[]): Schema {
  const all = words.map((word) => JSON.parse(word) as string)
  if (all.length > MOST_WORDS) return { type: 'string' }
  return { type: 'string', description: `${all.join(', ')}, or a newer one` }
}
