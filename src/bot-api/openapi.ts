/** The bot API in the OpenAPI document: one operation for each method, made from the table of methods. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { KEY_LENGTH } from './idempotency.ts'
import { heedsIdempotencyKey, type Method, type ParameterType } from './method.ts'
import { methods } from './methods/index.ts'
import { REFERENCE_VERSION, reference } from './reference.ts'

const parameterSchemas: Record<ParameterType, object> = {
  integer: { type: 'integer', format: 'int64' },
  number: { type: 'number' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  chat: {
    oneOf: [
      { type: 'integer', format: 'int64' },
      { type: 'string', pattern: '^@' },
    ],
  },
  file: { type: 'string', description: 'A file_id, a URL, or the file itself as a part' },
  json: { description: 'JSON, or JSON in a string' },
}

/** As the management API fails: the document has the name from there. */
const failure = {
  description: 'The call failed',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failed' } } },
}

/** Those whose success says in words what was done, as at the reference. */
const SAYING = new Set(['setWebhook', 'deleteWebhook'])

const said = { type: 'string', description: 'What was done' }

const successOf = (name: string, result: object) => ({
  description: 'The result',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['ok', 'result'],
        properties: {
          ok: { type: 'boolean' },
          result,
          ...(SAYING.has(name) && { description: said }),
        },
      },
    },
  },
})

type Schemas = Readonly<Record<string, object>>

/** By methods, and what they refer to by names; as `npm run adopt-reference` writes them. */
interface ResultSchemas {
  readonly results: Schemas
  readonly schemas: Schemas
}

const file = join(import.meta.dirname, 'result-schemas.json')

interface BotDescription {
  /** As `/bot{api_key}/sendMessage`. */
  readonly paths: Readonly<Record<string, { readonly post: object }>>
  readonly schemas: Schemas
}

/** Reads a file that few processes ever need: call it once somebody asks for the document. */
export function describeBotApi(): BotDescription {
  const { results, schemas }: ResultSchemas = JSON.parse(readFileSync(file, 'utf8'))
  const all = [...methods.values()]
  const parameters = all
    .filter(takesParameters)
    .map((method) => [parametersName(method), parametersOf(method)])
  return {
    paths: Object.fromEntries(
      all.map((method) => [`/bot{api_key}/${method.name}`, pathOf(method, results)]),
    ),
    schemas: { ...schemas, ...Object.fromEntries(parameters) },
  }
}

const takesParameters = ({ parameters }: Method) => Object.keys(parameters).length > 0

const parametersName = ({ name }: Method) =>
  `Bot${name.charAt(0).toUpperCase()}${name.slice(1)}Parameters`

function parametersOf({ parameters, required }: Method): object {
  const properties = Object.entries(parameters).map(([name, type]) => [
    name,
    parameterSchemas[type],
  ])
  return { type: 'object', required, properties: Object.fromEntries(properties) }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The same value within 24 hours gets the first answer again and does nothing; 409 while the first call is under way.',
  schema: { type: 'string', minLength: 1, maxLength: KEY_LENGTH },
}

const apiKey = {
  name: 'api_key',
  in: 'path',
  required: true,
  description: 'The key as it was shown when it was made',
  schema: { type: 'string' },
}

function pathOf(method: Method, results: Schemas) {
  const { name, summary, scope, required } = method
  const schema = { $ref: `#/components/schemas/${parametersName(method)}` }
  // Some clients choose the form by the type of what they are given: each form has a type of its own.
  const form = { schema: { allOf: [schema] } }
  const requestBody = {
    required: required.length > 0,
    content: {
      'application/json': { schema },
      'application/x-www-form-urlencoded': form,
      'multipart/form-data': form,
    },
  }
  return {
    post: {
      operationId: name,
      tags: ['bot api'],
      summary,
      security: [],
      description: scope ? `Needs the scope \`${scope}\`.` : 'Needs any valid key.',
      ...(reference.has(name) && { externalDocs: documentationOf(name) }),
      parameters: [apiKey, ...(heedsIdempotencyKey(method) ? [idempotencyKey] : [])],
      // Of an empty form some generators make code that does not compile.
      ...(takesParameters(method) && { requestBody }),
      responses: { 200: successOf(name, results[name] ?? {}), default: failure },
    },
  }
}

const documentationOf = (method: string) => ({
  description: `Bot API ${REFERENCE_VERSION}`,
  url: `https://core.telegram.org/bots/api#${method.toLowerCase()}`,
})
