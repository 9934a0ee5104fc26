/** The button that puts a cause right, or leads to where it is put right. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { credentialQuery } from '../../api/queries.ts'
import type { Diagnosis } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { placeFor } from './fixes.ts'

interface RemedyProps {
  readonly code: string
  readonly diagnosis: Diagnosis
}

export function Remedy({ code, diagnosis }: RemedyProps) {
  const t = useT()
  const { api_key_id, credential_id } = diagnosis
  switch (placeFor(code)) {
    case 'link':
      return <LinkAgain credentialId={credential_id} />
    case 'restart':
      return <Restart credentialId={credential_id} />
    case 'key':
      return (
        <ButtonLink kind="first" icon="key" to={`/dashboard/keys/${api_key_id}`}>
          {t('diagnosis.toKey')}
        </ButtonLink>
      )
    case 'webhook':
      return (
        <ButtonLink kind="first" icon="send" to={`/dashboard/keys/${api_key_id}?tab=webhook`}>
          {t('diagnosis.toWebhook')}
        </ButtonLink>
      )
    case 'newKey':
      return (
        <ButtonLink kind="first" icon="plus" to={`/dashboard/keys?create=${credential_id}`}>
          {t('account.keys.create')}
        </ButtonLink>
      )
    case 'account':
      return (
        <ButtonLink kind="first" to={`/dashboard/accounts/${credential_id}`}>
          {t('diagnosis.toAccount')}
        </ButtonLink>
      )
    case 'again':
      return null
  }
}

/** Of a deleted account there is nothing left to link again: it is linked as a new one. */
function LinkAgain({ credentialId }: { readonly credentialId: number }) {
  const t = useT()
  const { data } = useQuery(credentialQuery(credentialId))
  const to = data
    ? `/dashboard/link?platform=${data.platform}&again=${credentialId}`
    : '/dashboard/link'
  return (
    <ButtonLink kind="first" icon="link" to={to}>
      {t(data ? 'account.linkAgain' : 'accounts.link')}
    </ButtonLink>
  )
}

function Restart({ credentialId }: { readonly credentialId: number }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const restarting = useMutation({
    mutationFn: () => call('POST', `/platforms/credentials/${credentialId}/restart`),
    onSuccess: () => toast(t('account.restarted')),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <Button
      kind="first"
      icon="restart"
      busy={restarting.isPending}
      onClick={() => restarting.mutate()}
    >
      {t('account.restart')}
    </Button>
  )
}
