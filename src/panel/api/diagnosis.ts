/** A diagnosis: five steps in order, each with what was seen and what to do. */
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

export type Verdict = 'pending' | 'passed' | 'failed' | 'skipped'

export interface DiagnosisStep {
  readonly step: string
  readonly verdict: Verdict
  readonly code: string | null
  readonly evidence: readonly string[]
  readonly remedy: string | null
}

export interface Diagnosis {
  readonly diagnosis_id: string
  readonly api_key_id: number
  readonly credential_id: number
  /** The one that comes next. */
  readonly step: string | null
  readonly steps: readonly DiagnosisStep[]
  readonly cause: { readonly step: string; readonly code: string; readonly text: string } | null
  readonly next_action: string | null
  readonly started_at: string
}

export interface DiagnosisWish {
  readonly send_to?: string
  readonly key?: string
}

export const diagnosisQuery = (keyId: number, diagnosisId: string) =>
  queryOptions({
    queryKey: ['diagnosis', keyId, diagnosisId],
    queryFn: ({ signal }) =>
      call<Diagnosis>('GET', `/api_keys/${keyId}/diagnosis/${diagnosisId}`, { signal }),
  })

export const startDiagnosis = (keyId: number, wish: DiagnosisWish) =>
  call<Diagnosis>('POST', `/api_keys/${keyId}/diagnosis`, { body: wish })

export const takeStep = ({ api_key_id, diagnosis_id }: Diagnosis) =>
  call<Diagnosis>('POST', `/api_keys/${api_key_id}/diagnosis/${diagnosis_id}/next`, { body: {} })
