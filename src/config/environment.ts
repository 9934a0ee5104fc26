/** Reads variables by a schema: text is converted, an absent one gets its default, and the rest are problems. */
import { Ajv, type ErrorObject } from 'ajv'
import type { Static, TObject } from 'typebox'

/** A mistake in the environment. The text names the variable, never its value, which may be a secret. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'

  constructor(problem: string) {
    super(`configuration: ${problem}`)
  }
}

/** A variable whose form takes more than a word says itself what it must be, as its description. */
function problemsOf(environment: TObject, found: readonly ErrorObject[]): string[] {
  const byName = new Map<string, string>()
  for (const { instancePath, message = 'is invalid', params } of found) {
    const name = instancePath.slice(1) || 'the environment'
    const schema: { description?: unknown } = environment.properties[name] ?? {}
    if (!byName.has(name)) byName.set(name, textOf(schema.description) ?? inWords(message, params))
  }
  return [...byName].map(([name, problem]) => `${name} ${problem}`)
}

const textOf = (text: unknown) => (typeof text === 'string' ? text : undefined)

function inWords(message: string, params: object): string {
  const { limit, comparison } = params as { limit?: unknown; comparison?: unknown }
  switch (comparison) {
    case '<=':
      return `must be at most ${limit}`
    case '>=':
      return `must be at least ${limit}`
    case '>':
      return `must be more than ${limit}`
  }
  return message
    .replace('must NOT', 'must not')
    .replace(/^must be (integer|number|boolean|string)$/, (_, type) => named(type))
}

function named(type: string): string {
  if (type === 'boolean') return 'must be true or false'
  return `must be ${type === 'integer' ? 'an' : 'a'} ${type}`
}

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

const ajv = new Ajv({ allErrors: true, strict: false })

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
  // Ajv keeps what it compiled: a schema that is read again costs nothing.
  const isValid = ajv.compile<Static<Schema>>(schema)
  if (isValid(env)) return env
  throw new ConfigurationError(problemsOf(schema, isValid.errors ?? []).join('; '))
}

/** A blank variable counts as unset. A value that cannot be converted stays text, and the schema refuses it. */
function given({ type, default: standard }: Variable, text: string | undefined): unknown {
  if (text === undefined || text.trim() === '') return standard
  if (type === 'boolean') return truths.get(text.toLowerCase()) ?? text
  if (type !== 'integer' && type !== 'number') return text
  const number = Number(text)
  return Number.isFinite(number) ? number : text
}
