/** Follows all credentials of the user for as long as the panel is open, and keeps what is shown up to date. */
import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { follow } from '../api/stream.ts'
import type { Change, Summary } from '../api/types.ts'
import { applyChanges } from './apply.ts'
import { atMostEvery } from './pace.ts'

/** Counts are asked for anew, but not with each of a thousand changes. */
const COUNTS_MS = 2_000
/** Who is where in a sorted or filtered list is only known to the service. */
const LISTS_MS = 10_000

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
    const relist = atMostEvery(LISTS_MS, ended.signal, () =>
      queries.invalidateQueries({ queryKey: ['credentials'] }),
    )
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
      },
    })
    return () => ended.abort()
  }, [queries])

  return <LiveContext value={isLive}>{children}</LiveContext>
}

export const useIsLive = () => use(LiveContext)
