/** Follows one credential: its record, its timeline and the step it has just taken. */
import { type InfiniteData, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { follow } from '../../api/stream.ts'
import type { Credential, LiveTransition, Page, Transition } from '../../api/types.ts'
import { changed } from '../../live/apply.ts'
import { atMostEvery } from '../../live/pace.ts'

/** A step says nothing of health: that is asked for anew, but not with each of many steps. */
const RECORD_MS = 2_000

export function useFollowed(id: number) {
  const queries = useQueryClient()
  const [latest, setLatest] = useState<LiveTransition>()
  const [isLive, setLive] = useState(false)

  useEffect(() => {
    const ended = new AbortController()
    setLatest(undefined)
    const lists = ['timeline', id]
    const record = ['credential', id]
    const lookAgain = atMostEvery(RECORD_MS, ended.signal, () =>
      queries.invalidateQueries({ queryKey: record }),
    )
    follow(`/platforms/credentials/${id}/events`, {
      signal: ended.signal,
      onLive(live) {
        setLive(live)
        if (live) queries.invalidateQueries({ queryKey: lists })
      },
      onEvent(name, data) {
        if (name === 'state') queries.setQueryData(record, data as Credential)
        if (name !== 'transition') return
        const transition = data as LiveTransition
        setLatest(transition)
        queries.setQueryData<Credential>(record, (one) => one && changed(one, transition))
        queries.setQueryData<InfiniteData<Page<Transition>>>(
          lists,
          (list) => list && withNewest(list, transition),
        )
        lookAgain()
      },
    })
    return () => ended.abort()
  }, [id, queries])

  return { latest, isLive }
}

function withNewest(
  list: InfiniteData<Page<Transition>>,
  newest: LiveTransition,
): InfiniteData<Page<Transition>> {
  const [first, ...rest] = list.pages
  if (!first || first.items.some(({ last_at, to }) => last_at === newest.at && to === newest.to)) {
    return list
  }
  const known = newest.repeats ? first.items.find((line) => isSame(line, newest)) : undefined
  const items = known
    ? first.items.map((line) =>
        line === known ? { ...line, count: line.count + 1, last_at: newest.at } : line,
      )
    : [{ ...newest, count: 1, last_at: newest.at }, ...first.items]
  return { ...list, pages: [{ ...first, items }, ...rest] }
}

const isSame = (line: Transition, { from, to, event, reason }: LiveTransition) =>
  line.from === from && line.to === to && line.event === event && line.reason === reason
