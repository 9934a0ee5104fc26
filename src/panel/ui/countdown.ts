/** Whole seconds until a moment, counted down. */
import { useEffect, useState } from 'react'

const secondsUntil = (end: number) => Math.max(0, Math.ceil((end - Date.now()) / 1000))

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
