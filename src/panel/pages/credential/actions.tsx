/** What can be done with an account: restart it, link it again, delete it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import type { Credential } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

export function Actions({ credential }: { readonly credential: Credential }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const [isAsking, setAsking] = useState(false)
  const deleting = useDeletion(credential)
  const restarting = useMutation({
    mutationFn: () => call('POST', `/platforms/credentials/${credential.credential_id}/restart`),
    onSuccess: () => toast(t('account.restarted')),
    onError: (cause) => toast(reason(cause), 'bad'),
  })
  return (
    <>
      <ButtonLink
        to={`/dashboard/accounts/${credential.credential_id}/diagnosis`}
        icon="stethoscope"
      >
        {t('keys.diagnose')}
      </ButtonLink>
      {['link_again', 'contact_platform'].includes(credential.action) && (
        <ButtonLink
          to={`/dashboard/link?platform=${credential.platform}&again=${credential.credential_id}`}
          kind={credential.action === 'link_again' ? 'first' : 'plain'}
          icon="link"
        >
          {t('account.linkAgain')}
        </ButtonLink>
      )}
      <Button
        icon="restart"
        kind={credential.action === 'restart' ? 'first' : 'plain'}
        busy={restarting.isPending}
        onClick={() => restarting.mutate()}
      >
        {t('account.restart')}
      </Button>
      <Button icon="trash" kind="danger" onClick={() => setAsking(true)}>
        {t('account.delete')}
      </Button>
      {isAsking && (
        <Confirm
          title={t('account.delete.title')}
          action={t('account.delete')}
          open
          busy={deleting.isPending}
          wrong={deleting.error ? reason(deleting.error) : undefined}
          // Names are in every script and full of pictures: not everybody can type them.
          word={credential.account.username ?? `${credential.credential_id}`}
          onConfirm={() => deleting.mutate()}
          onClose={() => setAsking(false)}
        >
          {t('account.delete.text')}
        </Confirm>
      )}
    </>
  )
}

function useDeletion({ credential_id }: Credential) {
  const t = useT()
  const toast = useToast()
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => call('DELETE', `/platforms/credentials/${credential_id}`),
    onSuccess() {
      toast(t('account.deleted'))
      for (const key of ['credentials', 'summary', 'urgent', 'keys']) {
        queries.invalidateQueries({ queryKey: [key] })
      }
      navigate('/dashboard/accounts')
    },
  })
}
