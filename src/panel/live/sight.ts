/** Whether anybody looks at this tab. A browser keeps six connections to one place, so who is out of sight gives theirs up. */
const isSeen = () => document.visibilityState !== 'hidden'

/** Resolves once the tab is looked at, or the signal is aborted. */
export function inSight(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!isSeen() && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
    look()
  })
}

/** Aborted with the other signal, or when the tab has been out of sight for so long; `stop` ends the watch. */
export function whileInSight(signal: AbortSignal, patienceMs: number) {
  const lost = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(timer)
    if (!isSeen()) timer = setTimeout(() => lost.abort(), patienceMs)
  }
  document.addEventListener('visibilitychange', look)
  look()
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    stop() {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    },
  }
}
