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

/** The router numbers its entries of the history; a place within a page that is named in the address has no number. */
const placeInHistory = (): number | undefined => window.history.state?.idx

/** The entry that may not be left by Back and Forward. */
let staying: { readonly at: number | undefined } | undefined

/** Undoes Back and Forward where a page stays. Begun before the router listens, which would draw another page. */
export function startStaying(): void {
  window.addEventListener('popstate', (event) => {
    if (!staying) return
    const place = placeInHistory()
    if (place !== undefined && place === staying.at) return
    // Without both numbers the way back is not known: then the page stays, and only the address changes.
    event.stopImmediatePropagation()
    if (staying.at !== undefined && place !== undefined) window.history.go(staying.at - place)
  })
}

/** While it is on, Back and Forward do nothing, and the browser asks before a reload. */
export function useStaying(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined
    staying = { at: placeInHistory() }
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => {
      staying = undefined
      window.removeEventListener('beforeunload', ask)
    }
  }, [isOn])
}
