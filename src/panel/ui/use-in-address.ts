/** The address: choices and typed texts kept in it, and a page that stays at it. */
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react'
import { useLocation, useSearchParams } from 'react-router'

/** Changes by the names of values in the address; undefined takes one out. */
type AddressChanges = Readonly<Record<string, string | undefined>>

/** The changes with their empty values taken out of the address. */
export const withoutEmpty = (changes: Readonly<Record<string, string>>): AddressChanges =>
  Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value || undefined]))

/** The state of an entry of the history that such a change has made, in which the page stays the same. */
const CHANGED = 'changed'
const hearing = new Set<(changes: AddressChanges) => void>()

/**
 * Reads the address itself: the router's copy is as old as the page that is drawn, and would bring back what a change just
 * before took out. A page that is about to give way changes nothing: the address is another page's already.
 */
export function useChangeOfAddress(): (
  changes: AddressChanges,
  how?: { readonly replace: boolean },
) => void {
  const [, setQuery] = useSearchParams()
  const { pathname } = useLocation()
  return useCallback(
    (changes, how) => {
      if (window.location.pathname !== pathname) return
      const next = new URLSearchParams(window.location.search)
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined) next.delete(name)
        else next.set(name, value)
      }
      setQuery(next, { ...how, state: CHANGED })
      for (const hear of hearing) hear(changes)
    },
    [setQuery, pathname],
  )
}

/** Kept in the address, so that the view can be shared and survives a reload. */
export function useInAddress(name: string): readonly [string, (value: string) => void] {
  const [query] = useSearchParams()
  const change = useChangeOfAddress()
  const choose = (value: string) => change({ [name]: value || undefined }, { replace: true })
  return [query.get(name) ?? '', choose]
}

/** Letters go into the address together, once the typing rests. */
const TYPING_MS = 300
const anyText = (_: string) => true

/** A text that is typed and kept in the address, if it is in a good form. What comes into the address otherwise takes its place. */
export function useTypedInAddress(
  name: string,
  isGood: (text: string) => boolean = anyText,
): readonly [string, (text: string) => void] {
  const [query] = useSearchParams()
  const { key, state } = useLocation()
  const change = useChangeOfAddress()
  const goodIn = (address: URLSearchParams) => {
    const text = address.get(name) ?? ''
    return isGood(text) ? text : ''
  }
  const given = goodIn(query)
  const [typed, setTyped] = useState(given)
  /** What the address has of it, or is about to have. */
  const known = useRef(given)
  const put = useEffectEvent((text: string) => {
    if (text === known.current || (text !== '' && !isGood(text))) return
    known.current = text
    change({ [name]: text || undefined }, { replace: true })
  })
  // Only typing starts the wait: `change` is new with each address.
  useEffect(() => {
    const timer = setTimeout(() => put(typed), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed])

  const take = useEffectEvent((text: string) => {
    known.current = text
    setTyped(text)
  })
  useEffect(() => {
    const hear = (changes: AddressChanges) => {
      if (name in changes) take(changes[name] ?? '')
    }
    hearing.add(hear)
    return () => void hearing.delete(hear)
  }, [name])
  // Back, Forward and links. The page may be drawn with an address that is no longer the newest.
  const follow = useEffectEvent((text: string, _key: string) => {
    const isNewest = text === goodIn(new URLSearchParams(window.location.search))
    if (isNewest && (state !== CHANGED || text !== known.current)) take(text)
  })
  useEffect(() => follow(given, key), [given, key])
  return [typed, setTyped]
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
