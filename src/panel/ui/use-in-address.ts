/** The address: choices kept in it, and a page that stays at it. */
import { useEffect } from 'react'
import { useSearchParams } from 'react-router'

/** Kept in the address, so that the view can be shared and survives a reload. */
export function useInAddress(name: string): readonly [string, (value: string) => void] {
  const [query, setQuery] = useSearchParams()
  const choose = (value: string) =>
    setQuery(
      (before) => {
        const next = new URLSearchParams(before)
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true },
    )
  return [query.get(name) ?? '', choose]
}

/** The router numbers the entries of the history. */
const placeInHistory = () => Number(window.history.state?.idx ?? 0)

/** The entry that may not be left by Back and Forward. */
let stayingAt: number | undefined

/** Undoes Back and Forward where a page stays. Begun before the router listens, which would draw another page. */
export function startStaying(): void {
  window.addEventListener('popstate', (event) => {
    const steps = stayingAt === undefined ? 0 : stayingAt - placeInHistory()
    if (steps === 0) return
    event.stopImmediatePropagation()
    window.history.go(steps)
  })
}

/** While it is on, Back and Forward do nothing, and the browser asks before a reload. */
export function useStaying(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined
    stayingAt = placeInHistory()
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => {
      stayingAt = undefined
      window.removeEventListener('beforeunload', ask)
    }
  }, [isOn])
}
