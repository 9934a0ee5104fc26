/** Parts of schemas: a field that may be null, and a sentence as a code with its values, for programs and translators. */
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

/** A text or a number; one type of two names, which costs no validator of its own. */
const Value = Type.Unsafe<string | number>({ type: ['string', 'number'] })

/** The values of a sentence, by the names of their places. */
export const Values = Type.Record(Type.String(), Value)

export const SentenceRecord = Type.Object({ code: Type.String(), params: Values })

/** Null stands for a text of an older version, which has no code. */
export const MaybeSentence = Nullable(SentenceRecord)
