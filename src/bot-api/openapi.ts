/** The bot API in the OpenAPI document: one operation for each method, made from the table of methods. */
import { KEY_LENGTH } from './idempotency.ts'
import { heedsIdempotencyKey, type Method, type ParameterType } from './method.ts'
import { methods } from './methods/index.ts'
import { REFERENCE_VERSION, reference } from './reference.ts'

const schemas: Record<ParameterType, object> = {
  integer: { type: 'integer' },
  number: { type: 'number' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  chat: { oneOf: [{ type: 'integer' }, { type: 'string', pattern: '^@' }] },
  file: { type: 'string', description: 'A file_id, a URL, or the file itself as a part' },
  json: { description: 'JSON, or JSON in a string' },
}

/** As the management API fails: the document has the name from there. */
const failure = {
  description: 'The call failed',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Failed' } } },
}

const success = {
  description: 'The result',
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['ok', 'result'],
        properties: { ok: { type: 'boolean' }, result: {} },
      },
    },
  },
}

/** Paths as `/bot{api_key}/sendMessage`. */
export const botPaths = (): Record<string, object> =>
  Object.fromEntries(
    [...methods.values()].map((method) => [`/bot{api_key}/${method.name}`, pathOf(method)]),
  )

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

function pathOf(method: Method): object {
  const { name, summary, scope, parameters, required } = method
  const properties = Object.entries(parameters).map(([parameter, type]) => [
    parameter,
    schemas[type],
  ])
  const schema = { type: 'object', required, properties: Object.fromEntries(properties) }
  const requestBody = {
    required: required.length > 0,
    content: {
      'application/json': { schema },
      'application/x-www-form-urlencoded': { schema },
      'multipart/form-data': { schema },
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
      ...(properties.length > 0 && { requestBody }),
      responses: { 200: success, default: failure },
    },
  }
}

const documentationOf = (method: string) => ({
  description: `Bot API ${REFERENCE_VERSION}`,
  url: `https://core.telegram.org/bots/api#${method.toLowerCase()}`,
})
