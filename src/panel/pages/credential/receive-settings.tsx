/** The four switches that say what the account receives. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
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

const without = (all: Partial<Settings>, some: Partial<Settings>): Partial<Settings> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !(name in some)))

export function ReceiveSettings({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [unsaved, setUnsaved] = useState<Partial<Settings>>({})
  const saving = useMutation({
    // One after the other: the last answer is the one that holds.
    scope: { id: `settings of ${credential.credential_id}` },
    onMutate: (change) => setUnsaved((before) => ({ ...before, ...change })),
    onSettled: (_saved, _cause, change) => setUnsaved((before) => without(before, change)),
    mutationFn: (change: Partial<Settings>) =>
      call<Credential>('PATCH', `/platforms/credentials/${credential.credential_id}/settings`, {
        body: change,
      }),
    async onSuccess(saved) {
      const queryKey = ['credential', credential.credential_id]
      // What was asked before this was saved may be answered after it.
      await queries.cancelQueries({ queryKey })
      queries.setQueryData(queryKey, saved)
      toast(t('account.settings.saved'))
    },
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  const shown = { ...credential.settings, ...unsaved }
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
