/** Values for the fields of a schema: some that fit it, and those that programs tend to stumble over. */
import fc, { type Arbitrary } from '../support/fast-check.ts'
import type { Schema } from './operations.ts'

/** Text that is put into JSON as it stands, since no value turns into it. */
export class Raw {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

const nested = (depth: number) => new Raw(`${'['.repeat(depth)}${']'.repeat(depth)}`)
const nestedObjects = (depth: number) => new Raw(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)

const oddTexts = [
  ...['', ' ', '\u0000', 'a\u0000b', '\ud800', '\udc00x', '\ufeff', '\u202e', '\r\nX-Injected: 1'],
  ...[
    'null',
    'undefined',
    'NaN',
    '[object Object]',
    '__proto__',
    'constructor',
    'toString',
    '../..',
  ],
  ...["' or 1=1 --", '%', '%s', '%00', '{{7*7}}', '<b>', '<a href="', '```', '*_[`', '@', '#'],
  ...[
    '1e400',
    '-0',
    '9007199254740993',
    '1'.repeat(400),
    '١٢٣',
    '👨‍👩‍👧‍👦',
    'é'.repeat(4_097),
    'x'.repeat(70_000),
  ],
  ...['1998-12-31T23:59:60Z', '0000-00-00', '+999999-01-01T00:00:00Z', 'file:///etc/passwd'],
  ...[
    'http://127.0.0.1:1/',
    'https://[::1]:1/',
    'https://169.254.169.254/',
    'attach://',
    'attach://x',
  ],
]
const oddNumbers = [
  ...[0, -0, -1, 1, 0.5, 1e21, 1e308, -1e308, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 52, 2 ** 53],
  ...[Number.MIN_SAFE_INTEGER, 5e-324, 1e-7],
]
const oddJson = [
  ...['9007199254740993', '1e400', '-1e400', '1E-400', '123456789012345678901234567890'],
  ...['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{}}}', '{"a":1,"a":2}', '{"":0}'],
  ...[
    '{"length":-1}',
    '{"length":1e9}',
    '{"toString":1,"valueOf":1}',
    '{"then":1}',
    '{"toJSON":1}',
  ],
].map((json) => new Raw(json))

/** Made once: the library builds a table for each. */
const short = fc.string({ maxLength: 20 })
const filled = short.map((text) => `x${text}`)

export const oddText = fc.oneof(fc.constantFrom(...oddTexts), fc.string({ unit: 'binary' }))

export const odd: Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: oddText },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...oddNumbers) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], [{}]) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...oddJson) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(nested(33), nested(101), nested(20_000)) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(nestedObjects(31), nestedObjects(20_000)) },
  { weight: 1, arbitrary: fc.constantFrom(1_001, 10_001).map((n) => Array(n).fill(0)) },
)

/** Objects as bot calls take them, made of the words that stand in them. */
const words = [
  ...[
    'type',
    'media',
    'text',
    'url',
    'user_id',
    'user',
    'message_id',
    'chat_id',
    'offset',
    'length',
  ],
  ...['inline_keyboard', 'keyboard', 'callback_data', 'caption', 'parse_mode', 'entities', 'emoji'],
  ...['caption_entities', 'quote', 'question', 'options', 'is_anonymous', 'force_reply', 'command'],
  ...['description', 'custom_emoji_id', 'thumbnail', 'latitude', 'longitude', 'language', 'scope'],
]
const kinds = ['bold', 'text_link', 'pre', 'photo', 'video', 'document', 'emoji', 'default', 'chat']
const { tree: structure } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(...kinds, 0, 1, 5, -1, true, null, 'x', 'https://a.invalid/'),
    oddText,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...words), tie('tree'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

/** `likely` are values that exist in the service, by the names of fields. */
export function fitting(
  name: string,
  schema: Schema,
  likely: Readonly<Record<string, readonly unknown[]>>,
): Arbitrary<unknown> {
  const known = likely[name]
  if (known) return fc.constantFrom(...known)
  if ('const' in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  const forms = schema.anyOf ?? schema.oneOf
  if (Array.isArray(forms)) return fc.oneof(...forms.map((form) => fitting('', form, likely)))
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'integer':
    case 'number':
      return fc.integer({ min: Number(schema.minimum ?? 0), max: Number(schema.maximum ?? 1_000) })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(fitting('', (schema.items ?? {}) as Schema, likely), { maxLength: 3 })
    case 'object':
      return fittingObject(schema, likely)
    case 'string':
      if (schema.format === 'date-time')
        return fc.constantFrom('2026-01-31T12:00:00Z', '2999-01-01T00:00:00Z')
      return Number(schema.minLength ?? 0) > 0 ? filled : short
    default:
      return structure
  }
}

export function fittingObject(
  { properties = {}, required = [] }: Schema,
  likely: Readonly<Record<string, readonly unknown[]>>,
): Arbitrary<Record<string, unknown>> {
  const fields = Object.entries(properties as Record<string, Schema>).map(
    ([name, schema]) => [name, fitting(name, schema, likely)] as const,
  )
  const requiredKeys = [...(required as readonly string[])]
  return fc.record(Object.fromEntries(fields), { requiredKeys, noNullPrototype: true })
}

/** JSON that may say what no value says: raw numbers, lone surrogates, keys twice. */
export function jsonOf(value: unknown): string {
  if (value instanceof Raw) return value.json
  if (Array.isArray(value)) return `[${value.map(jsonOf).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`,
  )
  return `{${members.join()}}`
}
