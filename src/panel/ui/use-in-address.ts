/** The address: choices kept in it, and a page that stays at it. */
import { useCallback, useEffect } from 'react'
import { useSearchParams } from 'react-router'

/** Changes by the names of values in the address; undefined takes one out. */
type AddressChanges = Readonly<Record<string, string | undefined>>

/** The changes with their empty values taken out of the address. */
export const withoutEmpty = (changes: Readonly<Record<string, string>>): AddressChanges =>
  Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value || undefined]))

/**
 * Reads the address itself: the router's copy is as old as the page that is drawn, and would bring back what a change just
 * before took out.
 */
export function useChangeOfAddress(): (
  changes: AddressChanges,
  how?: { readonly replace: boolean },
) => void {
  const [, setQuery] = useSearchParams()
  return useCallback(
    (changes, how) => {
      const next = new URLSearchParams(window.location.search)
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined) next.delete(name)
        else next.set(name, value)
      }
      setQuery(next, how)
    },
    [setQuery],
  )
}

/** Kept in the address, so that the view can be shared and survives a reload. */
export function useInAddress(name: string): readonly [string, (value: string) => void] {
  const [query] = useSearchParams()
  const change = useChangeOfAddress()
  const choose = (value: string) => change({ [name]: value || undefined }, { replace: true })
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
