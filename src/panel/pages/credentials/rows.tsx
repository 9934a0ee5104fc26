/** The rows of the list. Only visible rows are in the document, so that ten thousand are possible. */
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { memo, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link } from 'react-router'
import { type Credential, handleOf, nameOf } from '../../api/types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { useDensity } from '../../layout/preferences.tsx'
import { StateBadge } from '../../ui/badge.tsx'
import { Failed } from '../../ui/states.tsx'
import { Ago } from '../../ui/time.tsx'
import type { Selection } from '../bulk/bar.tsx'

const ROW_PX = { roomy: 60, dense: 40 }
/** The next page is loaded when so many rows are left. */
const AHEAD = 60

interface CredentialRowsProps {
  readonly rows: readonly Credential[]
  readonly total: number
  readonly selection: Selection
  readonly list: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly isFetchNextPageError: boolean
    readonly error: unknown
    fetchNextPage(): unknown
  }
}

export function CredentialRows(props: CredentialRowsProps) {
  const density = useDensity()
  // Another density begins another virtual list, so that no height of the one before stays.
  return <VirtualRows key={density} {...props} height={ROW_PX[density]} />
}

/**
 * Where an element begins in the document. It moves as the height of what is above it changes, and the height of the page
 * with it. To read it at each drawing would have the browser lay out the page twice for each frame.
 */
function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const measure = () => setTop(element.current?.offsetTop ?? 0)
    measure()
    const page = element.current?.closest('.page')
    if (!page) return
    const watch = new ResizeObserver(measure)
    watch.observe(page)
    return () => watch.disconnect()
  }, [element])
  return top
}

interface VirtualRowsProps extends CredentialRowsProps {
  readonly height: number
}

function VirtualRows({ rows, total, selection, list, height }: VirtualRowsProps) {
  const t = useT()
  const table = useRef<HTMLDivElement>(null)
  const top = useTop(table)
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: top,
  })
  const shown = virtual.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list
  // A page that failed is loaded again only on request.
  const mayFetch = hasNextPage && !isFetchingNextPage && !isFetchNextPageError

  useEffect(() => {
    if (mayFetch && last > rows.length - AHEAD) fetchNextPage()
  }, [last, rows.length, mayFetch, fetchNextPage])

  return (
    <>
      <div ref={table} className="table" role="table" aria-rowcount={total + 1}>
        <div className="head" role="row">
          <span role="columnheader">
            <span className="unseen">{t('bulk.column')}</span>
          </span>
          <span role="columnheader">{t('accounts.column.account')}</span>
          <span role="columnheader">{t('accounts.column.state')}</span>
          <span role="columnheader">{t('accounts.column.why')}</span>
          <span role="columnheader">{t('accounts.column.event')}</span>
          <span role="columnheader">{t('accounts.column.latency')}</span>
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {shown.map(({ index, start }) => {
            const row = rows[index]
            return (
              row && (
                <Row
                  key={row.credential_id}
                  row={row}
                  place={index}
                  top={start - top}
                  height={height}
                  isPicked={selection.isAll || selection.ids.has(row.credential_id)}
                  pick={selection.pick}
                />
              )
            )
          })}
        </div>
      </div>
      {isFetchNextPageError && <Failed cause={list.error} retry={() => list.fetchNextPage()} />}
    </>
  )
}

interface RowProps {
  readonly row: Credential
  readonly place: number
  readonly top: number
  readonly height: number
  readonly isPicked: boolean
  readonly pick: Selection['pick']
}

const Row = memo(function Row({ row, place, top, height, isPicked, pick }: RowProps) {
  const t = useT()
  const { span } = useFormats()
  const { last_event_at, latency_ms } = row.health
  const why = row.reason && t.word('reason', row.reason)
  return (
    <div
      className="line"
      role="row"
      aria-rowindex={place + 2}
      style={{ transform: `translateY(${top}px)`, height }}
    >
      <span role="cell" className="pick">
        <input
          type="checkbox"
          aria-label={t('bulk.pick', { name: nameOf(row) })}
          checked={isPicked}
          onChange={({ target, nativeEvent }) =>
            pick(row.credential_id, target.checked, (nativeEvent as MouseEvent).shiftKey)
          }
        />
      </span>
      <span role="cell" className="who">
        <Link
          to={`/dashboard/accounts/${row.credential_id}`}
          className="label clip cover"
          dir="auto"
        >
          {nameOf(row)}
        </Link>
        <span className="quiet small clip">
          <span className="ltr">{handleOf(row)}</span> · {t.word('platform', row.platform)}
          {row.tags.map((tag) => (
            <bdi key={tag} className="tag">
              #{tag}
            </bdi>
          ))}
        </span>
      </span>
      <span role="cell">
        <StateBadge state={row.state} />
      </span>
      <span role="cell" className="quiet small why">
        {why && <span className="phrase clip">{why}</span>}
        {row.action !== 'none' && (
          <span className="block clip">{t.word('action', row.action)}</span>
        )}
      </span>
      <span role="cell" className="quiet small">
        {last_event_at ? <Ago at={last_event_at} /> : t('never')}
      </span>
      <span role="cell" className="quiet small number">
        {latency_ms === null ? '–' : span(latency_ms)}
      </span>
    </div>
  )
})
