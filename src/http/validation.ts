/** Checks requests before their handler runs: types, text and numbers that the database can store. */

import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { failed, invalidField } from '../../machines/model/failure.ts'
import { shown } from './invalid.ts'

/** Refuses text that the database does not store: U+0000, and halves of characters. One of them would fail a whole batch. */
const reasons = {
  nul: 'must not contain the character U+0000',
  half: 'must not contain half of a character (a lone surrogate)',
} as const

interface Unstorable {
  readonly path: readonly string[]
  readonly reason: keyof typeof reasons
}

export async function refuseNul({ routeOptions, params, query, body }: FastifyRequest) {
  // Bot calls judge their parameters by themselves, once the key is known.
  if (routeOptions.url?.startsWith('/bot')) return
  // Nothing is called so.
  if (unstorableIn(params)) throw failed('not_found')
  const found = unstorableIn(query) ?? unstorableIn(body)
  if (found) throw invalidField(shown(found.path.join('.')), reasons[found.reason])
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
export async function refuseHugeNumbers({ params, query, body }: FastifyRequest): Promise<void> {
  const path = pathToHuge(params) ?? pathToHuge(query) ?? pathToHuge(body)
  if (path) throw invalidField(shown(path.join('.')), 'must be an integer of at most 53 bits')
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
  // The schemas are TypeBox's, so checking them against the schema of schemas tells nothing new.
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

export function validators(): FastifySchemaCompiler<AnySchema> {
  const typed = formats.default(new Ajv({ ...common, coerceTypes: false }))
  const textual = formats.default(new Ajv({ ...common, coerceTypes: 'array' }))
  return ({ schema, httpPart }) =>
    whenNeeded(() => (httpPart === 'body' ? typed : textual).compile(schema))
}
