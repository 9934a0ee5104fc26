/** Follows one credential: its record, its timeline and the step it has just taken. */
import { type InfiniteData, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { follow } from '../../api/stream.ts'
import type { Credential, LiveTransition, Page, Transition } from '../../api/types.ts'

export function useFollowed(id: number) {
  const queries = useQueryClient()
  const [latest, setLatest] = useState<LiveTransition>()
  const [isLive, setLive] = useState(false)

  useEffect(() => {
    const ended = new AbortController()
    setLatest(undefined)
    const lists = ['timeline', id]
    follow(`/platforms/credentials/${id}/events`, {
      signal: ended.signal,
      onLive(live) {
        setLive(live)
        if (live) queries.invalidateQueries({ queryKey: lists })
      },
      onEvent(name, data) {
        if (name === 'state') queries.setQueryData(['credential', id], data as Credential)
        if (name !== 'transition') return
        const transition = data as LiveTransition
        setLatest(transition)
        queries.setQueryData<Credential>(['credential', id], (one) => one && moved(one, transition))
        queries.setQueryData<InfiniteData<Page<Transition>>>(
          lists,
          (list) => list && withNewest(list, transition),
        )
      },
    })
    return () => ended.abort()
  }, [id, queries])

  return { latest, isLive }
}

const moved = (one: Credential, { state, action, reason }: LiveTransition): Credential => ({
  ...one,
  state,
  action,
  reason,
})

function withNewest(
  list: InfiniteData<Page<Transition>>,
  newest: Transition,
): InfiniteData<Page<Transition>> {
  const [first, ...rest] = list.pages
  if (!first || first.items.some(({ at, to }) => at === newest.at && to === newest.to)) return list
  return { ...list, pages: [{ ...first, items: [newest, ...first.items] }, ...rest] }
}
