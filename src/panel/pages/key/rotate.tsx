/** A new secret for a key; the old one may live on for a while, so that bots can be changed in peace. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Choice } from '../../ui/field.tsx'
import { useReason } from '../../ui/states.tsx'
import { NewKey } from '../keys/new-key.tsx'

const overlaps = ['0', '3600', '86400'] as const

export function Rotate({ apiKey, close }: { readonly apiKey: ApiKey; close(): void }) {
  const t = useT()
  const reason = useReason()
  const queries = useQueryClient()
  const [overlap, setOverlap] = useState<string>('3600')
  const rotating = useMutation({
    mutationFn: () =>
      call<ApiKey & { key: string }>('POST', `/api_keys/${apiKey.api_key_id}/rotate`, {
        body: { overlap_seconds: Number(overlap) },
      }),
    onSuccess() {
      queries.invalidateQueries({ queryKey: ['key', apiKey.api_key_id] })
      queries.invalidateQueries({ queryKey: ['keys'] })
    },
  })
  if (rotating.data) {
    return (
      <Dialog title={t('keys.new')} open wide isFirm onClose={close}>
        <NewKey apiKey={rotating.data} close={close} />
      </Dialog>
    )
  }
  return (
    <Dialog title={t('keys.rotate.title')} open isFirm={rotating.isPending} onClose={close}>
      <p className="quiet">{t('keys.rotate.text')}</p>
      <Choice
        label={t('keys.rotate.overlap')}
        value={overlap}
        options={overlaps.map((seconds) => [seconds, t(`keys.rotate.overlap.${seconds}`)])}
        onChange={setOverlap}
      />
      {rotating.error && (
        <p className="wrong" role="alert">
          {reason(rotating.error)}
        </p>
      )}
      <div className="actions">
        <Button disabled={rotating.isPending} onClick={close}>
          {t('cancel')}
        </Button>
        <Button kind="first" busy={rotating.isPending} onClick={() => rotating.mutate()}>
          {t('keys.rotate')}
        </Button>
      </div>
    </Dialog>
  )
}
