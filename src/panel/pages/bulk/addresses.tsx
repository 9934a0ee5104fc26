/** The addresses of the pages on which owners link their accounts again: as a list, and as a table to be saved. */
import { infiniteQueryOptions, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call, save } from '../../api/call.ts'
import {
  type BulkAction,
  handleOf,
  nameOf,
  type RecordPage,
  type RelinkPage,
} from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { Records } from '../../ui/records.tsx'
import { Wrong } from '../../ui/states.tsx'

const pathOf = ({ action_id }: BulkAction) => `/platforms/credentials/actions/${action_id}/pages`

/** With the number in the key: more are made while it goes on. */
const pagesQuery = (action: BulkAction) =>
  infiniteQueryOptions({
    queryKey: ['bulk', 'pages', action.action_id, action.done],
    queryFn: ({ pageParam, signal }) =>
      call<RecordPage<RelinkPage>>('GET', pathOf(action), {
        query: { limit: 50, before: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
    staleTime: 0,
  })

export function Addresses({ action }: { readonly action: BulkAction }) {
  const t = useT()
  const [isOpen, setOpen] = useState(false)
  const saving = useMutation({
    mutationFn: () => save(`${pathOf(action)}/export`, {}, 'link-pages.csv'),
  })
  return (
    <>
      <p className="quiet small">{t('bulk.addresses.hint')}</p>
      <div className="row">
        <Button
          size="slim"
          kind="first"
          icon="download"
          busy={saving.isPending}
          onClick={() => saving.mutate()}
        >
          {t('bulk.addresses.save')}
        </Button>
        <Button size="slim" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t(isOpen ? 'bulk.addresses.hide' : 'bulk.addresses.show')}
        </Button>
      </div>
      <Wrong cause={saving.error} />
      {isOpen && <List action={action} />}
    </>
  )
}

function List({ action }: { readonly action: BulkAction }) {
  const t = useT()
  const log = useInfiniteQuery(pagesQuery(action))
  return (
    <Records<RelinkPage>
      log={log}
      none={<p className="quiet small">{t('none')}</p>}
      record={(page) => <Address key={page.credential_id} page={page} />}
    />
  )
}

const tones = { ready: 'busy', begun: 'busy', linked: 'good', expired: 'idle' } as const

function Address({ page: { credential_id, account, state, url } }: { readonly page: RelinkPage }) {
  const t = useT()
  const named = account && { account }
  const known = (Object.keys(tones) as (keyof typeof tones)[]).find((one) => one === state)
  return (
    <li className="record address">
      <span className="grow">
        <span className="label clip" dir="auto">
          {named ? nameOf(named) : t('account.number', { id: credential_id })}
        </span>{' '}
        {named && <span className="quiet small ltr">{handleOf(named)}</span>}
        {url && <code className="block clip">{url}</code>}
      </span>
      {known && <Badge tone={tones[known]}>{t(`bulk.page.${known}`)}</Badge>}
      {url && <CopyButton text={url} />}
    </li>
  )
}
