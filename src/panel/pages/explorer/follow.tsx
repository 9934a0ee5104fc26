/** Whether a log is read again and again while it is looked at, and the button that stops and resumes it. */
import { useId, useState } from 'react'
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

/** A call that is not in the log by then was not logged, or not by this service. */
const LOOKS_FOR_MS = 120_000

export function useFollowing(search: Searching['search']) {
  const [isWanted, setWanted] = useState(true)
  const [since, setSince] = useState({ search: '', at: 0 })
  const isCostly = costly.some((name) => search[name] !== undefined)
  const isFollowing = isWanted && !isCostly
  const sought = JSON.stringify(search)
  if (since.search !== sought) setSince({ search: sought, at: Date.now() })
  return {
    isCostly,
    isFollowing,
    toggle() {
      setWanted(!isWanted)
      setSince({ search: sought, at: Date.now() })
    },
    /** All loaded pages are read again, so less often if there are many. */
    refetchInterval: ({ state: { data } }: Followed) => {
      const isSettled = data?.pages.some(hasItems) === true || Date.now() - since.at > LOOKS_FOR_MS
      if (!isFollowing || (search.request_id !== undefined && isSettled)) return false
      return LOOK_MS * Math.max(1, data?.pages.length ?? 1)
    },
  }
}

/** A request is in the log a second after its answer. Once it is found there is no other. */
const hasItems = ({ items }: Page) => items.length > 0

type Following = Pick<ReturnType<typeof useFollowing>, 'isCostly' | 'isFollowing' | 'toggle'>

export function Follow({ isCostly, isFollowing, toggle }: Following) {
  const t = useT()
  const id = useId()
  return (
    <>
      <Button
        size="slim"
        icon="pulse"
        disabled={isCostly}
        aria-describedby={isCostly ? id : undefined}
        onClick={toggle}
      >
        {t(isFollowing ? 'follow.on' : 'follow.off')}
      </Button>
      {isCostly && (
        <span id={id} className="quiet small">
          {t('follow.costly')}
        </span>
      )}
    </>
  )
}
