/** Validation by what a part of a request can carry: bodies have types, paths and queries have only text. */
import { Ajv, type AnySchema } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'

const common = {
  useDefaults: true,
  removeAdditional: false,
  allErrors: true,
  allowUnionTypes: true,
}

export function validators(): FastifySchemaCompiler<AnySchema> {
  const typed = formats.default(new Ajv({ ...common, coerceTypes: false }))
  const textual = formats.default(new Ajv({ ...common, coerceTypes: 'array' }))
  return ({ schema, httpPart }) => (httpPart === 'body' ? typed : textual).compile(schema)
}
