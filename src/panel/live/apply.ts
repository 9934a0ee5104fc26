/** Writes changes that were told live into what has been read before. */
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import type { Change, Credential, Page } from '../api/types.ts'

export function applyChanges(queries: QueryClient, changes: readonly Change[]): void {
  const byId = new Map(changes.map((change) => [change.credential_id, change]))
  queries.setQueriesData<InfiniteData<Page<Credential>>>(
    { queryKey: ['credentials'] },
    (list) => list && { ...list, pages: list.pages.map((page) => changedPage(page, byId)) },
  )
  for (const [id, change] of byId) {
    queries.setQueryData<Credential>(['credential', id], (one) => one && changed(one, change))
  }
}

function changedPage(page: Page<Credential>, byId: ReadonlyMap<number, Change>): Page<Credential> {
  if (!page.items.some(({ credential_id }) => byId.has(credential_id))) return page
  const items = page.items.map((one) => {
    const change = byId.get(one.credential_id)
    return change ? changed(one, change) : one
  })
  return { ...page, items }
}

export type Told = Pick<Change, 'state' | 'reason' | 'action' | 'at'>

export function changed(one: Credential, { state, reason, action, at }: Told): Credential {
  const wasActive = one.state === 'active'
  const isActive = state === 'active'
  const online_since = isActive ? (wasActive ? one.online_since : at) : null
  return { ...one, state, reason, action, online_since }
}
