/** Checks requests before their handler runs, and says in words what is wrong with each field. */

import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifyRequest, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { failed, invalidField } from '../../machines/model/failure.ts'
import type { FailureReason, Params } from '../../machines/model/reason.ts'
import { redactKeys } from '../security/redact.ts'

const LONGEST_NAME = 100

export interface FieldProblem {
  readonly field: string
  /** In words that go on from the field's name: `is required`. */
  readonly reason: string
  readonly code?: FailureReason
  readonly params?: Params
}

/** One problem for each field. A problem with the body as a whole has no field, and is left out. */
export function problemsOf(found: readonly FastifySchemaValidationError[]): FieldProblem[] {
  const byField = new Map<string, FieldProblem>()
  for (const problem of withoutUnions(found)) {
    const field = fieldOf(problem)
    if (field !== '' && !byField.has(field)) byField.set(field, problemOf(field, problem))
  }
  return [...byField.values()]
}

const problemOf = (field: string, problem: FastifySchemaValidationError): FieldProblem => ({
  field,
  reason: reasonOf(problem),
  ...(problem.keyword === 'required' && { code: 'required', params: { name: field } }),
})

function fieldOf({ instancePath, params }: FastifySchemaValidationError): string {
  const names = instancePath.split('/').slice(1)
  const own = params.missingProperty ?? params.additionalProperty
  const unescaped = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  return shown([...unescaped, ...(own === undefined ? [] : [own])].join('.'))
}

/** Clients choose field names: one may be long, or a secret in the wrong place. */
export const shown = (name: string): string => {
  const clean = redactKeys(name)
  return clean.length > LONGEST_NAME ? `${clean.slice(0, LONGEST_NAME).toWellFormed()}…` : clean
}

/** Keeps, for a union, only the errors of the form that the value has. */
function withoutUnions(
  found: readonly FastifySchemaValidationError[],
): readonly FastifySchemaValidationError[] {
  const union = found.find(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  if (!union) return found
  const branches = new Map<string, FastifySchemaValidationError[]>()
  const others: FastifySchemaValidationError[] = []
  const prefix = `${union.schemaPath}/`
  for (const problem of found) {
    if (problem === union) continue
    const isInside = `${problem.instancePath}/`.startsWith(`${union.instancePath}/`)
    const isOfUnion = isInside && problem.schemaPath.startsWith(prefix)
    const branch = problem.schemaPath.slice(prefix.length).split('/')[0] ?? ''
    if (isOfUnion) branches.set(branch, [...(branches.get(branch) ?? []), problem])
    else others.push(problem)
  }
  return withoutUnions([...others, ...reasonsOfUnion(union, [...branches.values()])])
}

function reasonsOfUnion(
  union: FastifySchemaValidationError,
  branches: readonly FastifySchemaValidationError[][],
): FastifySchemaValidationError[] {
  const isOtherForm = ({ keyword, instancePath }: FastifySchemaValidationError) =>
    keyword === 'type' && instancePath === union.instancePath
  const meant = branches.filter((problems) => !problems.some(isOtherForm))
  const firsts = branches.flatMap((problems) => problems.slice(0, 1))
  if (meant.length > 0 && meant.flat().every(({ keyword }) => keyword === 'const')) {
    const allowedValues = firsts.flatMap(({ params }) => params.allowedValue ?? [])
    return [{ ...union, keyword: 'enum', params: { allowedValues } }]
  }
  if (meant.length > 0) return chosenIn(meant)
  const type = firsts.flatMap(({ params }) => params.type ?? [])
  return [{ ...union, keyword: type.length > 0 ? 'type' : '', params: { type: type.map(String) } }]
}

/**
 * The errors of the form that a word of the value chooses, such as `"do": "rename"`. If it chooses none, all words that
 * choose one. Without such a word, the errors of the first form.
 */
function chosenIn(forms: readonly FastifySchemaValidationError[][]) {
  const [first = []] = forms
  const wrong = first.find((problem) => wordsIn(problem).length > 0)
  if (!wrong) return first
  const others = forms.map((problems) =>
    problems.filter(({ instancePath }) => instancePath === wrong.instancePath),
  )
  if (others.every((problems) => problems.some((problem) => wordsIn(problem).length > 0))) {
    return [
      { ...wrong, keyword: 'enum', params: { allowedValues: others.flat().flatMap(wordsIn) } },
    ]
  }
  const name = wrong.instancePath.split('/').at(-1)
  const isMeant = (problems: FastifySchemaValidationError[], place: number) =>
    others[place]?.length === 0 && !problems.some((one) => one.params.additionalProperty === name)
  return forms.find(isMeant) ?? first
}

const wordsIn = ({ keyword, params }: FastifySchemaValidationError): unknown[] =>
  keyword === 'const'
    ? [params.allowedValue]
    : keyword === 'enum'
      ? [params.allowedValues].flat()
      : []

const times: Readonly<Record<string, string>> = {
  'date-time': 'must be a time such as 2026-01-31T12:00:00Z',
  uri: 'must be a URL',
  email: 'must be an e-mail address',
}

function reasonOf({ keyword, params, message }: FastifySchemaValidationError): string {
  const { limit } = params
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is unknown'
    case 'type':
      return `must be ${types([params.type].flat().map(String))}`
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${counted(limit, 'character')}`
    case 'minItems':
      return `must have at least ${counted(limit, 'item')}`
    case 'maxItems':
      return `must have at most ${counted(limit, 'item')}`
    case 'uniqueItems':
      return 'must not repeat an item'
    case 'minProperties':
      return `must have at least ${counted(limit, 'member')}`
    case 'pattern':
      return reasonOfForm(String(params.pattern))
    case 'format':
      return times[String(params.format)] ?? `must be a valid ${params.format}`
    case 'const':
      return `must be ${params.allowedValue}`
    case 'enum':
      return `must be one of ${[params.allowedValues].flat().join(', ')}`
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    default:
      return message ?? 'is invalid'
  }
}

/** `null` is not mentioned: it means an absent value. */
function types(all: readonly string[]): string {
  const named = [...new Set(all.filter((type) => type !== 'null'))]
  return named.map((type) => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`).join(' or ')
}

const counted = (n: unknown, thing: string) => `${n} ${thing}${n === 1 ? '' : 's'}`

/** Forms that text fields must have, and what is said of a text that has another. */
export const NOT_BLANK = '\\S'
export const ONE_TIME_CODE = '^[0-9]{6,8}$'
export const WORDS = '^[a-z_]{1,32}(,[a-z_]{1,32}){0,15}$'
export const TAG = '^[^\\s,]{1,32}$'
export const TAGS = '^[^\\s,]{1,32}(,[^\\s,]{1,32}){0,15}$'
export const USERNAME = '^[A-Za-z][A-Za-z0-9_]{3,31}$'

const formReasons: Readonly<Record<string, string>> = {
  [NOT_BLANK]: 'must not be blank',
  [ONE_TIME_CODE]: 'must be 6 to 8 digits',
  [WORDS]: 'must be a word, or several with commas between',
  [TAG]: 'must be 1 to 32 characters without spaces and commas',
  [TAGS]: 'must be a tag, or several with commas between',
  [USERNAME]: 'must be 4 to 32 letters, digits and underscores, a letter first',
}

/** The reason to show when a value does not match this pattern of a schema. */
const reasonOfForm = (pattern: string): string =>
  formReasons[pattern] ?? 'does not have the expected form'

const reasons = {
  nul: 'must not contain the character U+0000',
  half: 'must not contain half of a character (a lone surrogate)',
} as const

interface Unstorable {
  readonly path: readonly string[]
  readonly reason: keyof typeof reasons
}

/** Refuses text that the database does not store: U+0000, and halves of characters. One of them would fail a whole batch. */
export function refuseUnstorableText(
  { routeOptions, params, query, body }: FastifyRequest,
  _: unknown,
  done: (cause?: Error) => void,
): void {
  // Bot calls judge their parameters by themselves, once the key is known.
  const isCall = routeOptions.url?.startsWith('/bot') ?? false
  done(isCall ? undefined : refusalOfText(params, [query, body]))
}

function refusalOfText(params: unknown, values: readonly unknown[]): Error | undefined {
  // No resource has such a name.
  if (unstorableIn(params)) return failed('not_found')
  const [found] = values.flatMap((value) => unstorableIn(value) ?? [])
  return found && invalidField(shown(found.path.join('.')), reasons[found.reason])
}

function unstorableIn(value: unknown): Unstorable | undefined {
  if (typeof value === 'string') return judged(value)
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const found = judged(name) ?? unstorableIn(member)
    if (found) return { ...found, path: [name.toWellFormed(), ...found.path] }
  }
  return undefined
}

function judged(text: string): Unstorable | undefined {
  if (text.includes('\u0000')) return { path: [], reason: 'nul' }
  return text.isWellFormed() ? undefined : { path: [], reason: 'half' }
}

/** Ajv turns `1e400` into Infinity, takes that for an integer and skips `minimum` and `maximum`. */
export function refuseHugeNumbers(
  { routeOptions, query, body }: FastifyRequest,
  _: unknown,
  done: (cause?: Error) => void,
): void {
  // Bot calls have text there only.
  const isCall = routeOptions.url?.startsWith('/bot') ?? false
  const path = isCall ? undefined : (pathToHuge(query) ?? pathToHuge(body))
  done(path && invalidField(shown(path.join('.')), 'must be an integer of at most 53 bits'))
}

function pathToHuge(value: unknown): string[] | undefined {
  if (typeof value === 'number') return isHuge(value) ? [] : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, member] of Object.entries(value)) {
    const path = pathToHuge(member)
    if (path) return [name, ...path]
  }
  return undefined
}

const isHuge = (value: number) =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))

const common = {
  useDefaults: true,
  removeAdditional: false,
  allErrors: true,
  allowUnionTypes: true,
  // The schemas are TypeBox's, so checking them against the schema of schemas finds nothing.
  meta: false,
  validateSchema: false,
}

/** Compiled at the first request: all routes at once would make every start wait for it. */
function whenNeeded(compile: () => ValidateFunction): ReturnType<FastifySchemaCompiler<AnySchema>> {
  let compiled: ValidateFunction | undefined
  const validate: ReturnType<FastifySchemaCompiler<AnySchema>> = (data) => {
    compiled ??= compile()
    const isValid = compiled(data)
    validate.errors = compiled.errors ?? null
    return isValid
  }
  return validate
}

const typed = formats.default(new Ajv({ ...common, coerceTypes: false }))
const textual = formats.default(new Ajv({ ...common, coerceTypes: 'array' }))

/** The numbers of a path are digits. Ajv would also take `0x1` and `1e0`, and with `01` a record would have many addresses. */
function readNumbers(params: Record<string, unknown>, schema: AnySchema): void {
  const { properties = {} } = Object(schema) as { properties?: Record<string, { type?: string }> }
  for (const [name, { type }] of Object.entries(properties)) {
    if (type === 'integer' && /^-?(0|[1-9]\d*)$/.test(`${params[name]}`))
      params[name] = Number(params[name])
  }
}

export function validators(): FastifySchemaCompiler<AnySchema> {
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return whenNeeded(() => typed.compile(schema))
    if (httpPart !== 'params') return whenNeeded(() => textual.compile(schema))
    const validate = whenNeeded(() => typed.compile(schema))
    const validatePath: typeof validate = (params) => {
      readNumbers(params, schema)
      const isValid = validate(params)
      validatePath.errors = validate.errors ?? null
      return isValid
    }
    return validatePath
  }
}

/** As Fastify's own, but compiled at the first answer, for the same reason as the validators. */
export function serializers(): FastifySerializerCompiler<AnySchema> {
  const compile = SerializerSelector()({}, {})
  return (route) => {
    let serialize: ((payload: unknown) => string) | undefined
    return (payload) => {
      serialize ??= compile({ ...route, httpStatus: route.httpStatus ?? '' })
      return serialize(payload)
    }
  }
}
