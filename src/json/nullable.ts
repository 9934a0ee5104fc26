/** A schema that also takes null: a field that is always there, with or without a value. */
import { type Static, type TSchema, Type } from 'typebox'

/**
 * Two types rather than two forms, where that says the same: of forms, each answer has to find out which one it has,
 * by a validator that takes its time to compile.
 */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  const { type } = schema as { readonly type?: unknown }
  const isPlain = typeof type === 'string' && !('enum' in schema) && !('const' in schema)
  const both = isPlain ? { ...schema, type: [type, 'null'] } : Type.Union([schema, Type.Null()])
  return Type.Unsafe<Static<Schema> | null>(both)
}
