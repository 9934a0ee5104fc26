/** Validation by what a part of a request can carry: bodies have types, paths and queries have only text. */
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'

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
