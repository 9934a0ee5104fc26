/** Keyboard shortcuts of the whole panel. They rest while one types, and while a dialog or a menu is open. */
import { useEffect, useRef } from 'react'
import { useNavigate } from 'react-router'

/** The second key after `g`, and where it leads. */
const goTo = {
  d: '/dashboard',
  a: '/dashboard/accounts',
  k: '/dashboard/keys',
  i: '/dashboard/alerts',
  n: '/dashboard/nodes',
  s: '/dashboard/sandbox',
  l: '/dashboard/link',
} as const

const PAUSE_MS = 1_500

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, textarea, select'))

const isCovered = (): boolean =>
  document.querySelector('[role=dialog], [role=alertdialog], [role=menu]') !== null

/** The search field of the page, if it has one. */
const searchField = () => document.querySelector<HTMLInputElement>('main input[type=search]')

/** @param open shows the palette, or the list of shortcuts. */
export function useShortcuts(open: (what: 'palette' | 'help') => void): void {
  const navigate = useNavigate()
  const leader = useRef(0)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event
      if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k') {
        event.preventDefault()
        open('palette')
        return
      }
      if (ctrlKey || metaKey || altKey || isTyping(target) || isCovered()) return
      const isSecond = performance.now() - leader.current < PAUSE_MS
      leader.current = key === 'g' ? performance.now() : 0
      if (isSecond && Object.hasOwn(goTo, key)) navigate(goTo[key as keyof typeof goTo])
      else if (key === '?') open('help')
      else if (key === '/' && searchField()) searchField()?.focus()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [navigate, open])
}
