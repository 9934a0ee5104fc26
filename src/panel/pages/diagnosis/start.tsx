/** What a diagnosis may be given, and the two ways to begin it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { diagnosisQuery, startDiagnosis } from '../../api/queries.ts'
import type { Diagnosis } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/form.tsx'
import { Card } from '../../ui/page.tsx'
import { Wrong } from '../../ui/states.tsx'

interface StartProps {
  readonly keyId: number
  onStart(diagnosis: Diagnosis, isAll: boolean): void
}

export function Start({ keyId, onStart }: StartProps) {
  const t = useT()
  const queries = useQueryClient()
  const [sendTo, setSendTo] = useState('')
  const [secret, setSecret] = useState('')
  const starting = useMutation({
    mutationFn: (_isAll: boolean) =>
      startDiagnosis(keyId, {
        ...(sendTo.trim() && { send_to: sendTo.trim() }),
        ...(secret.trim() && { key: secret.trim() }),
      }),
    onSuccess(diagnosis, isAll) {
      const { queryKey } = diagnosisQuery(keyId, diagnosis.diagnosis_id)
      queries.setQueryData(queryKey, diagnosis)
      onStart(diagnosis, isAll)
    },
  })
  return (
    <Card title={t('diagnosis.begin')}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!starting.isPending) starting.mutate(true)
        }}
      >
        <Field
          label={t('diagnosis.sendTo')}
          hint={t('diagnosis.sendToHint')}
          className="ltr"
          autoComplete="off"
          maxLength={256}
          value={sendTo}
          onChange={(event) => setSendTo(event.target.value)}
        />
        <Field
          label={t('diagnosis.key')}
          hint={t('diagnosis.keyHint')}
          className="ltr mono"
          type="password"
          autoComplete="off"
          maxLength={100}
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
        />
        <Wrong cause={starting.error} />
        <div className="actions">
          <Button disabled={starting.isPending} onClick={() => starting.mutate(false)}>
            {t('diagnosis.stepwise')}
          </Button>
          <Button type="submit" kind="first" icon="stethoscope" busy={starting.isPending}>
            {t('diagnosis.all')}
          </Button>
        </div>
      </form>
    </Card>
  )
}
