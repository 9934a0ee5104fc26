/** The four switches that say what the account receives. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import type { Credential, Settings } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Card } from '../../ui/page.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { Toggle } from '../../ui/toggle.tsx'

const names = [
  'include_self_updates',
  'include_channel_updates',
  'include_channel_update_recovery',
  'include_deleted_updates',
] as const

export function ReceiveSettings({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const saving = useMutation({
    mutationFn: (change: Partial<Settings>) =>
      call<Credential>('PATCH', `/platforms/credentials/${credential.credential_id}/settings`, {
        body: change,
      }),
    onSuccess(saved) {
      queries.setQueryData(['credential', credential.credential_id], saved)
      toast(t('account.settings.saved'))
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const shown = { ...credential.settings, ...(saving.isPending && saving.variables) }
  return (
    <Card title={t('account.settings')}>
      {names.map((name) => (
        <Toggle
          key={name}
          label={t(`setting.${name}`)}
          hint={t(`setting.${name}.hint`)}
          on={shown[name]}
          onChange={(on) => saving.mutate({ [name]: on })}
        />
      ))}
    </Card>
  )
}
