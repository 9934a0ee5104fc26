/** What can be done with a key: diagnose, change, rotate, revoke. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ApiKey } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { ChangeKey } from './change.tsx'
import { Rotate } from './rotate.tsx'

export function KeyActions({ apiKey }: { readonly apiKey: ApiKey }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [asking, setAsking] = useState<'change' | 'rotate' | 'revoke'>()
  const path = `/api_keys/${apiKey.api_key_id}`
  const revoking = useMutation({
    mutationFn: () => call('DELETE', path),
    onSuccess() {
      toast(t('keys.revoke.done'))
      setAsking(undefined)
      queries.invalidateQueries({ queryKey: ['key', apiKey.api_key_id] })
      queries.invalidateQueries({ queryKey: ['keys'] })
    },
  })
  const isUsable = apiKey.revoked_at === null
  return (
    <>
      <ButtonLink to={`/dashboard/keys/${apiKey.api_key_id}/diagnosis`} icon="stethoscope">
        {t('keys.diagnose')}
      </ButtonLink>
      {isUsable && (
        <>
          <Button icon="edit" onClick={() => setAsking('change')}>
            {t('keys.change')}
          </Button>
          <Button icon="restart" onClick={() => setAsking('rotate')}>
            {t('keys.rotate')}
          </Button>
          <Button kind="danger" icon="trash" onClick={() => setAsking('revoke')}>
            {t('keys.revoke')}
          </Button>
        </>
      )}
      {asking === 'change' && <ChangeKey apiKey={apiKey} close={() => setAsking(undefined)} />}
      {asking === 'rotate' && <Rotate apiKey={apiKey} close={() => setAsking(undefined)} />}
      <Confirm
        title={t('keys.revoke.title')}
        action={t('keys.revoke')}
        open={asking === 'revoke'}
        busy={revoking.isPending}
        wrong={revoking.error ? reason(revoking.error) : undefined}
        onConfirm={() => revoking.mutate()}
        onClose={() => setAsking(undefined)}
      >
        {t('keys.revoke.text')}
      </Confirm>
    </>
  )
}
