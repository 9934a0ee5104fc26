/** Follows all credentials of the user for as long as the panel is open, and keeps what is shown up to date. */
import {
  type InfiniteData,
  type Query,
  type QueryClient,
  useQueryClient,
} from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useRef, useState } from 'react'
import { follow } from '../api/stream.ts'
import type { Change, Credential, RecordPage, Summary } from '../api/types.ts'
import { useFormats } from '../i18n/formats.ts'
import { useT } from '../i18n/language.tsx'
import { Notice } from '../ui/states.tsx'

/** Throttles `work`: the first call runs it at once, and calls within the interval run it once at its end. */
export function throttled(milliseconds: number, signal: AbortSignal, work: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  signal.addEventListener('abort', () => clearTimeout(timer))
  return () => {
    if (timer !== undefined || signal.aborted) return
    timer = setTimeout(
      () => {
        timer = undefined
        last = performance.now()
        work()
      },
      Math.max(0, last + milliseconds - performance.now()),
    )
  }
}

/** Applies changes from the stream to the cached records. */
function applyChanges(queries: QueryClient, changes: readonly Change[]): void {
  const byId = new Map(changes.map((change) => [change.credential_id, change]))
  queries.setQueriesData<InfiniteData<RecordPage<Credential>>>(
    { queryKey: ['credentials'] },
    (list) => list && { ...list, pages: list.pages.map((page) => changedPage(page, byId)) },
  )
  // Hundreds of accounts may have changed; few are cached by themselves.
  for (const { queryKey } of queries.getQueryCache().findAll({ queryKey: ['credential'] })) {
    const [, id, part] = queryKey
    const change = part === undefined ? byId.get(Number(id)) : undefined
    if (change) {
      queries.setQueryData<Credential>(queryKey, (one) => one && changed(one, change))
    }
  }
}

function changedPage(
  page: RecordPage<Credential>,
  byId: ReadonlyMap<number, Change>,
): RecordPage<Credential> {
  if (!page.items.some(({ credential_id }) => byId.has(credential_id))) return page
  const items = page.items.map((one) => {
    const change = byId.get(one.credential_id)
    return change ? changed(one, change) : one
  })
  return { ...page, items }
}

type Told = Pick<Change, 'state' | 'reason' | 'action' | 'at'>

export function changed(one: Credential, { state, reason, action, at }: Told): Credential {
  const wasActive = one.state === 'active'
  const isActive = state === 'active'
  const online_since = isActive ? (wasActive ? one.online_since : at) : null
  return { ...one, state, reason, action, online_since }
}

/** The interval at which counts are read again while changes arrive. */
const COUNTS_MS = 2_000
/** Lists are read again, because only the service knows their order and filters. */
const LISTS_MS = 10_000
/** Longer than for counts, because a list read to its end takes many requests. */
const LONG_LISTS_MS = 90_000
const LONG = 8

const isLong = ({ state }: Query) => ((state.data as Pages | undefined)?.pages?.length ?? 0) > LONG

type Pages = InfiniteData<RecordPage<Credential>>

const LiveContext = createContext(false)

/** A break that is mended at once is not worth a word. */
const TOLD_AFTER_MS = 3_000

function readAgain(queries: QueryClient): void {
  for (const key of ['credentials', 'credential', 'groups', 'urgent']) {
    queries.invalidateQueries({ queryKey: [key] })
  }
}

export function Live({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient()
  const [isLive, setLive] = useState(false)
  const heardAt = useRef(Date.now())

  useEffect(() => {
    const ended = new AbortController()
    const recount = throttled(COUNTS_MS, ended.signal, () => {
      queries.invalidateQueries({ queryKey: ['summary'] })
      queries.invalidateQueries({ queryKey: ['groups'] })
      queries.invalidateQueries({ queryKey: ['urgent'] })
    })
    const relistWhen = (milliseconds: number, predicate: (query: Query) => boolean) =>
      throttled(milliseconds, ended.signal, () =>
        queries.invalidateQueries({ queryKey: ['credentials'], predicate }),
      )
    const relist = relistWhen(LISTS_MS, (query) => !isLong(query))
    const relistLong = relistWhen(LONG_LISTS_MS, isLong)
    // The first state of a connection; a later one says that changes may have been missed.
    let isNew = true
    follow('/platforms/credentials/events', {
      signal: ended.signal,
      onHeard() {
        heardAt.current = Date.now()
      },
      onLive(live) {
        setLive(live)
        isNew = live
        // Changes during the break are unknown.
        if (live) readAgain(queries)
      },
      onEvent(name, data) {
        if (name === 'state') {
          queries.setQueryData(['summary'], data as Summary)
          if (!isNew) readAgain(queries)
          isNew = false
        }
        if (name !== 'changes') return
        applyChanges(queries, data as Change[])
        recount()
        relist()
        relistLong()
      },
    })
    return () => ended.abort()
  }, [queries])

  return (
    <LiveContext value={isLive}>
      {children}
      {!isLive && <Lost heardAt={heardAt} />}
    </LiveContext>
  )
}

/** Says on every page, after a moment, that what is shown may be old, and of when it is. */
function Lost({ heardAt }: { readonly heardAt: { readonly current: number } }) {
  const t = useT()
  const { clock } = useFormats()
  const [asOf, setAsOf] = useState<number>()
  useEffect(() => {
    const timer = setTimeout(() => setAsOf(heardAt.current), TOLD_AFTER_MS)
    return () => clearTimeout(timer)
  }, [heardAt])
  return (
    <div className="lost" role="status">
      {asOf !== undefined && <Notice tone="warn">{t('live.lost', { time: clock(asOf) })}</Notice>}
    </div>
  )
}

export const useIsLive = () => use(LiveContext)
