/** Records of a diagnosis: its steps with verdict and evidence, its cause, and what to do next. */
import { Type } from 'typebox'
import { Nullable } from '../json/nullable.ts'
import { MaybeSentence } from './sentence.ts'

export const StepRecord = Type.Object({
  step: Type.String(),
  verdict: Type.String({ description: '`pending`, `passed`, `failed` or `skipped`' }),
  code: Nullable(Type.String()),
  evidence: Type.Array(Type.String()),
  evidence_codes: Type.Array(MaybeSentence, { description: 'The same as codes, line by line' }),
  remedy: Nullable(Type.String()),
})

export const DiagnosisRecord = Type.Object({
  diagnosis_id: Type.String(),
  api_key_id: Type.Integer(),
  credential_id: Type.Integer(),
  step: Nullable(Type.String({ description: 'The step that comes next' })),
  steps: Type.Array(StepRecord),
  cause: Nullable(
    Type.Object({
      step: Type.String(),
      code: Type.String(),
      text: Type.String(),
      text_code: MaybeSentence,
    }),
  ),
  next_action: Nullable(Type.String({ description: 'What to do now, in words' })),
  started_at: Type.String({ format: 'date-time' }),
})
