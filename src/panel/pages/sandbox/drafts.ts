/** Texts that are not sent yet: kept for each person and chat until the page is left, and changed from anywhere. */
import { type SetStateAction, useCallback, useSyncExternalStore } from 'react'

const kept = new Map<string, string>()
const watchers = new Set<() => void>()

const keyOf = (person: number, chat: number) => `${person}:${chat}`

function watch(changed: () => void): () => void {
  watchers.add(changed)
  return () => watchers.delete(changed)
}

function keep(key: string, text: string): void {
  if (text === '') kept.delete(key)
  else kept.set(key, text)
  for (const changed of watchers) changed()
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
