/** What the launcher is told to do: signals of the terminal or a supervisor, and the end of the npm that started it. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** One Ctrl-C arrives twice under npm: from the terminal and from npm itself. */
const echoMs = 500

/** npm's shell does not pass SIGTERM on: it dies of it, and its death is all that we can see. */
function onParentGone(act) {
  if (process.env.npm_lifecycle_event === undefined) return undefined
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    act('SIGTERM')
  }, 250)
  return watch
}

/** A process that died of one of these was told to end. */
export const isOrder = (signal) => signals.includes(signal)

/**
 * Until it is closed, no signal ends this process by itself.
 *
 * @returns {{ readonly given: string | undefined, follow(act: (signal: string) => void): () => void, close(): void }}
 */
export function takeOrders() {
  const lastAt = new Map()
  const followers = new Set()
  let given
  const take = (signal) => {
    const now = performance.now()
    if (now - (lastAt.get(signal) ?? Number.NEGATIVE_INFINITY) < echoMs) return
    lastAt.set(signal, now)
    given = signal
    for (const act of followers) act(signal)
  }
  for (const signal of signals) process.on(signal, take)
  const watch = onParentGone(take)
  return {
    get given() {
      return given
    },
    follow(act) {
      followers.add(act)
      return () => followers.delete(act)
    },
    close() {
      clearInterval(watch)
      for (const signal of signals) process.off(signal, take)
    },
  }
}
