/** Whether a log is read again and again while it is looked at, and the button that stops and resumes it. */
import { useState } from 'react'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import type { Searching } from './search.tsx'

const LOOK_MS = 5_000

/** A search by these reads thousands of rows: it is not repeated by itself. */
const costly = ['text', 'kind', 'chat_id', 'trace_id', 'method']

interface Followed {
  readonly state: { readonly data: { readonly pages: readonly Page[] } | undefined }
}

interface Page {
  readonly items: readonly unknown[]
}

export function useFollowing(search: Searching['search']) {
  const [isWanted, setWanted] = useState(true)
  const isCostly = costly.some((name) => search[name] !== undefined)
  const isFollowing = isWanted && !isCostly
  return {
    isCostly,
    isFollowing,
    toggle: () => setWanted(!isWanted),
    /** All loaded pages are read again, so less often if there are many. */
    refetchInterval: ({ state: { data } }: Followed) => {
      const isFound = search.request_id !== undefined && data?.pages.some(hasItems)
      if (!isFollowing || isFound) return false
      return LOOK_MS * Math.max(1, data?.pages.length ?? 1)
    },
  }
}

/** A request is in the log a second after its answer. Once it is found there is no other. */
const hasItems = ({ items }: Page) => items.length > 0

type Following = Pick<ReturnType<typeof useFollowing>, 'isCostly' | 'isFollowing' | 'toggle'>

export function Follow({ isCostly, isFollowing, toggle }: Following) {
  const t = useT()
  return (
    <Button
      size="slim"
      icon="pulse"
      disabled={isCostly}
      title={isCostly ? t('follow.costly') : undefined}
      onClick={toggle}
    >
      {t(isFollowing ? 'follow.on' : 'follow.off')}
    </Button>
  )
}
