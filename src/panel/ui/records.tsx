/** A log, page by page: while it loads, when it fails, when nothing is there, and its records with more below. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Page } from '../api/types.ts'
import { useT } from '../i18n/language.tsx'
import { Button } from './button.tsx'
import { Failed, Loading } from './states.tsx'

interface RecordsProps<Item> {
  readonly log: UseInfiniteQueryResult<InfiniteData<Page<Item>>>
  /** Shown instead of a list without records. */
  readonly none: ReactNode
  readonly record: (item: Item) => ReactNode
}

export function Records<Item>({ log, none, record }: RecordsProps<Item>) {
  const t = useT()
  if (log.isError && !log.data) return <Failed cause={log.error} retry={() => log.refetch()} />
  if (!log.data) return <Loading lines={6} />
  const items = log.data.pages.flatMap((page) => page.items)
  if (items.length === 0) return none
  return (
    <>
      <ul className="records">{items.map(record)}</ul>
      {log.hasNextPage && <Button onClick={() => log.fetchNextPage()}>{t('more')}</Button>}
    </>
  )
}
