/** A log, page by page: while it loads, when it fails, when nothing is there, and its records with more below. */
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { RecordPage } from '../api/types.ts'
import { useT } from '../i18n/language.tsx'
import { Button } from './button.tsx'
import { Failed, Loading, Notice, useReason } from './states.tsx'

type Log<Item> = UseInfiniteQueryResult<InfiniteData<RecordPage<Item>>>

export interface RecordsProps<Item> {
  readonly log: Log<Item>
  readonly look?: 'records' | 'timeline'
  /** Shown instead of a list without records. */
  readonly none: ReactNode
  /** Draws one item; not needed where `arrange` draws them all. */
  readonly record?: (item: Item) => ReactNode
  /** Changes the order of the records, or groups them. */
  readonly arrange?: (items: readonly Item[], record: (item: Item) => ReactNode) => ReactNode
}

/** The records of all loaded pages. */
export const recordsOf = <Item,>({ data }: Pick<Log<Item>, 'data'>): readonly Item[] =>
  data?.pages.flatMap(({ items }) => items) ?? []

export function Records<Item>(props: RecordsProps<Item>) {
  const { log, look = 'records', none, record = () => null, arrange } = props
  const t = useT()
  const reason = useReason()
  if (log.isError && !log.data) return <Failed cause={log.error} retry={() => log.refetch()} />
  if (!log.data) return <Loading lines={6} />
  const items = recordsOf(log)
  // A search may have found nothing yet among the newest.
  if (items.length === 0 && !log.hasNextPage) return none
  return (
    <>
      {log.isError && <Notice tone="warn">{reason(log.error)}</Notice>}
      {items.length === 0 && <p className="quiet">{t('more.none')}</p>}
      <ol className={look}>{arrange ? arrange(items, record) : items.map(record)}</ol>
      {log.hasNextPage && (
        <Button busy={log.isFetchingNextPage} onClick={() => log.fetchNextPage()}>
          {t('more')}
        </Button>
      )}
    </>
  )
}
