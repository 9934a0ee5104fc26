/** Texts that are not sent yet: kept for each person and chat until the tab is closed or its user signs out, and changed from anywhere. */
import { type SetStateAction, useCallback, useSyncExternalStore } from 'react'

const STORED = 'chapar.drafts'

/** As they were before the page was loaded anew. */
function stored(): [string, string][] {
  try {
    return Object.entries(JSON.parse(sessionStorage.getItem(STORED) ?? '{}'))
  } catch {
    return []
  }
}

const kept = new Map<string, string>(stored())
const watchers = new Set<() => void>()

const keyOf = (person: number, chat: number) => `${person}:${chat}`

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}

function keep(key: string, text: string): void {
  if (text === '') kept.delete(key)
  else kept.set(key, text)
  store()
}

function store(): void {
  sessionStorage.setItem(STORED, JSON.stringify(Object.fromEntries(kept)))
  for (const changed of watchers) changed()
}

/** The next user of this tab sees nothing of it. */
export function forgetDrafts(): void {
  if (kept.size === 0) return
  kept.clear()
  store()
}

/** Puts a text where the person writes in a chat, as a button of a bot does. */
export const setDraft = (person: number, chat: number, text: string): void =>
  keep(keyOf(person, chat), text)

/** The change also works when the chat is no longer open: a message that could not be sent is there when one comes back. */
export function useDraft(person: number, chat: number) {
  const key = keyOf(person, chat)
  const text = useSyncExternalStore(watch, () => kept.get(key) ?? '')
  const change = useCallback(
    (next: SetStateAction<string>) =>
      keep(key, typeof next === 'function' ? next(kept.get(key) ?? '') : next),
    [key],
  )
  return [text, change] as const
}
