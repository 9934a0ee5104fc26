/** A diagnosis: five steps in order, each with what was seen and what to do. */

import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import type { Diagnosis } from './types.ts'

interface DiagnosisWish {
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
