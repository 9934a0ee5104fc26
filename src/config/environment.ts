/** Variables by a schema: text becomes what is wanted, what is absent the default, and what is left are problems. */
import { Ajv } from 'ajv'
import type { Static, TObject } from 'typebox'
import { ConfigurationError } from './error.ts'
import { problemsOf } from './problems.ts'

interface Variable {
  readonly type?: string
  readonly default?: unknown
}

const truths = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

export function environmentFrom<Schema extends TObject>(
  schema: Schema,
  source: NodeJS.ProcessEnv,
): Static<Schema> {
  const variables = Object.entries(schema.properties as Record<string, Variable>)
  const env: unknown = Object.fromEntries(
    variables
      .map(([name, variable]) => [name, given(variable, source[name])])
      .filter(([, value]) => value !== undefined),
  )
  const isValid = new Ajv({ allErrors: true, strict: false }).compile<Static<Schema>>(schema)
  if (isValid(env)) return env
  throw new ConfigurationError(problemsOf(schema, isValid.errors ?? []).join('; '))
}

/** A blank variable is one that was not set. What cannot be converted stays text, for the schema to refuse. */
function given({ type, default: standard }: Variable, text: string | undefined): unknown {
  if (text === undefined || text.trim() === '') return standard
  if (type === 'boolean') return truths.get(text.toLowerCase()) ?? text
  if (type !== 'integer' && type !== 'number') return text
  const number = Number(text)
  return Number.isFinite(number) ? number : text
}
