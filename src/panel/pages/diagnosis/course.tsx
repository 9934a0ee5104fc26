/** A diagnosis under way: takes its steps, one after the other or when told to, and ends in a verdict. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { diagnosisQuery, takeStep } from '../../api/diagnosis.ts'
import type { ApiKey, Diagnosis } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Failed, Loading, useReason } from '../../ui/states.tsx'
import { Steps } from './steps.tsx'
import { Result } from './verdict.tsx'
import './diagnosis.css'

export interface CourseProps {
  readonly apiKey: ApiKey
  readonly diagnosisId: string
  /** Takes every step without being told. */
  readonly runs: boolean
  anew(): void
}

export function Course({ apiKey, diagnosisId, runs, anew }: CourseProps) {
  const t = useT()
  const reason = useReason()
  const queries = useQueryClient()
  const wanted = diagnosisQuery(apiKey.api_key_id, diagnosisId)
  const diagnosis = useQuery(wanted)
  const stepping = useMutation({
    mutationFn: (from: Diagnosis) => takeStep(from),
    onSuccess: (next) => queries.setQueryData(wanted.queryKey, next),
  })
  const { mutate, isPending, error } = stepping
  const { data } = diagnosis
  /** A step that is refused is not taken again by itself. */
  const taken = useRef('')

  useEffect(() => {
    if (!runs || !data?.step || taken.current === data.step) return
    taken.current = data.step
    mutate(data)
  }, [runs, data, mutate])

  if (diagnosis.isError && !data) return <Failed cause={diagnosis.error} retry={anew} />
  if (!data) return <Loading lines={5} />
  return (
    <>
      {data.step === null && <Result diagnosis={data} apiKey={apiKey} anew={anew} />}
      <Steps diagnosis={data} busy={isPending} />
      {error && (
        <p className="wrong" role="alert">
          {reason(error)}
        </p>
      )}
      {data.step !== null && (!runs || error) && (
        <div className="actions">
          <Button onClick={anew}>{t('cancel')}</Button>
          <Button kind="first" busy={isPending} onClick={() => mutate(data)}>
            {t('diagnosis.next', { step: t.word('diagnosis.step', data.step) })}
          </Button>
        </div>
      )}
    </>
  )
}
