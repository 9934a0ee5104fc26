/** The band above every page that shows the records of another user: whose they are, what is hidden, and the way back. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../api/call.ts'
import type { StaffUser } from '../api/types.ts'
import { type Viewed, view } from '../api/viewing.ts'
import { useT } from '../i18n/language.tsx'
import { Button } from '../ui/button.tsx'
import { ReasonDialog } from '../ui/dialog.tsx'
import { Notice } from '../ui/states.tsx'
import { Ago } from '../ui/time.tsx'

const staffUserQuery = (userId: number) =>
  queryOptions({
    queryKey: ['staff-user', userId],
    queryFn: ({ signal }) => call<StaffUser>('GET', `/users/${userId}`, { signal }),
    refetchInterval: 30_000,
  })

export function Viewing({ viewed }: { readonly viewed: Viewed }) {
  const t = useT()
  const go = useNavigate()
  const [isAsking, setAsking] = useState(false)
  const { data: user } = useQuery(staffUserQuery(viewed.user_id))
  const until = user?.unmasked_until
  const leave = () => {
    view(undefined)
    go('/dashboard/users')
  }
  return (
    <section aria-label={t('viewing')} className="viewing">
      <Notice tone="warn">
        <span className="row spread">
          <span>
            {t('viewing.whose', { id: `${viewed.user_id}` })}{' '}
            <span className="ltr">{user?.phone ?? viewed.phone}</span>. {t('viewing.readOnly')}{' '}
            {until && (
              <>
                {t('viewing.unmasked')} <Ago at={until} />
              </>
            )}
          </span>
          <span className="row">
            {!until && (
              <Button size="slim" onClick={() => setAsking(true)}>
                {t('viewing.unmask')}
              </Button>
            )}
            <Button size="slim" onClick={leave}>
              {t('viewing.leave')}
            </Button>
          </span>
        </span>
      </Notice>
      {isAsking && <Unmasking userId={viewed.user_id} onClose={() => setAsking(false)} />}
    </section>
  )
}

function Unmasking({ userId, onClose }: { readonly userId: number; onClose(): void }) {
  const t = useT()
  const queries = useQueryClient()
  const asking = useMutation({
    mutationFn: (reason: string) => call('POST', `/users/${userId}/unmask`, { body: { reason } }),
    onSuccess: async () => {
      // What is shown was masked: all of it is asked for again.
      await queries.invalidateQueries()
      onClose()
    },
  })
  return (
    <ReasonDialog
      title={t('viewing.unmask')}
      label={t('viewing.why')}
      hint={t('viewing.whyHint')}
      action={t('viewing.show')}
      by={asking}
      onClose={onClose}
    />
  )
}
