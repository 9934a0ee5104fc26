/** A schema that also takes null: a field that is always there, with or without a value. */
import { type TSchema, Type } from 'typebox'

export const Nullable = <Schema extends TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()])
