/** Search, filters and order, kept in the address, so that a view can be passed on. */
import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import type { ListFilter } from '../../api/queries.ts'

export const sorts = ['created', 'urgency', 'nameUp', 'name', 'state', 'lastEvent'] as const
type Sort = (typeof sorts)[number]

const columns: Readonly<Record<Sort, Pick<ListFilter, 'sort' | 'order'>>> = {
  created: { sort: undefined, order: undefined },
  urgency: { sort: 'urgency', order: undefined },
  name: { sort: 'name', order: undefined },
  nameUp: { sort: 'name', order: 'asc' },
  state: { sort: 'state', order: 'asc' },
  lastEvent: { sort: 'last_event', order: undefined },
}

const NEEDED = 'link_again,restart,contact_platform'

export function useFilter() {
  const [query, setQuery] = useSearchParams()
  const text = query.toString()

  return useMemo(() => {
    const given = new URLSearchParams(text)
    const givenOf = (name: string) => given.get(name) || undefined
    const sort = sorts.find((one) => one === givenOf('sort')) ?? 'created'
    const filter: ListFilter = {
      search: givenOf('search'),
      state: givenOf('state'),
      action: givenOf('action') === 'needed' ? NEEDED : undefined,
      platform: givenOf('platform'),
      ...columns[sort],
    }
    return {
      filter,
      sort,
      isFiltered: ['search', 'state', 'action', 'platform'].some(givenOf),
      /** An empty value takes the filter away. */
      set(changes: Readonly<Record<string, string>>) {
        setQuery(
          (before) => {
            const next = new URLSearchParams(before)
            for (const [name, value] of Object.entries(changes)) {
              if (value === '') next.delete(name)
              else next.set(name, value)
            }
            return next
          },
          { replace: true },
        )
      },
      clear: () => setQuery({}),
    }
  }, [text, setQuery])
}
