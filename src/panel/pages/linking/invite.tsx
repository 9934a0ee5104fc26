/** A one-time page for the owner of the account, who need not have access to the panel. */
import { useMutation } from '@tanstack/react-query'
import { call } from '../../api/call.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Copied } from '../../ui/copy.tsx'
import { useReason } from '../../ui/states.tsx'

export function Invite({ path }: { readonly path: string }) {
  const t = useT()
  const reason = useReason()
  const inviting = useMutation({
    mutationFn: () => call<{ url: string; expires_in: number }>('POST', `${path}/page`),
  })
  return (
    <div className="stack tight">
      <p className="quiet small">{t('linking.invite.text')}</p>
      {inviting.data ? (
        <>
          <Copied text={inviting.data.url} wrap />
          <p className="quiet small">
            {t('linking.invite.until', { minutes: Math.ceil(inviting.data.expires_in / 60) })}
          </p>
        </>
      ) : (
        <div>
          <Button icon="link" busy={inviting.isPending} onClick={() => inviting.mutate()}>
            {t('linking.invite.make')}
          </Button>
        </div>
      )}
      {inviting.error && (
        <p className="wrong" role="alert">
          {reason(inviting.error)}
        </p>
      )}
    </div>
  )
}
