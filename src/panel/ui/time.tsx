/** Times that tick: how long ago a moment was, with the exact time at hand, and how many seconds are left. */
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { useFormats } from '../i18n/formats.ts'

const secondsUntil = (end: number) => Math.max(0, Math.ceil((end - Date.now()) / 1000))

/** Whole seconds until a moment, counted down. */
export function useSecondsLeft(end: number): number {
  const [left, setLeft] = useState(() => secondsUntil(end))
  useEffect(() => {
    setLeft(secondsUntil(end))
    const timer = setInterval(() => {
      const rest = secondsUntil(end)
      setLeft(rest)
      if (rest === 0) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [end])
  return left
}

/** Answers name the seconds that are left: their rounding and their way here are less than this. */
const STEADY_MS = 5_000

/** The moment so many seconds ahead of the answer that names them. The next answers do not make it waver. */
function useMomentIn(seconds: number): number {
  const told = useMemo(() => Date.now() + seconds * 1000, [seconds])
  const [kept, keep] = useState(told)
  if (Math.abs(told - kept) <= STEADY_MS) return kept
  keep(told)
  return told
}

/** When something ends, and how long that is from now; `over` is shown afterwards. */
export function Until({ seconds, over }: { readonly seconds: number; readonly over: string }) {
  const { ago, hour, moment } = useFormats()
  const end = useMomentIn(seconds)
  const left = useSecondsLeft(end)
  if (left === 0) return over
  return (
    <time dateTime={new Date(end).toISOString()} title={moment(end)}>
      {hour(end)} ({ago(end, end - left * 1000)})
    </time>
  )
}

const TICK_MS = 10_000

let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  now = Date.now()
  timer ??= setInterval(() => {
    now = Date.now()
    for (const tell of listeners) tell()
  }, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

export function Ago({ at }: { readonly at: string | number }) {
  const { ago, moment } = useFormats()
  const shownNow = useSyncExternalStore(subscribe, () => now)
  // An event of this moment may be ahead of the last tick.
  const text = ago(at, Math.max(shownNow, Math.min(new Date(at).getTime(), shownNow + TICK_MS)))
  return (
    <time dateTime={new Date(at).toISOString()} title={moment(at)}>
      {text}
    </time>
  )
}
