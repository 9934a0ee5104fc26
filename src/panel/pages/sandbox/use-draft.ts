/** What is written and not sent yet: kept for each person and chat, until the page is left. */
import { type SetStateAction, useCallback, useState } from 'react'

const kept = new Map<string, string>()

export function useDraft(person: number, chat: number) {
  const key = `${person}:${chat}`
  const [text, setText] = useState(() => kept.get(key) ?? '')
  /** Also works when the chat is no longer open: a message that could not be sent is there when one comes back. */
  const change = useCallback(
    (next: SetStateAction<string>) => {
      const value = typeof next === 'function' ? next(kept.get(key) ?? '') : next
      if (value === '') kept.delete(key)
      else kept.set(key, value)
      setText(value)
    },
    [key],
  )
  return [text, change] as const
}
