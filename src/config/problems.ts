/** What is wrong with the environment, in words: each variable once, and never its value. */
import type { ErrorObject } from 'ajv'
import type { TObject } from 'typebox'

/** A variable whose form takes more than a word says itself what it must be, as its description. */
export function problemsOf(environment: TObject, found: readonly ErrorObject[]): string[] {
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
