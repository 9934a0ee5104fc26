/** What the validator found, in words: one reason for each field, and nothing about forms not meant. */

import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import type { FailureReason, Params } from '../../machines/model/reason.ts'
import { redact } from '../security/redact.ts'
import { reasonOfForm } from './forms.ts'

const LONGEST_NAME = 100

export interface FieldProblem {
  readonly field: string
  /** In words that go on from the field's name: `is required`. */
  readonly reason: string
  readonly code?: FailureReason
  readonly params?: Params
}

/** A problem with the body as a whole has no field, and is left out. */
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

/** Clients choose names too: one may be long, or be a secret that got into the wrong place. */
export const shown = (name: string): string => {
  const clean = redact(name)
  return clean.length > LONGEST_NAME ? `${clean.slice(0, LONGEST_NAME)}…` : clean
}

/** Of a union, only what is wrong with the form that the value has is worth telling. */
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
  if (meant.length > 0) return meant[0] ?? []
  const type = firsts.flatMap(({ params }) => params.type ?? [])
  return [{ ...union, keyword: type.length > 0 ? 'type' : '', params: { type: type.map(String) } }]
}

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

/** `null` goes without saying: it stands for what was left out. */
function types(all: readonly string[]): string {
  const named = [...new Set(all.filter((type) => type !== 'null'))]
  return named.map((type) => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`).join(' or ')
}

const counted = (n: unknown, thing: string) => `${n} ${thing}${n === 1 ? '' : 's'}`
