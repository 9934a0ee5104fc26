/** What a person sees, kept up to date: each look waits until there is something else to see. */
import { useEffect, useState } from 'react'
import { call } from '../../api/call.ts'
import type { Inbox } from '../../api/sandbox-types.ts'
import { inSight } from '../../live/sight.ts'

const MESSAGES = 500
const WAIT_SECONDS = 25
/** Somebody who stops typing makes no event. */
const TYPING_SECONDS = 6
const PAUSE_MS = 2_000

export interface Seen {
  readonly inbox: Inbox | undefined
  readonly failure: unknown
}

const nothing: Seen = { inbox: undefined, failure: undefined }

export function useInbox(person: number): Seen {
  const [seen, setSeen] = useState<Seen & { readonly of: number }>({ ...nothing, of: person })
  useEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    const follow = async () => {
      let inbox: Inbox | undefined
      while (!signal.aborted) {
        try {
          await inSight(signal)
          inbox = await look(person, inbox, signal)
          if (!signal.aborted) setSeen({ inbox, failure: undefined, of: person })
        } catch (failure) {
          if (signal.aborted) return
          setSeen({ inbox, failure, of: person })
          await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        }
      }
    }
    follow()
    return () => leaving.abort()
  }, [person])
  return seen.of === person ? seen : nothing
}

function look(person: number, before: Inbox | undefined, signal: AbortSignal): Promise<Inbox> {
  const patience = before?.typing.length ? TYPING_SECONDS : WAIT_SECONDS
  return call<Inbox>('GET', `/sandbox/people/${person}/inbox`, {
    query: { limit: MESSAGES, ...(before && { known: before.tag, wait_seconds: patience }) },
    signal,
  })
}
