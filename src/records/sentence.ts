/** Records of sentences as codes with their values, for programs and translators. */
import { Type } from 'typebox'
import { Nullable } from '../json/nullable.ts'

/** A text or a number; one type of two names, which costs no validator of its own. */
const Value = Type.Unsafe<string | number>({ type: ['string', 'number'] })

/** The values of a sentence, by the names of their places. */
export const Values = Type.Record(Type.String(), Value)

export const SentenceRecord = Type.Object({ code: Type.String(), params: Values })

/** Null stands for a text of an older version, which has no code. */
export const MaybeSentence = Nullable(SentenceRecord)
