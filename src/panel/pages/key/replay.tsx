/** Delivers again what was delivered before, from an update or from a time on. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice, Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

interface ReplayProps {
  readonly apiKey: ApiKey
  /** The update to begin with, if one was chosen. */
  readonly from: number | undefined
  close(): void
}

export function Replay({ apiKey, from: chosen, close }: ReplayProps) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [by, setBy] = useState(chosen === undefined ? 'since' : 'update')
  const [from, setFrom] = useState(`${chosen ?? ''}`)
  const replaying = useMutation({
    mutationFn: () =>
      call<{ from_update_id: number }>('POST', `/api_keys/${apiKey.api_key_id}/webhook/replay`, {
        body:
          by === 'since'
            ? { since: new Date(from).toISOString() }
            : { from_update_id: Number(from) },
      }),
    onSuccess({ from_update_id }) {
      toast(t('replay.done', { id: `${from_update_id}` }))
      close()
      queries.invalidateQueries({ queryKey: ['deliveries', apiKey.api_key_id] })
    },
  })
  return (
    <Dialog title={t('replay.title')} open onClose={close}>
      <Form by={replaying}>
        <p className="quiet">{t('replay.text')}</p>
        <Choice
          label={t('replay.by')}
          value={by}
          options={[
            ['since', t('replay.since')],
            ['update', t('replay.update')],
          ]}
          onChange={(next) => {
            setBy(next)
            setFrom('')
          }}
        />
        <Field
          key={by}
          label={t(by === 'since' ? 'replay.since' : 'replay.update')}
          type={by === 'since' ? 'datetime-local' : 'number'}
          min={by === 'since' ? undefined : 1}
          className="ltr"
          required
          value={from}
          wrong={replaying.error ? reason(replaying.error) : undefined}
          onChange={(event) => setFrom(event.target.value)}
        />
        <div className="actions">
          <Button onClick={close}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={replaying.isPending}>
            {t('replay')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
