/** Follows all credentials of the user for as long as the panel is open, and keeps what is shown up to date. */
import { type InfiniteData, type Query, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { follow } from '../api/stream.ts'
import type { Change, Credential, Page, Summary } from '../api/types.ts'
import { applyChanges } from './apply.ts'
import { atMostEvery } from './pace.ts'

/** Counts are asked for anew, but not with each of a thousand changes. */
const COUNTS_MS = 2_000
/** Who is where in a sorted or filtered list is only known to the service. */
const LISTS_MS = 10_000
/** A list that was read to its end is many requests long. */
const LONG_LISTS_MS = 90_000
const LONG = 8

const isLong = ({ state }: Query) => ((state.data as Pages | undefined)?.pages?.length ?? 0) > LONG

type Pages = InfiniteData<Page<Credential>>

const LiveContext = createContext(false)

export function Live({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient()
  const [isLive, setLive] = useState(false)

  useEffect(() => {
    const ended = new AbortController()
    const recount = atMostEvery(COUNTS_MS, ended.signal, () => {
      queries.invalidateQueries({ queryKey: ['summary'] })
      queries.invalidateQueries({ queryKey: ['urgent'] })
    })
    const relistWhen = (milliseconds: number, predicate: (query: Query) => boolean) =>
      atMostEvery(milliseconds, ended.signal, () =>
        queries.invalidateQueries({ queryKey: ['credentials'], predicate }),
      )
    const relist = relistWhen(LISTS_MS, (query) => !isLong(query))
    const relistLong = relistWhen(LONG_LISTS_MS, isLong)
    follow('/platforms/credentials/events', {
      signal: ended.signal,
      onLive(live) {
        setLive(live)
        // While nothing was heard, anything may have happened.
        if (!live) return
        queries.invalidateQueries({ queryKey: ['credentials'] })
        queries.invalidateQueries({ queryKey: ['urgent'] })
      },
      onEvent(name, data) {
        if (name === 'state') queries.setQueryData(['summary'], data as Summary)
        if (name !== 'changes') return
        applyChanges(queries, data as Change[])
        recount()
        relist()
        relistLong()
      },
    })
    return () => ended.abort()
  }, [queries])

  return <LiveContext value={isLive}>{children}</LiveContext>
}

export const useIsLive = () => use(LiveContext)
