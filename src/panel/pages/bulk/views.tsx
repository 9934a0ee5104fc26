/** Views of the list of accounts under names: opened by a click, saved from what is filtered now, deleted. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import { addressOf, call } from '../../api/call.ts'
import { useViewed } from '../../api/queries.ts'
import type { SavedView } from '../../api/types.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field, Form } from '../../ui/form.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

const viewsQuery = queryOptions({
  queryKey: ['views'],
  queryFn: ({ signal }) => call<readonly SavedView[]>('GET', '/user/views', { signal }),
})

/** The filters and the order of the list, from the address. */
type ViewOfList = SavedView['query']

const textOf = (query: ViewOfList) =>
  new URLSearchParams(
    Object.entries(query)
      .filter(([, value]) => value !== '')
      .sort(),
  ).toString()

export function Views({ now }: { readonly now: ViewOfList }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const queries = useQueryClient()
  const [isNaming, setNaming] = useState(false)
  // A search that another user keeps may name people.
  const isOwn = useViewed() === undefined
  const views = useQuery({ ...viewsQuery, enabled: isOwn }).data ?? []
  const shown = textOf(now)
  const current = views.find(({ query }) => textOf(query) === shown)
  const deleting = useMutation({
    mutationFn: ({ view_id }: SavedView) => call('DELETE', `/user/views/${view_id}`),
    onSuccess: () => toast(t('views.deleted')),
    onError: (cause) => toast(reason(cause), 'bad'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['views'] }),
  })
  if (views.length === 0 && shown === '') return null
  return (
    <nav className="row" aria-label={t('views.title')}>
      {views.length > 0 && (
        <ul className="chips">
          {views.map((view) => (
            <li key={view.view_id}>
              <Link
                className="chip view"
                to={addressOf('/dashboard/accounts', view.query)}
                aria-current={view === current ? 'true' : undefined}
              >
                <bdi>{view.name}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {current ? (
        <Button
          kind="bare"
          size="slim"
          icon="trash"
          busy={deleting.isPending}
          onClick={() => deleting.mutate(current)}
        >
          {t('views.delete')}
        </Button>
      ) : (
        shown !== '' && (
          <Button kind="bare" size="slim" icon="plus" onClick={() => setNaming(true)}>
            {t('views.save')}
          </Button>
        )
      )}
      {isNaming && <Naming query={now} onClose={() => setNaming(false)} />}
    </nav>
  )
}

interface NamingProps {
  readonly query: ViewOfList
  onClose(): void
}

function Naming({ query, onClose }: NamingProps) {
  const t = useT()
  const reason = useReason()
  const queries = useQueryClient()
  const [name, setName] = useState('')
  const saving = useMutation({
    mutationFn: () => call<SavedView>('POST', '/user/views', { body: { name, query } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ['views'] })
      onClose()
    },
  })
  return (
    <Dialog title={t('views.save')} open onClose={onClose}>
      <Form by={saving} isReady={name.trim() !== ''}>
        <Field
          label={t('views.name')}
          value={name}
          maxLength={100}
          required
          autoFocus
          autoComplete="off"
          wrong={saving.error ? reason(saving.error) : undefined}
          onChange={(event) => setName(event.target.value)}
        />
        <div className="actions">
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" kind="first" busy={saving.isPending}>
            {t('save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
